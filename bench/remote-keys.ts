// Measurement (ec): commands with idempotency keys on one entity, on a journal that answers after 2 ms, compared with the same commands
// without keys. A keyed command waits twice, for its lookup and for its append, so half is what can be reached with a fixed number in
// flight where waiting is all that costs.
import { readFileSync } from 'node:fs';
import { createEngine } from '../host/engine/entity-engine.ts';
import { createWasmGuest } from '../host/hosting/wasm/wasm-guest.ts';
import { WASM_LIMITS_DEFAULT } from '../host/hosting/wasm/wasm-limits.ts';
import { systemClock, systemDigest, systemEventLoop, systemRandom } from '../host/system.ts';
import { DelayedJournal } from './delayed-journal.ts';
import { median, type Measurement, type Pace } from './report.ts';
import { benchModule } from './service.ts';

const IN_FLIGHT = 64;
const DELAY_MS = 2;

export async function measureRemoteKeys({
  seconds,
  rounds,
  warmUpSeconds,
}: Pace): Promise<Measurement[]> {
  const module = await benchModule();
  const guest = await createWasmGuest(readFileSync(module.file), WASM_LIMITS_DEFAULT, () => {});
  const journal = new DelayedJournal(DELAY_MS);
  const engine = createEngine({
    guest,
    journal,
    clock: systemClock,
    random: systemRandom(),
    digest: systemDigest,
    eventLoop: systemEventLoop,
    faultLog: (_entity, _handler, fault) => {
      throw fault;
    },
  });
  let last = 0;
  const command = async (key: string | undefined): Promise<void> => {
    const target = { component: 'counter', id: 'one' };
    const answer = await engine.call(target, 'add', '{"amount":1}', [], key);
    if (answer.kind !== 'reply') throw new Error(answer.message);
  };
  const keyed = (): Promise<void> => command(`key-${last++}`);
  const plain = (): Promise<void> => command(undefined);
  try {
    await perSecond(keyed, warmUpSeconds / 2);
    await perSecond(plain, warmUpSeconds / 2);
    const figures: { keyed: number; plain: number }[] = [];
    for (let round = 0; round < rounds; round++)
      figures.push({
        keyed: await perSecond(keyed, seconds),
        plain: await perSecond(plain, seconds),
      });
    return [
      {
        letter: 'ec',
        what: `engine on a journal that answers after ${DELAY_MS} ms, ${IN_FLIGHT} commands with idempotency keys in flight, one entity`,
        svc: median(figures.map((figure) => figure.keyed)),
        beside: 'the same without keys; the aim is 0.5',
        other: median(figures.map((figure) => figure.plain)),
        unit: 'per second',
        ratio: median(figures.map((figure) => figure.keyed / figure.plain)),
        cores: 'one thread',
      },
    ];
  } finally {
    await engine.close();
    await journal.close();
    await guest.close();
    module.remove();
  }
}

/** Returns how often `work` completes per second, with a fixed number of concurrent runs. */
async function perSecond(work: () => Promise<void>, seconds: number): Promise<number> {
  const startedMs = performance.now();
  const untilMs = startedMs + seconds * 1000;
  let done = 0;
  const worker = async (): Promise<void> => {
    while (performance.now() < untilMs) {
      // oxlint-disable-next-line no-await-in-loop -- one command follows the other
      await work();
      done++;
    }
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, worker));
  return (done * 1000) / (performance.now() - startedMs);
}
