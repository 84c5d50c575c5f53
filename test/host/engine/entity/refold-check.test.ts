import { describe, expect, test } from 'vitest';
import type { EngineLimits } from '../../../../host/engine/engine-limits.ts';
import { createEngine } from '../../../../host/engine/entity-engine.ts';
import type { Journal } from '../../../../host/engine/needs/journal.ts';
import type { EntityRef } from '../../../../model/entity.ts';
import { MemoryJournal } from '../../../../host/storage/memory/memory-journal.ts';
import { turns } from '../../../support/engine-under-test.ts';
import { HeldJournal, diskFailure } from '../../../support/held-journal.ts';
import { LEAKY, LeakyGuest } from '../../../support/leaky-guest.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';
import { withJournal } from '../../../support/with-journal.ts';
import { systemEventLoop, systemDigest } from '../../../../host/system.ts';

class World {
  readonly guest: LeakyGuest;
  readonly journal: HeldJournal;
  readonly faults: { readonly entity: EntityRef; readonly fault: unknown }[] = [];
  readonly engine;

  constructor(
    limits: Partial<EngineLimits> = {},
    isLater = false,
    journal: Journal = new MemoryJournal(),
  ) {
    this.guest = new LeakyGuest(isLater);
    this.journal = new HeldJournal(journal);
    let seed = 0n;
    this.engine = createEngine({
      guest: this.guest,
      journal: this.journal,
      clock: { nowMs: () => 1, monotonicMs: () => 1 },
      random: { next64: () => ++seed },
      digest: systemDigest,
      eventLoop: systemEventLoop,
      limits: { purityCheckInterval: 0, purityRefoldInterval: 1, ...limits },
      faultLog: (entity, _handler, fault) => this.faults.push({ entity, fault }),
    });
  }

  async call(id: string, name: string, input: unknown = 0): Promise<void> {
    await this.engine.call({ component: LEAKY, id }, name, JSON.stringify(input), []);
  }

  get found(): string[] {
    return this.faults.map(({ entity }) => entity.id);
  }
}

describe.each([
  ['at once', false],
  ['later', true],
])('with a guest that answers %s', (_, isLater) => {
  test('an entity that was changed in place is found when it is evicted, with what ran', async () => {
    const it = new World({ liveEntitiesMax: 1 }, isLater);
    await it.call('a', 'add', 3);
    await it.call('a', 'leak', 7);
    await it.call('a', 'sort');
    await it.call('a', 'sort');
    expect(it.faults).toEqual([]);
    await it.call('b', 'add', 1);
    await turns();
    expect(it.found).toEqual(['a']);
    expect(it.faults[0]!.fault).toMatchObject({
      code: 'SVC_STATE_CHANGED',
      message: expect.stringMatching(
        /entity 'a' of component 'leaky' was not what its events make, at numbers\[0\]\. While it was in memory ran: command 'add', command 'leak', query 'sort'\./,
      ),
    });
    await it.engine.close();
    expect(it.guest.openCount).toBe(0);
  });

  test('a fold that depends on more than state and event is found at a stop', async () => {
    const it = new World({}, isLater);
    await it.call('a', 'add', 3);
    it.guest.drift = 0.5;
    await it.engine.close();
    expect(it.found).toEqual(['a']);
    expect(it.guest.openCount).toBe(0);
  });

  test('what is as its events make it is not reported', async () => {
    const it = new World({}, isLater);
    for (const id of ['a', 'b', 'c']) for (const n of [3, 1, 2]) await it.call(id, 'add', n);
    await it.call('c', 'get');
    await it.engine.close();
    expect(it.faults).toEqual([]);
    expect(it.guest.openCount).toBe(0);
  });
});

test('at a stop, one after the other is folded, up to the number of events', async () => {
  const it = new World({ purityRefoldEventsMax: 250 });
  for (const id of ['a', 'b', 'c', 'd']) await it.call(id, 'leak', 7);
  for (const id of ['a', 'b', 'c', 'd']) await it.call(id, 'leak', 8);
  await it.engine.close();
  // Each costs a hundred and its own two.
  expect(it.found).toEqual(['a', 'b']);
});

test('an entity of more events than the limit is not folded', async () => {
  const it = new World({ liveEntitiesMax: 1, purityRefoldEventsMax: 1 });
  await it.call('a', 'add', 1);
  await it.call('a', 'leak', 2);
  await it.call('b', 'add', 1);
  await turns();
  expect(it.faults).toEqual([]);
});

test('while one is folded, others leave memory without', async () => {
  const it = new World({ liveEntitiesMax: 1 });
  const { promise: gate, resolve: proceed } = Promise.withResolvers<void>();
  await it.call('a', 'leak', 7);
  const life = it.journal.incarnation.bind(it.journal);
  it.journal.incarnation = async (entity, ...which) => {
    if (entity.id === 'a') await gate;
    return life(entity, ...which);
  };
  for (const id of ['b', 'c', 'd']) await it.call(id, 'leak', 7);
  await it.call('a-other', 'get');
  const closing = it.engine.close();
  await turns();
  expect(it.faults).toEqual([]);
  proceed();
  await closing;
  expect(it.found[0]).toBe('a');
  expect(it.found).not.toContain('b');
});

/** Evicts the entity 'a', and folds it once `meanwhile` is done. */
async function evictedAndFolded(it: World, meanwhile: () => Promise<void>): Promise<void> {
  const incarnation = it.journal.incarnation.bind(it.journal);
  const { promise: gate, resolve: release } = Promise.withResolvers<void>();
  let asked = 0;
  it.journal.incarnation = async (entity, ...which) => {
    if (entity.id === 'a' && ++asked === 1) await gate;
    return incarnation(entity, ...which);
  };
  await it.call('b', 'add', 1);
  await meanwhile();
  expect(asked).toBeGreaterThan(0);
  expect(it.faults).toEqual([]);
  release();
  await it.engine.close();
}

test.each([
  ['as its events make it', 'add', []],
  ['changed in place', 'leak', ['a']],
])(
  'an entity that comes back while it is folded is compared up to its eviction: %s',
  async (_, command, found) => {
    const it = new World({ liveEntitiesMax: 1 });
    await it.call('a', 'add', 3);
    await it.call('a', command, 7);
    await evictedAndFolded(it, () => it.call('a', 'add', 1));
    expect(it.found).toEqual(found);
  },
);

/** Lets another engine of the same journal run commands of the entity 'a'. */
async function goOn(journal: Journal, commands: readonly string[]): Promise<void> {
  const other = new World({ purityRefoldInterval: 0 }, false, journal);
  for (const name of commands) await other.call('a', name, 5);
  await other.engine.close();
  expect(other.faults).toEqual([]);
}

describe.each<[string, (use: (journal: Journal) => Promise<void>) => Promise<void>]>([
  ['memory', (use) => use(new MemoryJournal())],
  ['SQLite', (use) => withJournal(temporaryFolder(), use)],
])('with a second writer of a journal in %s', (_, withShared) => {
  test.each([
    ['goes on with it', ['add', 'add']],
    ['deletes it', ['remove']],
    ['deletes it and begins it again', ['remove', 'add', 'add', 'add', 'add']],
  ])(
    'an entity is not reported if the other one %s after its eviction',
    async (_name, commands) => {
      await withShared(async (journal) => {
        const it = new World({ liveEntitiesMax: 1 }, false, journal);
        await it.call('a', 'add', 3);
        await it.call('a', 'add', 2);
        await evictedAndFolded(it, () => goOn(journal, commands));
        expect(it.faults).toEqual([]);
        expect(it.guest.openCount).toBe(0);
      });
    },
  );

  test('an entity that was changed in place is found all the same', async () => {
    await withShared(async (journal) => {
      const it = new World({ liveEntitiesMax: 1 }, false, journal);
      await it.call('a', 'add', 3);
      await it.call('a', 'leak', 7);
      await evictedAndFolded(it, () => goOn(journal, ['add', 'add']));
      expect(it.found).toEqual(['a']);
    });
  });
});

test('a journal that cannot be read is no finding, and delays nothing', async () => {
  const it = new World();
  await it.call('a', 'leak', 7);
  it.journal.readFailure = diskFailure();
  it.journal.incarnation = () => Promise.reject(diskFailure());
  await it.engine.close();
  expect(it.faults).toEqual([]);
  expect(it.guest.openCount).toBe(0);
});

test('with an interval, one entity of that many is watched; with 0 none', async () => {
  const some = new World({ purityRefoldInterval: 3 });
  for (const id of ['a', 'b', 'c', 'd', 'e', 'f']) await some.call(id, 'leak', 7);
  for (const id of ['a', 'b', 'c', 'd', 'e', 'f']) await some.call(id, 'leak', 8);
  await some.engine.close();
  expect(some.found).toEqual(['c', 'f']);
  const none = new World({ purityRefoldInterval: 0 });
  await none.call('a', 'leak', 7);
  await none.call('a', 'leak', 8);
  await none.engine.close();
  expect(none.faults).toEqual([]);
  expect(none.guest.snapshotCount).toBe(0);
});
