// Snapshots as the engine takes and uses them: which states are kept, what an entity that comes into memory
// begins with, and that a fault on either way costs nothing but time.
import { describe, expect, test } from 'vitest';
import type { EngineLimits } from '../../../../host/engine/engine-limits.ts';
import { GuestFault } from '../../../../model/guest-fault.ts';
import { MemoryJournal } from '../../../../host/storage/memory/memory-journal.ts';
import { COUNTER, type CounterOptions, added } from '../../../support/counter-guest.ts';
import { EngineUnderTest, turns } from '../../../support/engine-under-test.ts';
import { HeldJournal } from '../../../support/held-journal.ts';

const name = (id: string, seq: number) => `${COUNTER}/${id}@${seq}`;
const A = { component: COUNTER, id: 'a' };

async function add(it: EngineUnderTest, id: string, count: number): Promise<void> {
  for (let n = 0; n < count; n++) await it.outcome(id, 'add', 1);
  await turns();
}

describe.each([
  ['at once', false],
  ['later', true],
])('with a guest that answers %s', (_, later) => {
  const engine = (
    limits: Partial<EngineLimits> = {},
    options: CounterOptions & { journal?: HeldJournal } = {},
  ) =>
    new EngineUnderTest({
      later,
      fingerprint: 'one',
      ...options,
      limits: {
        snapshotIntervalEvents: 8,
        purityCheckInterval: 0,
        purityRefoldInterval: 0,
        ...limits,
      },
    });

  test('a state is kept each time that so many events have made it, and is what the next one begins with', async () => {
    const it = engine();
    await add(it, 'a', 17);
    expect(it.journal.snapshots).toEqual([name('a', 8), name('a', 16)]);
    const next = engine({}, { journal: it.journal });
    expect(await next.outcome('a', 'history')).toHaveLength(17);
    expect(it.journal.begun).toEqual([name('a', 16)]);
    expect(next.guest.folds).toEqual([1]);
    expect(await next.outcome('a', 'add', 1)).toBe(18);
    expect((await next.records('a')).map(({ seq }) => seq)).toHaveLength(18);
  });

  test('what was folded when it came into memory counts', async () => {
    const it = engine();
    await it.storeEvents(
      'a',
      Array.from({ length: 7 }, () => added(1)),
    );
    await add(it, 'a', 1);
    expect(it.journal.snapshots).toEqual([name('a', 8)]);
  });

  test('one that is asked only, and was folded from many, is kept as well', async () => {
    const it = engine();
    await it.storeEvents(
      'a',
      Array.from({ length: 20 }, () => added(1)),
    );
    expect(await it.outcome('a', 'total')).toBe(20);
    await turns();
    expect(it.journal.snapshots).toEqual([name('a', 20)]);
  });

  test('a state is kept after its events are on disk, and not before', async () => {
    const it = engine();
    await add(it, 'a', 7);
    it.journal.held = true;
    const pending = [
      it.outcome('a', 'add', 1),
      it.outcome('a', 'add', 1),
      it.outcome('a', 'add', 1),
    ];
    await turns();
    expect(it.journal.snapshots).toEqual([]);
    await it.journal.letAllThrough();
    await Promise.all(pending);
    await turns();
    expect(it.journal.snapshots).toHaveLength(1);
    const life = await it.journal.incarnation(A, 100, 'one');
    expect(JSON.parse(life.snapshot!)).toHaveLength(life.afterSeq);
  });

  test('a state whose events did not reach the disk is not kept', async () => {
    const it = engine();
    await add(it, 'a', 5);
    it.journal.held = true;
    const lost = { events: [added(100), added(100), added(100)] };
    // The last one has it stay, and runs again.
    const failing = ['effect', 'add', 'total'].map((call) => it.outcome('a', call, lost));
    await turns();
    await it.journal.fail();
    await it.journal.letAllThrough();
    expect((await Promise.all(failing)).at(-1)).toBe(5);
    await add(it, 'a', 1);
    expect(it.journal.snapshots).toEqual([]);
    await add(it, 'a', 2);
    expect(await it.outcome('a', 'total')).toBe(8);
    expect(it.journal.snapshots).toEqual([name('a', 8)]);
    expect((await it.journal.incarnation(A, 100, 'one')).snapshot).toBe(
      JSON.stringify(Array(8).fill(1)),
    );
  });

  test('an entity that leaves memory has its state kept when that spares enough', async () => {
    const it = engine({ liveEntitiesMax: 1 });
    await add(it, 'a', 1);
    await add(it, 'b', 2);
    await add(it, 'c', 1);
    await turns();
    expect(it.journal.snapshots).toEqual([name('b', 2)]);
    expect(await it.outcome('b', 'history')).toEqual([1, 1]);
    expect(it.guest.folds.at(-1)).toBe(1);
    await it.engine.close();
    expect(it.guest.openCount).toBe(0);
    // It has not grown since.
    expect(it.journal.snapshots).toEqual([name('b', 2)]);
  });

  test('all leave memory with the engine, and for long states there is a time', async () => {
    const it = engine();
    for (const id of ['a', 'b', 'c']) await add(it, id, 3);
    it.guest.written = (state) => {
      it.nowMs += 600;
      return state;
    };
    await it.engine.close();
    // Those of a guest that answers later are asked for at once.
    expect(it.journal.snapshots).toHaveLength(later ? 3 : 2);
    expect(it.guest.openCount).toBe(0);
  });

  test.each([
    ['the module has no fingerprint', {}, { fingerprint: undefined }],
    ['they are turned off', { snapshotIntervalEvents: 0 }, {}],
  ])('none is taken or used where %s', async (_why, limits, options) => {
    const journal = new HeldJournal(new MemoryJournal());
    journal.keepSnapshot(A, { seq: 1, fingerprint: 'one', state: '[7]' });
    const it = engine(limits, { journal, ...options });
    journal.snapshots.length = 0;
    await add(it, 'a', 20);
    expect(await it.outcome('a', 'total')).toBe(20);
    await it.engine.close();
    expect(journal.snapshots).toEqual([]);
    expect(journal.begun).toEqual([]);
  });

  test('that of another module is not used', async () => {
    const it = engine();
    await add(it, 'a', 8);
    const next = engine({}, { journal: it.journal, fingerprint: 'two' });
    expect(await next.outcome('a', 'total')).toBe(8);
    expect(it.journal.begun).toEqual([]);
    expect(next.guest.folds).toEqual([8]);
  });

  test('a life after a deletion does not begin with the state before it', async () => {
    const it = engine();
    await add(it, 'a', 8);
    await it.outcome('a', 'remove', 0);
    expect(await it.outcome('a', 'history')).toEqual([]);
    await add(it, 'a', 1);
    const next = engine({}, { journal: it.journal });
    expect(await next.outcome('a', 'history')).toEqual([1]);
    expect(it.journal.begun).toEqual([]);
  });

  test.each([
    ['is larger than the limit', { snapshotBytesMax: 16 }, (state: string) => state],
    ['has half a surrogate pair', {}, (state: string) => `${state}\ud800`],
    ['has a character that no text on disk has', {}, (state: string) => `${state}\0`],
  ])('a state that %s is not kept, and not asked for again', async (_why, limits, written) => {
    const it = engine(limits);
    it.guest.written = written;
    await add(it, 'a', 30);
    await it.engine.close();
    expect(it.journal.snapshots).toEqual([]);
    expect(it.guest.calls.filter((call) => call === 'snapshot')).toHaveLength(1);
    expect(it.faults).toEqual([]);
  });

  test('a state that is longer than its events is kept once they have become as long', async () => {
    const it = engine();
    it.guest.written = (state) => state.padEnd(2_000);
    await add(it, 'a', 60);
    // An event counts 176 bytes, a character two.
    expect(it.journal.snapshots).toEqual([name('a', 23), name('a', 46)]);
    expect(it.guest.calls.filter((call) => call === 'snapshot')).toHaveLength(3);
  });

  test('a state that cannot be written costs an instance, and no more of its component is asked for', async () => {
    const it = engine({}, { perInstance: 10 });
    it.guest.written = () => undefined;
    await add(it, 'b', 1);
    await add(it, 'a', 8);
    expect(await it.outcome('a', 'total')).toBe(8);
    expect(await it.outcome('b', 'total')).toBe(1);
    for (let round = 0; round < 4; round++) await add(it, 'a', 20);
    expect(await it.outcome('a', 'total')).toBe(88);
    await it.engine.close();
    expect(it.journal.snapshots).toEqual([]);
    // Where others may have taken the instance away meanwhile, a few more times.
    const asked = later ? 3 : 1;
    expect(it.guest.calls.filter((call) => call === 'snapshot')).toHaveLength(asked);
    expect(it.faults).toMatchObject([
      { fault: { message: expect.stringContaining('could not be written as JSON: no snapshots') } },
    ]);
    expect(it.guest.violations).toEqual([]);
    expect(it.guest.openCount).toBe(0);
  });

  test('a state that is too large to be written costs an instance once, and the others are kept as before', async () => {
    const it = engine({ liveEntitiesMax: 1 });
    const tooLong = new GuestFault('limit', 'a string is too long', { limit: 'string-bytes' });
    it.guest.written = () => {
      throw tooLong;
    };
    await add(it, 'large', 8);
    it.guest.written = (state) => state;
    for (let round = 1; round <= 3; round++) {
      await add(it, 'a', 8);
      await add(it, 'large', 8);
    }
    expect(await it.outcome('large', 'total')).toBe(32);
    expect(it.journal.snapshots).toEqual([name('a', 8), name('a', 16), name('a', 24)]);
    expect(it.faults).toMatchObject([
      {
        entity: { id: 'large' },
        fault: { limit: 'string-bytes', message: expect.stringContaining('no snapshots of it') },
      },
    ]);
    expect(it.guest.violations).toEqual([]);
  });

  test.each(['read', 'folded'] as const)(
    'an entity whose snapshot faults when it is %s is folded from its events, alone; after some, no other is used',
    async (misleading) => {
      const it = engine();
      for (const id of ['a', 'b', 'c', 'd']) {
        await add(it, id, 8);
        await add(it, id, 1);
      }
      const next = engine({ entityFaultsMax: 1 }, { journal: it.journal, perInstance: 10 });
      next.guest.misleading = misleading;
      for (const id of ['a', 'b', 'c', 'd']) expect(await next.outcome(id, 'total')).toBe(9);
      expect(it.journal.begun).toEqual([name('a', 8), name('b', 8), name('c', 8)]);
      expect(next.guest.opened).toContain('a alone');
      expect(next.guest.opened.at(-1)).toBe('d');
      expect(next.faults).toMatchObject([
        { entity: { id: 'c' }, fault: { message: expect.stringContaining('Snapshots led to') } },
      ]);
      await add(next, 'a', 20);
      await next.engine.close();
      // Others were taken of the first two, before that.
      expect(it.journal.snapshots.slice(4)).toEqual([name('a', 9), name('b', 9)]);
      expect(next.guest.violations).toEqual([]);
      expect(next.guest.openCount).toBe(0);
    },
  );

  test('an event that cannot be folded is reported as such, with and without a snapshot before it', async () => {
    const it = engine();
    await add(it, 'a', 8);
    await it.storeEvents('a', [added(1), { ...added(1), json: '{"type":"Unknown"}' }]);
    const next = engine({}, { journal: it.journal });
    expect(await next.outcome('a', 'total')).toBe('failed SVC_EVENT_UNREADABLE');
    expect(it.journal.begun).toEqual([name('a', 8)]);
    expect(next.faults).toMatchObject([
      { fault: { message: expect.stringContaining('event 10 of entity') } },
    ]);
    expect(next.guest.openCount).toBe(0);
  });

  test('a snapshot that is not what its events make is found where entities are folded anew', async () => {
    const it = engine({ liveEntitiesMax: 1, purityRefoldInterval: 1 });
    it.guest.written = (state) => state.replaceAll('1', '2');
    await add(it, 'a', 8);
    it.guest.written = (state) => state;
    await add(it, 'b', 1);
    await add(it, 'a', 1);
    expect(await it.outcome('a', 'total')).toBe(17);
    await it.outcome('b', 'total');
    await turns();
    expect(it.faults).toMatchObject([
      { entity: { id: 'a' }, fault: { code: 'SVC_STATE_CHANGED' } },
    ]);
  });
});
