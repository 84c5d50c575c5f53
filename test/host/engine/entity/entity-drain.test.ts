// Entities that leave an engine because their leases are handed over or lost: by a drain, or dropped when it is cancelled.
import { describe, expect, test } from 'vitest';
import type { EntityRef } from '../../../../model/entity.ts';
import { MemoryJournal } from '../../../../host/storage/memory/memory-journal.ts';
import { COUNTER, added } from '../../../support/counter-guest.ts';
import { EngineUnderTest, turns } from '../../../support/engine-under-test.ts';
import { HeldJournal } from '../../../support/held-journal.ts';
import { LeasesUnderTest } from '../../../support/leases-under-test.ts';
import { TimersUnderTest, changing, timerFor } from '../../../support/timers-under-test.ts';

const MOVED = 'failed SVC_ENTITY_MOVED';
const UNAVAILABLE = 'failed SVC_JOURNAL_UNAVAILABLE';
const isA = ({ id }: EntityRef): boolean => id === 'a';

type Options = Omit<NonNullable<ConstructorParameters<typeof EngineUnderTest>[0]>, 'leases'>;

function leased(options: Options = {}) {
  const leases = new LeasesUnderTest('a', 'b');
  return { leases, it: new EngineUnderTest({ ...options, leases }) };
}

/** The same with timers. */
function leasedTimers() {
  const memory = new MemoryJournal();
  const leases = new LeasesUnderTest('a', 'b');
  return { leases, it: new TimersUnderTest({ leases }, memory, new HeldJournal(memory)) };
}

/** Drops entities: a drain that is cancelled at once. */
function drop({ engine }: Pick<EngineUnderTest, 'engine'>, selects: typeof isA): void {
  const drain = engine.drain(selects);
  drain.cancel();
  drain.end();
}

/** Reports whether the promise has resolved. */
function watched(done: Promise<void>): { isDone: boolean } {
  const state = { isDone: false };
  void done.then(() => {
    state.isDone = true;
  });
  return state;
}

describe.each([false, true])('a drain, with a guest that answers later: %s', (later) => {
  test('executes what was called, lets its appends settle, and takes no new call', async () => {
    const { it } = leased({ later });
    await Promise.all([it.outcome('a', 'add', 1), it.outcome('b', 'add', 1)]);
    it.journal.held = true;
    const gate = Promise.withResolvers<void>();
    if (later) it.guest.gate = gate.promise;
    const before = [it.outcome('a', 'add', 2), it.outcome('a', 'add', 3), it.outcome('a', 'total')];
    const drain = it.engine.drain(isA);
    const drained = watched(drain.done);
    expect(await Promise.all([it.outcome('a', 'add', 5), it.outcome('a', 'total')])).toEqual([
      MOVED,
      MOVED,
    ]);
    gate.resolve();
    await turns();
    expect(drained.isDone).toBe(false);
    await it.journal.letAllThrough();
    await drain.done;
    expect(await Promise.all(before)).toEqual([3, 6, 6]);
    expect(it.engine.numbers).toMatchObject({ liveEntities: 1, passivations: 1 });
    expect(it.guest.openCount).toBe(1);
    expect(await it.outcome('b', 'add', 1)).toBe(2);
    expect(await it.outcome('a', 'total')).toBe(MOVED);
    drain.end();
    expect(await it.outcome('a', 'total')).toBe(6);
    expect(it.guest.violations).toEqual([]);
  });

  test('keeps a snapshot of an entity that has grown, and ends after that', async () => {
    const { it } = leased({
      later,
      fingerprint: 'one',
      limits: { snapshotIntervalEvents: 4 },
    });
    const events = Array.from({ length: 20 }, (_, index) => added(index));
    await it.storeEvents('a', events);
    expect(await it.outcome('a', 'add', 1)).toBe(191);
    it.journal.snapshots.length = 0;
    await it.outcome('a', 'add', 1);
    await it.outcome('a', 'add', 1);
    const gate = Promise.withResolvers<void>();
    if (later) it.guest.gate = gate.promise;
    const drain = it.engine.drain(isA);
    const drained = watched(drain.done);
    await turns();
    expect(drained.isDone).toBe(!later);
    gate.resolve();
    await drain.done;
    expect(it.journal.snapshots).toEqual([`${COUNTER}/a@23`]);
    expect(it.guest.openCount).toBe(0);
  });

  test('reaches entities that are idle, being loaded, or not in memory', async () => {
    const { it } = leased({ later });
    await it.outcome('b', 'add', 1);
    const loading = it.outcome('a', 'add', 2);
    const drain = it.engine.drain(() => true);
    await drain.done;
    expect(await loading).toBe(2);
    expect(it.engine.numbers.liveEntities).toBe(0);
    expect(it.guest.openCount).toBe(0);
    await it.engine.drain(() => true).done;
    expect(await it.outcome('c', 'total')).toBe(MOVED);
  });

  test('that is cancelled drops what is left at once', async () => {
    const { it } = leased({ later });
    await it.outcome('a', 'add', 1);
    it.journal.held = true;
    const held = it.outcome('a', 'add', 2);
    await turns();
    const gate = Promise.withResolvers<void>();
    if (later) it.guest.gate = gate.promise;
    const waiting = later ? [it.outcome('a', 'add', 3), it.outcome('a', 'add', 4)] : [];
    const drain = it.engine.drain(isA);
    await turns();
    drain.cancel();
    await drain.done;
    gate.resolve();
    expect(await Promise.all(waiting)).toEqual(waiting.map(() => MOVED));
    expect(it.journal.waitingCount).toBe(1);
    await it.journal.letAllThrough();
    expect(await held).toBe(3);
    expect(it.engine.numbers.liveEntities).toBe(0);
    drain.end();
    expect(await it.outcome('a', 'history')).toEqual([1, 2]);
    expect(it.guest.violations).toEqual([]);
  });
});

test('a drain waits for firings, and for timers that handlers change', async () => {
  const { it } = leasedTimers();
  await it.set('a', 'fault');
  const timer = it.timerOf('a')!;
  await it.set('b', 'add', 1);
  it.journal.held = true;
  const other = it.fired(it.timerOf('b')!);
  const fired = it.fired(timer);
  const changed = it.set('a', 'add', 1, { name: 'second' });
  const drain = it.engine.drain(isA);
  const drained = watched(drain.done);
  expect(await it.fired(timer)).toBe('unavailable');
  await turns();
  expect(drained.isDone).toBe(false);
  // The appends: that of the firing of `b`, the change, and the attempt of the firing that has failed.
  await it.journal.letThrough();
  await it.journal.letThrough();
  await changed;
  await turns();
  expect([drained.isDone, it.journal.waitingCount]).toEqual([false, 1]);
  await it.journal.letThrough();
  await drain.done;
  expect([await fired, await other]).toEqual(['retried', 'replied']);
});

test('two drains of different entities end each by itself', async () => {
  const { it } = leased();
  await Promise.all([it.outcome('a', 'add', 1), it.outcome('b', 'add', 1)]);
  it.journal.held = true;
  const asked = [it.outcome('a', 'add', 1), it.outcome('b', 'add', 1)];
  await turns();
  const a = it.engine.drain(isA);
  const b = it.engine.drain(({ id }) => id === 'b');
  const drained = watched(b.done);
  await it.journal.letThrough();
  await a.done;
  expect(drained.isDone).toBe(false);
  a.end();
  expect(await it.outcome('a', 'total')).toBe(2);
  expect(await it.outcome('b', 'total')).toBe(MOVED);
  await it.journal.letThrough();
  await b.done;
  expect(await Promise.all(asked)).toEqual([2, 2]);
});

test('a drain of many entities yields to the event loop while it closes them', async () => {
  const ids = Array.from({ length: 30 }, (_, index) => `e${index}`);
  const leases = new LeasesUnderTest(...ids);
  const limits = { snapshotIntervalEvents: 4 };
  const it = new EngineUnderTest({ leases, limits, fingerprint: 'one' });
  await Promise.all(ids.map((id) => it.outcome(id, 'add', 1)));
  // The snapshot of each entity takes a millisecond.
  it.guest.written = (state) => {
    it.nowMs += 1;
    return state;
  };
  const openAtYield: number[] = [];
  it.turn = async () => void openAtYield.push(it.guest.openCount);
  await it.engine.drain(() => true).done;
  expect(openAtYield).toEqual([25, 20, 15, 10, 5, 0]);
});

describe.each([false, true])('a drop, with a guest that answers later: %s', (later) => {
  test('forgets an idle entity, which is rebuilt from the journal', async () => {
    const { it, leases } = leased({ later });
    await it.storeEvents('a', [added(1), added(2)]);
    await it.outcome('a', 'total');
    await it.outcome('b', 'add', 1);
    leases.end('a');
    drop(it, isA);
    await turns();
    expect(it.engine.numbers).toMatchObject({ liveEntities: 1 });
    expect(it.guest.openCount).toBe(1);
    await it.storeEvents('a', [added(10)]);
    leases.give('a');
    expect(await it.outcome('a', 'total')).toBe(13);
    expect(it.faults).toEqual([]);
  });

  test('forgets it even if the node keeps the lease', async () => {
    const { it } = leased({ later });
    await it.outcome('a', 'add', 1);
    drop(it, isA);
    expect(it.engine.numbers.liveEntities).toBe(0);
    await it.storeEvents('a', [added(10)]);
    expect(await it.outcome('a', 'add', 1)).toBe(12);
  });

  test.each([
    ['is stored', undefined],
    ['is not stored', UNAVAILABLE],
  ])('lets an append that %s answer its command, and is rebuilt after that', async (_, failure) => {
    const { it } = leased({ later });
    await it.outcome('a', 'add', 1);
    it.journal.held = true;
    const command = it.outcome('a', 'add', 2);
    await turns();
    const query = it.outcome('a', 'total');
    await turns();
    drop(it, isA);
    it.journal.reads.length = 0;
    const next = it.outcome('a', 'add', 10);
    await turns();
    expect(it.journal.reads).toEqual([]);
    await (failure === undefined ? it.journal.letThrough() : it.journal.fail());
    expect(await command).toBe(failure ?? 3);
    // Nothing that it may have seen is lost, or it sees what is there now.
    expect(await query).toBe(failure === undefined ? 3 : 1);
    await expect.poll(() => it.journal.waitingCount).toBe(1);
    await it.journal.letAllThrough();
    expect(await next).toBe(failure === undefined ? 13 : 11);
    expect(it.guest.violations).toEqual([]);
    expect(it.guest.openCount).toBe(1);
  });

  test('stores no snapshot of a state whose append is not stored', async () => {
    const { it } = leased({
      later,
      fingerprint: 'one',
      limits: { snapshotIntervalEvents: 1 },
    });
    await it.storeEvents('a', [added(1), added(2)]);
    await it.outcome('a', 'total');
    await turns();
    it.journal.snapshots.length = 0;
    it.journal.held = true;
    const lost = it.outcome('a', 'add', 100);
    await turns();
    drop(it, isA);
    await it.journal.fail();
    await turns();
    expect(await lost).toBe(UNAVAILABLE);
    expect(it.journal.snapshots).toEqual([]);
    it.journal.held = false;
    expect(await it.outcome('a', 'total')).toBe(3);
  });

  test('fails the calls that wait for the entity to be loaded', async () => {
    const { it } = leased({ later });
    await it.storeEvents('a', [added(1)]);
    const asked = [it.outcome('a', 'add', 2), it.outcome('a', 'total')];
    drop(it, isA);
    expect(await Promise.all(asked)).toEqual([MOVED, MOVED]);
    await turns();
    expect(it.engine.numbers.liveEntities).toBe(0);
    expect(it.guest.openCount).toBe(0);
    expect(await it.outcome('a', 'history')).toEqual([1]);
  });
});

test('a drop fails the call that the guest executes, and those behind it, and nothing is decided', async () => {
  const { it } = leased({ later: true });
  await it.outcome('a', 'add', 1);
  for (const name of ['add', 'total']) {
    const gate = Promise.withResolvers<void>();
    it.guest.gate = gate.promise;
    const running = it.outcome('a', name, 2);
    await turns();
    const waiting = it.outcome('a', 'add', 3);
    drop(it, isA);
    expect(await waiting).toBe(MOVED);
    // It comes to a state that is read after the drop.
    const next = it.outcome('a', 'total');
    gate.resolve();
    expect(await Promise.all([running, next])).toEqual([MOVED, 1]);
  }
  expect(it.journal.appendCount).toBe(1);
  expect(it.guest.violations).toEqual([]);
});

test('a drop makes a firing that runs unavailable', async () => {
  const { it, leases } = leasedTimers();
  await it.set(
    'a',
    'effect',
    changing({ kind: 'set', timer: timerFor('a', 'add', 1, { name: 'x' }) }),
  );
  const timer = it.timerOf('a')!;
  const fired = it.fire(timer);
  leases.end('a');
  drop(it, isA);
  expect(await fired).toMatchObject({
    kind: 'unavailable',
    failure: { code: 'SVC_ENTITY_MOVED' },
  });
  expect(it.timers).toEqual([timer]);
  leases.give('a');
  expect(await it.fired(timer)).toBe('replied');
  expect(it.timers).toHaveLength(1);
});

test('an engine closes while entities are drained and dropped', async () => {
  const { it } = leased();
  await Promise.all([it.outcome('a', 'add', 1), it.outcome('b', 'add', 1)]);
  it.journal.held = true;
  const asked = [it.outcome('a', 'add', 1), it.outcome('b', 'add', 1)];
  await turns();
  const drain = it.engine.drain(isA);
  drop(it, ({ id }) => id === 'b');
  const closed = it.engine.close();
  await it.journal.letAllThrough();
  await Promise.all([closed, drain.done]);
  expect(await Promise.all(asked)).toEqual([2, 2]);
  expect(it.guest.openCount).toBe(0);
});
