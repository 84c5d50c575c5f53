// Two hostings share a journal on disk: the shopping cart in TypeScript continues with what the one in AssemblyScript
// has stored, and vice versa.
import { expect, onTestFinished, test } from 'vitest';
import { createEngine } from '../../host/engine/entity-engine.ts';
import type { Guest } from '../../model/guest.ts';
import { createWasmGuest } from '../../host/hosting/wasm/wasm-guest.ts';
import { attachSqliteJournal } from '../../host/storage/sqlite/attached-journal.ts';
import { openSqliteJournal } from '../../host/storage/sqlite/sqlite-journal.ts';
import { systemDigest, systemEventLoop } from '../../host/system.ts';
import { compileFixture } from '../support/compile-fixture.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { cartGuest } from './support/cart.ts';

const ref = { component: 'shopping-cart', id: 'shared' };
const wasmGuest = async () => createWasmGuest(await compileFixture('shopping-cart'));

/** Runs a guest over the journal of the folder, and closes both. */
async function withGuest<T>(
  dir: string,
  guest: Guest,
  run: (call: (name: string, input: unknown) => Promise<unknown>) => Promise<T>,
): Promise<T> {
  const sqlite = await openSqliteJournal(dir);
  const journal = attachSqliteJournal(sqlite.connect());
  const engine = createEngine({
    guest,
    journal,
    clock: { nowMs: () => 1_700_000_000_000, monotonicMs: () => 1 },
    random: { next64: () => 1n },
    digest: systemDigest,
    eventLoop: systemEventLoop,
    limits: { snapshotIntervalEvents: 1 },
    faultLog: (_entity, _handler, fault) => {
      throw fault;
    },
  });
  try {
    return await run(async (name, input) => {
      const answer = await engine.call(ref, name, JSON.stringify(input), []);
      return answer.kind === 'reply' ? JSON.parse(answer.json) : answer;
    });
  } finally {
    await engine.close();
    await journal.close();
    await sqlite.close();
    await guest.close();
  }
}

test.each([
  ['AssemblyScript', 'TypeScript', wasmGuest, async () => cartGuest('1')],
  ['TypeScript', 'AssemblyScript', async () => cartGuest('1'), wasmGuest],
])('a cart begun in %s is gone on with in %s', async (_first, _second, begin, goOn) => {
  const dir = temporaryFolder();
  const before = await withGuest(dir, await begin(), async (call) => {
    await call('add-item', { sku: 'ä 漢 🎉', quantity: 2 });
    await call('add-item', { sku: 'b', quantity: 1 });
    await call('remove-item', { sku: 'b' });
    return call('get', null);
  });
  const after = await withGuest(dir, await goOn(), async (call) => {
    expect(await call('get', null)).toEqual(before);
    return call('add-item', { sku: 'ä 漢 🎉', quantity: 3 });
  });
  expect(after).toEqual({
    id: 'shared',
    items: [{ sku: 'ä 漢 🎉', quantity: 5 }],
    checkedOut: false,
  });
  const again = await withGuest(dir, await begin(), (call) => call('get', null));
  expect(again).toEqual(after);
});

test.each([
  ['AssemblyScript', 'TypeScript', wasmGuest, async () => cartGuest('1')],
  ['TypeScript', 'AssemblyScript', async () => cartGuest('1'), wasmGuest],
])('a snapshot of %s is its own: %s folds the events', async (_own, _other, own, other) => {
  const dir = temporaryFolder();
  const written = await withGuest(dir, await own(), async (call) => {
    for (let turn = 0; turn < 10; turn++) await call('add-item', { sku: 'ä 🎉', quantity: 2 });
    return call('get', null);
  });
  for (const [guest, isRead] of [
    [await own(), true],
    [await other(), false],
  ] as const) {
    const begunWith: (string | undefined)[] = [];
    const watched: Guest = {
      ...guest,
      entities: {
        open(entity, snapshot, alone) {
          begunWith.push(snapshot);
          return guest.entities.open(entity, snapshot, alone);
        },
      },
      close: () => guest.close(),
    };
    expect(await withGuest(dir, watched, (call) => call('get', null))).toEqual(written);
    const folded = begunWith.map((snapshot) => snapshot === undefined);
    expect(folded).toEqual([!isRead]);
  }
});

test('both write the same events and answers, to the byte', async () => {
  const guests = [await wasmGuest(), cartGuest()];
  onTestFinished(async () => {
    for (const guest of guests) await guest.close();
  });
  const context = { nowMs: 1, seed: 1n, metadata: [] };
  const calls = [
    ['add-item', '{"quantity":2,"sku":"a","gone":1}'],
    ['add-item', '{"sku":"","quantity":2}'],
    ['add-item', '{"sku":"a","quantity":0}'],
    ['remove-item', '{"sku":"none"}'],
    ['check-out', 'null'],
    ['remove', 'null'],
  ] as const;
  for (const [name, input] of calls) {
    const answers = await Promise.all(
      guests.map(async (guest) =>
        (await guest.entities.open(ref, undefined)).command(context, name, input),
      ),
    );
    expect(answers[1]).toEqual(answers[0]);
  }
});
