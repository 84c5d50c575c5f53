// The process that holds the code of a service is killed and stopped (SIGSTOP) again and again under load, and `svc run` goes on: nothing that was answered is
// lost, nothing is applied twice, and nothing that was refused is in the journal. SVC_TEST_KILLS sets how often it is killed, and SVC_TEST_SEED when; it is
// stopped a tenth as often.
import { setTimeout as delay } from 'node:timers/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { journalPath } from '../../host/storage/sqlite/journal-file.ts';
import { JournalReader } from '../../host/storage/sqlite/journal-reader.ts';
import { CartLoad } from '../support/cart-load.ts';
import { freePorts } from '../support/free-ports.ts';
import { SvcProcess } from '../support/host-process.ts';
import { Random } from '../support/random.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const { SVC_TEST_KILLS: kills = '10', SVC_TEST_SEED: seed = '1' } = process.env;
const PROGRAM = join(import.meta.dirname, '../process-sdk/typescript/support/cart-program.ts');
const STOP_EVERY = 10;
/** Time under load between two events, at most. */
const RUN_MS = 400;
/** A process counts as dead after half of the longest stop. */
const SILENCE_MS = 1_000;
const STOP_MS = 2_000;
const MS_PER_KILL = 60_000;

interface Cart {
  readonly process: SvcProcess;
  /** Milliseconds from its start until it listened. */
  readonly startMs: number;
  readonly listeningMs: number;
}

async function startCart(port: number, env: NodeJS.ProcessEnv): Promise<Cart> {
  const sinceMs = performance.now();
  const options = { program: PROGRAM, env: { ...env, SVC_PROCESS_PORT: String(port) } };
  const cart = new SvcProcess([], options);
  onTestFinished(() => void cart.child.kill('SIGKILL'));
  await new Promise<void>((resolve, reject) => {
    cart.child.stdout!.on('data', () => {
      if (cart.stdout.includes('listening at')) resolve();
    });
    void cart.ended.then(({ stderr }) => reject(new Error(stderr)));
  });
  const listeningMs = performance.now();
  return { process: cart, startMs: listeningMs - sinceMs, listeningMs };
}

const shown = (values: readonly number[]): string => {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (share: number) => Math.round(sorted[Math.floor((sorted.length - 1) * share)] ?? 0);
  return `${at(0.5)} ms (median), ${at(0.99)} ms (99 %), ${at(1)} ms (most)`;
};

test(
  'a service whose process is killed and stopped under load keeps what it has answered, and nothing of what it has refused',
  async () => {
    const random = new Random(Number(seed));
    const [port] = await freePorts(1);
    const data = temporaryFolder();
    const env = { NODE_COMPILE_CACHE: temporaryFolder() };
    let cart = await startCart(port!, env);
    const limits = ['silence-ms', 'connect-timeout-ms'];
    const runtime = new SvcProcess(
      [
        'run',
        '--process',
        `127.0.0.1:${port!}`,
        '--name',
        'carts',
        '--port',
        '0',
        '--data',
        data,
      ].concat(
        ['--shards', '2'],
        limits.flatMap((name) => ['--set', `svc.process.${name}=${SILENCE_MS}`]),
      ),
    );
    onTestFinished(() => void runtime.child.kill('SIGKILL'));
    const load = new CartLoad(await runtime.listening(), random);
    const [starts, pauses, wakes]: number[][] = [[], [], []];
    const next = () => Promise.race([load.nextAnswer(), load.failed]);
    for (let kill = 1; kill <= Number(kills); kill++) {
      await next();
      await delay(random.below(RUN_MS));
      if (kill % STOP_EVERY === 0) {
        cart.process.child.kill('SIGSTOP');
        await delay(random.below(STOP_MS));
        const sinceMs = performance.now();
        cart.process.child.kill('SIGCONT');
        wakes!.push((await next()) - sinceMs);
        console.log(`${kill} kills: ${JSON.stringify(load.counts)}`);
        await delay(random.below(RUN_MS));
      }
      await cart.process.end('SIGKILL');
      const answered = next();
      cart = await startCart(port!, env);
      starts!.push(cart.startMs);
      pauses!.push(Math.max(0, (await answered) - cart.listeningMs));
    }
    await load.end();
    await runtime.end('SIGTERM');

    const reader = new JournalReader(journalPath(data));
    const complaints = load.complaints((id) =>
      reader
        .read({ component: 'shopping-cart', id }, 0, Number.MAX_SAFE_INTEGER)
        .flatMap((record) => (record.kind === 'event' ? [record.event] : [])),
    );
    reader.close();
    expect(complaints.slice(0, 10)).toEqual([]);
    console.log(
      `${kills} kills and ${wakes!.length} stops: ${JSON.stringify(load.counts)}\n` +
        `start of the process: ${shown(starts!)}\n` +
        `from its first line to the next answer: ${shown(pauses!)}\n` +
        `from the end of a stop to the next answer: ${shown(wakes!)}`,
    );
    // Kills come in the midst of work. How much of it they meet depends on the machine.
    expect(load.counts.answered).toBeGreaterThan(Number(kills));
    expect(load.counts.refused + load.counts.uncertain).toBeGreaterThan(Number(kills));
  },
  MS_PER_KILL * Number(kills) + 60_000,
);
