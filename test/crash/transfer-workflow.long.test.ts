// The transfers of examples/08-transfer-workflow, with the process stopped at each write and sync of the disk, one after the
// other: every transfer ends, and no money is lost or doubled.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { compileExample } from '../support/compile-fixture.ts';
import { type Fault, FaultDisk, faultDiskProblem } from '../support/crash/fault-disk.ts';
import { SvcProcess } from '../support/host-process.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const problem = faultDiskProblem();
beforeEach((context) => context.skip(problem !== undefined, problem));

const OPENED = { ada: 1000, bob: 0 };
const base = { from: 'ada', to: 'bob', cents: 300, acceptWithinMs: 60_000 };
/** The transfers by their ids: what is ordered, whether it is accepted, and how it ends. */
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
/** So many operations that no run has them: they are counted, and none fails. */
const NEVER = 1_000_000;

interface Transfer {
  readonly order: typeof base;
  readonly isAccepted: boolean;
  readonly end: string;
}

interface Bank {
  readonly folder: string;
  readonly disk: FaultDisk;
}

async function openedBank(): Promise<{ readonly bank: Bank; readonly service: SvcProcess }> {
  const scratch = temporaryFolder();
  const folder = join(scratch, 'bank');
  mkdirSync(folder);
  writeFileSync(join(folder, 'bank.wasm'), await compileExample('08-transfer-workflow'));
  const bank = { folder, disk: new FaultDisk(folder, scratch) };
  const service = started(bank);
  const url = await service.listening();
  for (const [id, cents] of Object.entries(OPENED))
    expect((await send(url, 'PUT', `/accounts/${id}`, { cents })).status).toBe(200);
  return { bank, service };
}

function started({ folder, disk }: Bank): SvcProcess {
  const args = ['run', 'bank.wasm', '--name', 'bank', '--port', '0'];
  return new SvcProcess(args, { cwd: folder, env: disk.env });
}

async function send(url: string, method: string, path: string, body?: object) {
  const headers = { 'content-type': 'application/json' };
  const sent = body === undefined ? {} : { body: JSON.stringify(body), headers };
  const response = await fetch(url + path, { method, ...sent });
  return { status: response.status, json: (await response.json()) as Record<string, unknown> };
}

/** Orders all transfers and accepts some, until each has ended. Rejects when the service does not answer any more. */
async function carriedOut(url: string): Promise<void> {
  for (const [id, { order }] of Object.entries(TRANSFERS))
    expect((await send(url, 'PUT', `/transfers/${id}`, order)).status).toBe(200);
  const running = new Set(Object.keys(TRANSFERS));
  const endMs = performance.now() + WITHIN_MS;
  while (running.size > 0) {
    for (const id of running) {
      const { json } = await send(url, 'GET', `/transfers/${id}`);
      if (ENDS.has(String(json['status']))) running.delete(id);
      if (json['status'] === 'funded' && TRANSFERS[id]!.isAccepted)
        await send(url, 'POST', `/transfers/${id}/acceptance`);
    }
    if (performance.now() > endMs)
      throw new Error(`these transfers do not end: ${[...running].join(', ')}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

/** Returns how each transfer has ended, and the money on the accounts. */
async function outcome(url: string) {
  const entries = await Promise.all([
    ...Object.keys(TRANSFERS).map(async (id) => {
      const { json } = await send(url, 'GET', `/transfers/${id}`);
      return [id, json['status']] as const;
    }),
    ...Object.keys(OPENED).map(async (id) => {
      const { json } = await send(url, 'GET', `/accounts/${id}`);
      return [id, json['cents']] as const;
    }),
  ]);
  return Object.fromEntries(entries);
}

const EXPECTED = {
  ...Object.fromEntries(Object.entries(TRANSFERS).map(([id, { end }]) => [id, end])),
  ada: 700,
  bob: 300,
};

/** Carries the transfers out with a process that stops at a fault, and then with another one. Returns whether it stopped. */
async function interrupted(fault: Fault): Promise<boolean> {
  const { bank, service } = await openedBank();
  const url = await service.listening();
  bank.disk.control.fail(fault);
  let hasStopped = false;
  try {
    await carriedOut(url);
  } catch {
    await service.ended;
    hasStopped = true;
  }
  bank.disk.control.heal();
  await service.end('SIGKILL');
  const next = started(bank);
  try {
    const nextUrl = await next.listening();
    await carriedOut(nextUrl);
    expect({ fault, found: await outcome(nextUrl) }).toEqual({ fault, found: EXPECTED });
  } finally {
    await next.end('SIGKILL');
  }
  return hasStopped;
}

async function countOf(kind: 'write' | 'sync'): Promise<number> {
  const { bank, service } = await openedBank();
  bank.disk.control.fail({ mode: 'stop', kind, first: NEVER });
  const url = await service.listening();
  await carriedOut(url);
  expect(await outcome(url)).toEqual(EXPECTED);
  const { seen } = bank.disk.control.counts();
  await service.end('SIGTERM');
  return seen;
}

test.each(['write', 'sync'] as const)(
  'a bank that is stopped at any %s loses no money, and ends every transfer',
  async (kind) => {
    const count = await countOf(kind);
    expect(count).toBeGreaterThan(10);
    let first = 0;
    let stops = 0;
    const next = async (): Promise<void> => {
      while (first < count) if (await interrupted({ mode: 'stop', kind, first: ++first })) stops++;
    };
    await Promise.all(Array.from({ length: AT_ONCE }, next));
    // How many operations a run has depends on which appends are stored together.
    expect(stops).toBeGreaterThan(count / 2);
  },
  1_200_000,
);
