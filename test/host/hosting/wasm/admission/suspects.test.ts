// Entities that have faulted are opened alone, so that their next fault affects no other entity.
import { describe, expect, test } from 'vitest';
import type { WasmLimits } from '../../../../../host/hosting/wasm/wasm-limits.ts';
import type { GuestParts } from '../support/guest-module.ts';
import { CONTEXT, entityRef, faultOf, liveGuest } from '../support/live-guest.ts';

/** Commands with names of five letters trap, as does closing an entity that had a command of three letters. */
const POISONED: GuestParts = {
  command: `(if (i32.eq (local.get $name-length) (i32.const 5)) (then unreachable))
    (if (i32.eq (local.get $name-length) (i32.const 3)) (then (i32.store (i32.const 8) (i32.const 1))))
    (call $clear)`,
  destroy: '(if (i32.load (i32.const 8)) (then unreachable))',
  construct: `(if (i32.eq (local.get $id-length) (i32.const 50)) (then unreachable))
    (call $resource-new (i32.const 7))`,
};

/** An entity whose constructor traps. */
const UNBORN = 'x'.repeat(50);

async function guestOf(limits: Partial<WasmLimits> = {}) {
  const guest = await liveGuest(POISONED, limits);
  const open = async (id: string) => guest.entities.open(entityRef(id), undefined);
  const fail = async (id: string) => {
    const entity = await open(id);
    await faultOf(() => entity.command(CONTEXT, 'fault', ''));
    entity.close();
  };
  return { guest, open, fail };
}

describe('an entity that has faulted', () => {
  test('loses its neighbours with it once, and never again', async () => {
    const { open, fail } = await guestOf();
    const before = await open('good');
    await fail('bad');
    expect(before.lost).toBe(true);
    const after = await open('good');
    for (let time = 0; time < 3; time++) await fail('bad');
    expect(after.lost).toBe(false);
  });

  test('shares its instance with none that is opened later', async () => {
    const { open, fail } = await guestOf();
    await fail('bad');
    const bad = await open('bad');
    const later = await open('later');
    await faultOf(() => bad.command(CONTEXT, 'fault', ''));
    expect([bad.lost, later.lost]).toEqual([true, false]);
  });

  test('while it is opened counts as well', async () => {
    const { open } = await guestOf();
    await faultOf(() => open(UNBORN));
    const good = await open('good');
    await faultOf(() => open(UNBORN));
    expect(good.lost).toBe(false);
  });

  test('is remembered while a hundred others have not faulted since', async () => {
    const { open, fail } = await guestOf();
    await fail('first');
    for (let other = 0; other < 99; other++) await fail(`other ${other}`);
    let good = await open('good');
    await fail('first');
    expect(good.lost).toBe(false);
    // It has faulted last now, so the first of the others is the next one to be forgotten.
    await fail('one more');
    good = await open('good');
    await fail('other 0');
    expect(good.lost).toBe(true);
  });

  test('leaves its instance when it is closed', async () => {
    const { open, fail } = await guestOf({ memoryBytesTotalMax: 8 * 65_536 });
    await fail('bad');
    const good = await open('good');
    for (let time = 0; time < 10; time++) (await open('bad')).close();
    expect(good.lost).toBe(false);
  });

  test('of a hundred that are open alone, the least recently used one is closed', async () => {
    const { open, fail } = await guestOf();
    const names = Array.from({ length: 101 }, (_, index) => `bad ${index}`);
    const opened = [];
    for (const name of names) {
      await fail(name);
      opened.push(await open(name));
    }
    expect(opened.map(({ lost }) => lost)).toEqual(names.map((_, index) => index === 0));
  });
});

test('a fault of a destructor is written to the log, and is nobody’s failure', async () => {
  const { guest, open } = await guestOf();
  const entity = await open('a');
  await entity.command(CONTEXT, 'set', '');
  entity.close();
  expect(guest.lines).toEqual([
    {
      level: 'warn',
      message: 'An entity could not be closed. The module trapped: unreachable.',
      source: 'component counter',
    },
  ]);
});
