// The transfers of examples/08-transfer-workflow, with the process stopped at writes and syncs of the disk, one after the
// other: every transfer ends, and no money is lost or doubled. SVC_TEST_WRITES=all stops it at all of them, otherwise at one in six, another one of
// which SVC_TEST_SEED begins with.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { compileExample } from '../support/compile-fixture.ts';
import { type Fault, FaultDisk, faultDiskProblem } from '../support/crash/fault-disk.ts';
import { SvcProcess } from '../support/host-process.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const problem = faultDiskProblem();
beforeEach((context) => context.skip(problem !== undefined, problem));

const OPENED: Readonly<Record<string, number>> = { ada: 1000, bob: 0 };
const LEFT: Readonly<Record<string, number>> = { ada: 700, bob: 300 };
const base = { from: 'ada', to: 'bob', cents: 300, acceptWithinMs: 60_000 };
/** The transfers of a round by their names: what is ordered, whether it is accepted, and how it ends. */
const TRANSFERS: Readonly<Record<string, Transfer>> = {
  accepted: { order: base, isAccepted: true, end: 'completed' },
  forgotten: { order: { ...base, acceptWithinMs: 100 }, isAccepted: false, end: 'returned' },
  lost: { order: { ...base, to: 'nobody' }, isAccepted: true, end: 'returned' },
  large: { order: { ...base, cents: 5000 }, isAccepted: false, end: 'declined' },
};
const ENDS: ReadonlySet<string> = new Set(['completed', 'returned', 'declined']);
const WITHIN_MS = 60_000;
/** Banks that run at the same time: each of them waits most of its time, for its starts, its timer and its disk. */
const AT_ONCE = 4;
const { SVC_TEST_WRITES: writes, SVC_TEST_SEED: seed = '0' } = process.env;
const STEP = writes === 'all' ? 1 : 6;
/** So many operations that no run has them: they are counted, and none fails. */
const NEVER = 1_000_000;

/** How each transfer of a round has ended, and the money on its accounts. */
type Outcome = Readonly<Record<string, unknown>>;

interface Transfer {
  readonly order: typeof base;
  readonly isAccepted: boolean;
  readonly end: string;
}

async function send(url: string, method: string, path: string, body?: object) {
  const headers = { 'content-type': 'application/json' };
  const sent = body === undefined ? {} : { body: JSON.stringify(body), headers };
  const response = await fetch(url + path, { method, ...sent });
  return { status: response.status, json: (await response.json()) as Record<string, unknown> };
}

async function put(url: string, path: string, body: object): Promise<void> {
  const { status } = await send(url, 'PUT', path, body);
  if (status !== 200) throw new Error(`PUT ${path} is answered with ${status}`);
}

/** A bank and the process that it has now. Each round has its own accounts and transfers, and leaves a running process. */
class Bank {
  readonly #folder: string;
  readonly #disk: FaultDisk;
  #service: SvcProcess;
  #rounds = 0;

  private constructor(folder: string, disk: FaultDisk) {
    this.#folder = folder;
    this.#disk = disk;
    this.#service = this.#start();
  }

  static async open(): Promise<Bank> {
    const scratch = temporaryFolder();
    const folder = join(scratch, 'bank');
    mkdirSync(folder);
    writeFileSync(join(folder, 'bank.wasm'), await compileExample('08-transfer-workflow'));
    return new Bank(folder, new FaultDisk(folder, scratch));
  }

  /** Carries the transfers out with a process that stops at a fault, and then with the next. */
  async interrupted(fault: Fault): Promise<{ hasStopped: boolean; found: Outcome }> {
    const round = await this.#openedRound();
    this.#disk.control.fail(fault);
    let hasStopped = false;
    try {
      await this.#carryOut(round);
    } catch {
      await this.#service.ended;
      hasStopped = true;
    }
    this.#disk.control.heal();
    await this.#service.end('SIGKILL');
    this.#service = this.#start();
    await this.#carryOut(round);
    return { hasStopped, found: await this.#outcome(round) };
  }

  /** Carries the transfers out, and counts the operations. */
  async uninterrupted(kind: 'write' | 'sync'): Promise<{ count: number; found: Outcome }> {
    const round = await this.#openedRound();
    this.#disk.control.fail({ mode: 'stop', kind, first: NEVER });
    await this.#carryOut(round);
    const found = await this.#outcome(round);
    const { seen } = this.#disk.control.counts();
    this.#disk.control.heal();
    return { count: seen, found };
  }

  async end(): Promise<void> {
    await this.#service.end('SIGKILL');
  }

  #start(): SvcProcess {
    const args = ['run', 'bank.wasm', '--name', 'bank', '--port', '0'];
    return new SvcProcess(args, { cwd: this.#folder, env: this.#disk.env });
  }

  async #openedRound(): Promise<string> {
    const round = `round-${++this.#rounds}`;
    const url = await this.#service.listening();
    for (const [name, cents] of Object.entries(OPENED))
      await put(url, `/accounts/${round}-${name}`, { cents });
    return round;
  }

  /** Orders all transfers and accepts some, until each has ended. Rejects when the service does not answer any more. */
  async #carryOut(round: string): Promise<void> {
    const url = await this.#service.listening();
    for (const [name, { order }] of Object.entries(TRANSFERS)) {
      const [from, to] = [`${round}-${order.from}`, `${round}-${order.to}`];
      await put(url, `/transfers/${round}-${name}`, { ...order, from, to });
    }
    const running = new Set(Object.keys(TRANSFERS));
    const endMs = performance.now() + WITHIN_MS;
    while (running.size > 0) {
      for (const name of running) {
        const { json } = await send(url, 'GET', `/transfers/${round}-${name}`);
        if (ENDS.has(String(json['status']))) running.delete(name);
        if (json['status'] === 'funded' && TRANSFERS[name]!.isAccepted)
          await send(url, 'POST', `/transfers/${round}-${name}/acceptance`);
      }
      if (performance.now() > endMs)
        throw new Error(`these transfers do not end: ${[...running].join(', ')}`);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  }

  async #outcome(round: string): Promise<Outcome> {
    const url = await this.#service.listening();
    const found = async (path: string, field: string) => (await send(url, 'GET', path)).json[field];
    const entries = await Promise.all([
      ...Object.keys(TRANSFERS).map(
        async (name) => [name, await found(`/transfers/${round}-${name}`, 'status')] as const,
      ),
      ...Object.keys(OPENED).map(
        async (name) => [name, await found(`/accounts/${round}-${name}`, 'cents')] as const,
      ),
    ]);
    return Object.fromEntries(entries);
  }
}

const EXPECTED: Outcome = {
  ...Object.fromEntries(Object.entries(TRANSFERS).map(([name, { end }]) => [name, end])),
  ...LEFT,
};

test.each(['write', 'sync'] as const)(
  'a bank that is stopped at any %s loses no money, and ends every transfer',
  async (kind) => {
    const banks = await Promise.all(Array.from({ length: AT_ONCE }, async () => Bank.open()));
    onTestFinished(async () => void (await Promise.all(banks.map((bank) => bank.end()))));
    const { count, found: wanted } = await banks[0]!.uninterrupted(kind);
    expect(wanted).toEqual(EXPECTED);
    expect(count).toBeGreaterThan(10);
    let next = 1 + (Number(seed) % STEP);
    let stops = 0;
    let tries = 0;
    const interruptAll = async (bank: Bank): Promise<void> => {
      while (next <= count) {
        const fault = { mode: 'stop', kind, first: next } as const;
        next += STEP;
        tries++;
        const { hasStopped, found } = await bank.interrupted(fault);
        expect({ fault, found }).toEqual({ fault, found: EXPECTED });
        if (hasStopped) stops++;
      }
    };
    await Promise.all(banks.map(interruptAll));
    // How many operations a run has depends on which appends are stored together.
    expect(stops).toBeGreaterThan(tries / 2);
  },
  1_200_000,
);
