// The engine on a journal that is somewhere else: reads take their time, and the lookups of idempotency keys wait together.
import { describe, expect, test } from 'vitest';
import { eventKey } from '../../../../model/event-key.ts';
import { READ_UNITS_MAX } from '../../../../host/engine/needs/journal.ts';
import { MemoryJournal } from '../../../../host/storage/memory/memory-journal.ts';
import { COUNTER } from '../../../support/counter-guest.ts';
import { EngineUnderTest, failureOf, turns } from '../../../support/engine-under-test.ts';
import { diskFailure } from '../../../support/held-journal.ts';
import { Random } from '../../../support/random.ts';
import { RemoteJournal, after } from '../../../support/remote-journal.ts';
import { journalSuite } from '../../../suites/journal-suite.ts';
import { remoteJournalSuite } from '../../../suites/remote-journal-suite.ts';

function underTest() {
  const journal = new RemoteJournal(new MemoryJournal(), new Random(7));
  return { journal, discard: () => journal.close() };
}

journalSuite('behind a network', async () => underTest());
remoteJournalSuite('behind a network', async () => {
  const { journal, discard } = underTest();
  return {
    journal,
    discard,
    loseOutcome: async (isStored, queue) => {
      journal.held = true;
      journal.picked = 0;
      const outcomes = queue();
      await journal.loseOutcome(isStored, 1);
      journal.picked = undefined;
      await journal.letAllThrough();
      return Promise.all(outcomes);
    },
  };
});

type Options = Omit<NonNullable<ConstructorParameters<typeof EngineUnderTest>[0]>, 'journal'>;

function remote(options: Options = {}) {
  const journal = new RemoteJournal(new MemoryJournal(), new Random(7));
  const it = new EngineUnderTest({ ...options, journal });
  const keyed = async (key: string, name: string, input: unknown = null, id = 'a') => {
    try {
      const target = { component: COUNTER, id };
      const outcome = await it.engine.call(target, name, JSON.stringify(input), [], key);
      return outcome.kind === 'reply' ? JSON.parse(outcome.json) : `refused ${outcome.code}`;
    } catch (error) {
      return `failed ${failureOf(error)}`;
    }
  };
  return { it, journal, keyed };
}

const AHEAD = `${COUNTER}/a`;

/** The number of turns of the event loop until it resolves. */
async function turnsUntil(done: Promise<unknown>): Promise<number> {
  const isDone = done.then(() => true);
  for (let count = 1; count < 1_000; count++)
    if (await Promise.race([isDone, after(1).then(() => false)])) return count;
  return Infinity;
}

describe.each([false, true])('with a guest that answers later: %s', (later) => {
  test.each([
    ['in memory', true],
    ['that is loaded for them', false],
  ])(
    'many commands with keys on an entity %s wait for their lookups once',
    async (_what, isLive) => {
      const { it, journal, keyed } = remote({ later });
      if (isLive) await it.outcome('a', 'noop');
      journal.turnsOfRead = 20;
      journal.requests = 0;
      const asked = Array.from({ length: 64 }, (__, index) => keyed(`k${index}`, 'add', 1));
      // The lookup of a single command takes twenty turns, and loading the entity takes as many.
      expect(await turnsUntil(Promise.all(asked))).toBeLessThan(40);
      expect(await Promise.all(asked)).toEqual(
        Array.from({ length: 64 }, (__, index) => index + 1),
      );
      expect([journal.requests, journal.lookedAhead.length, journal.lookedUp]).toEqual([1, 64, []]);
      // All of them are found, as one.
      const again = Array.from({ length: 64 }, (__, index) => keyed(`k${index}`, 'add', 1));
      expect(await turnsUntil(Promise.all(again))).toBeLessThan(40);
      expect(await Promise.all(again)).toEqual(await Promise.all(asked));
      expect([journal.requests, journal.lookedUp]).toEqual([2, []]);
    },
  );

  test('commands without a key, and queries, are looked up by nobody', async () => {
    const { it, journal, keyed } = remote({ later });
    await it.outcome('a', 'add', 1);
    expect(await keyed('k', 'total')).toBe(1);
    expect([journal.lookedAhead, journal.lookedUp]).toEqual([[], []]);
  });

  test('a command that comes twice at once is carried out once, and only its first lookup is ahead', async () => {
    const { it, journal, keyed } = remote({ later });
    await it.outcome('a', 'noop');
    const asked = [keyed('k', 'add', 5), keyed('k', 'add', 5), keyed('k', 'add', 6)];
    expect(await Promise.all(asked)).toEqual([5, 5, 'refused UNPROCESSABLE']);
    expect(journal.lookedAhead).toEqual([`${AHEAD} k`]);
    expect(await it.outcome('a', 'history')).toEqual([5]);
  });

  test('a command that comes again while the first one waits for the disk is not looked up ahead', async () => {
    const { it, journal, keyed } = remote({ later });
    await it.outcome('a', 'noop');
    journal.held = true;
    const first = keyed('k', 'add', 5);
    await expect.poll(() => journal.waitingCount).toBe(1);
    journal.turnsOfRead = 5;
    // Its lookup would find nothing, and come back when the first reply is on disk.
    const between = keyed('other', 'noop');
    const again = keyed('k', 'add', 5);
    await journal.letAllThrough();
    expect(await Promise.all([first, between, again])).toEqual([5, 5, 5]);
    expect([journal.lookedAhead, journal.lookedUp]).toEqual([
      [`${AHEAD} k`, `${AHEAD} other`],
      [`${AHEAD} k`],
    ]);
    expect(await it.outcome('a', 'history')).toEqual([5]);
  });

  test('a key is looked up ahead again once all of its calls have ended', async () => {
    const { journal, keyed } = remote({ later });
    await keyed('k', 'fault');
    await Promise.all([keyed('k', 'add', 5), keyed('k', 'add', 5)]);
    expect(await keyed('k', 'add', 5)).toBe(5);
    expect(journal.lookedAhead).toEqual([`${AHEAD} k`, `${AHEAD} k`, `${AHEAD} k`]);
  });

  test('a lookup that fails fails its command alone, which is not done', async () => {
    const { it, journal, keyed } = remote({ later });
    await it.outcome('a', 'noop');
    journal.readFailure = diskFailure();
    const failed = [keyed('k', 'add', 5), keyed('other', 'add', 5)];
    const plain = it.outcome('a', 'add', 1);
    expect(await Promise.all(failed)).toEqual([
      'failed SVC_JOURNAL_UNAVAILABLE',
      'failed SVC_JOURNAL_UNAVAILABLE',
    ]);
    expect(await plain).toBe(1);
    journal.readFailure = undefined;
    expect(await keyed('k', 'add', 5)).toBe(6);
  });

  test("a lookup whose command fails before it runs is nobody's rejection", async () => {
    const { it, journal, keyed } = remote({ later });
    const rejections: unknown[] = [];
    const note = (reason: unknown) => rejections.push(reason);
    process.on('unhandledRejection', note);
    try {
      journal.readFailure = diskFailure();
      journal.turnsOfRead = 5;
      // The entity cannot be loaded, so all of its calls fail before the lookups do.
      const failed = [keyed('k', 'add', 5), keyed('other', 'add', 5)];
      for (const outcome of await Promise.all(failed))
        expect(outcome).toBe('failed SVC_JOURNAL_UNAVAILABLE');
      for (let round = 0; round < 5; round++) await turns();
      expect(rejections).toEqual([]);
    } finally {
      process.off('unhandledRejection', note);
    }
    journal.readFailure = undefined;
    expect(await keyed('k', 'add', 5)).toBe(5);
    expect(it.guest.violations).toEqual([]);
  });

  test('a command that is repeated before the appends behind a lost one have settled is looked up again', async () => {
    const { it, journal, keyed } = remote({ later });
    await it.outcome('a', 'noop');
    journal.held = true;
    const lost = keyed('before', 'add', 1);
    await expect.poll(() => journal.waitingCount).toBe(1);
    const behind = keyed('k', 'add', 5);
    await expect.poll(() => journal.waitingCount).toBe(2);
    // Both are stored. The second one is over with the first, before it is.
    await journal.loseOutcome(true, 1);
    expect(await Promise.all([lost, behind])).toEqual([
      'failed SVC_CALL_UNCERTAIN',
      'failed SVC_CALL_UNCERTAIN',
    ]);
    // The lookup that begins here finds nothing.
    const again = [keyed('k', 'add', 5), keyed('before', 'add', 1)];
    await turns();
    await journal.letAllThrough();
    expect(await Promise.all(again)).toEqual([6, 1]);
    expect(await it.outcome('a', 'history')).toEqual([1, 5]);
    expect(it.guest.violations).toEqual([]);
  });

  test('lookups that wait while an append fails are repeated together', async () => {
    const { it, journal, keyed } = remote({ later });
    await it.outcome('a', 'noop');
    journal.held = true;
    const lost = it.outcome('a', 'add', 1);
    await turns();
    const gate = Promise.withResolvers<void>();
    it.guest.gate = gate.promise;
    const blocking = later ? it.outcome('a', 'total') : undefined;
    await turns();
    journal.turnsOfRead = 20;
    const asked = Array.from({ length: 10 }, (__, index) => keyed(`k${index}`, 'add', 1));
    await journal.loseOutcome(false);
    journal.held = false;
    gate.resolve();
    expect(await lost).toBe('failed SVC_CALL_UNCERTAIN');
    expect(await turnsUntil(Promise.all(asked))).toBeLessThan(60);
    // Also the command that was waiting for its lookup: it is decided on the state that is loaded next.
    expect(await Promise.all(asked)).toEqual(Array.from({ length: 10 }, (__, index) => index + 1));
    await blocking;
    expect(journal.lookedAhead).toHaveLength(20);
    expect(journal.lookedUp).toEqual([]);
  });

  test('a reply whose retention has passed counts as none, and an old reply of a consumer counts', async () => {
    const { it, keyed } = remote({ later, limits: { idempotencyRetentionMs: 1_000 } });
    const key = `${eventKey({ consumer: 'ledger', entity: { component: 'order', id: 'o' }, seq: 7 })}.add.1`;
    expect([await keyed('k', 'add', 5), await keyed(key, 'add', 1)]).toEqual([5, 6]);
    it.nowMs += 999;
    expect(await keyed('k', 'add', 5)).toBe(5);
    it.nowMs += 1;
    expect([await keyed(key, 'add', 1), await keyed('k', 'add', 5)]).toEqual([6, 11]);
  });

  test('a command whose instance is lost while its key is looked up is carried out once', async () => {
    const { it, journal, keyed } = remote({ later, perInstance: 2 });
    await it.outcome('a', 'add', 1);
    await it.outcome('b', 'add', 1);
    journal.turnsOfRead = 10;
    const asked = keyed('k', 'add', 5);
    expect(await it.outcome('b', 'fault')).toBe('failed trap');
    expect(await asked).toBe(6);
    expect(await keyed('k', 'add', 5)).toBe(6);
    expect(journal.lookedUp).toEqual([]);
    expect(await it.outcome('a', 'history')).toEqual([1, 5]);
  });
});

test('lookups that the journal leaves to their commands are made when these run', async () => {
  const { it, journal, keyed } = remote();
  const reply = JSON.stringify('x'.repeat(READ_UNITS_MAX / 4));
  const keys = Array.from({ length: 8 }, (_, index) => `k${index}`);
  const large = () => Promise.all(keys.map((key) => keyed(key, 'effect', { reply })));
  const first = await large();
  await it.outcome('a', 'add', 1);
  journal.lookedAhead.length = 0;
  expect(await large()).toEqual(first);
  expect(journal.lookedAhead).toHaveLength(keys.length);
  // The first four replies fill a response. The others are there.
  expect(journal.lookedUp).toEqual(keys.slice(4).map((key) => `${AHEAD} ${key}`));
  expect(await it.outcome('a', 'history')).toEqual([1]);
});

test('replies that were looked up count in memory until their commands are answered, and then no more', async () => {
  const { it, journal, keyed } = remote({
    limits: { unsettledBytesMax: 100_000, liveEntitiesMax: 1 },
  });
  const reply = JSON.stringify('x'.repeat(30_000));
  const large = (key: string) => keyed(key, 'effect', { reply });
  for (const key of ['k1', 'k2']) expect(await large(key)).toHaveLength(30_000);
  // The entity leaves memory, and takes longer to come back than the replies do.
  await it.outcome('b', 'noop');
  journal.turnsOfRead = 10;
  const found = [large('k1'), large('k2')];
  journal.turnsOfRead = 1;
  await after(3);
  // Both replies together are more than may be in memory.
  expect(await it.outcome('b', 'add', 1)).toBe('failed SVC_OVERLOADED');
  // Then no lookup is ahead, and what is there is answered.
  journal.lookedAhead.length = 0;
  const late = large('k1 again');
  expect(journal.lookedAhead).toEqual([]);
  for (const outcome of await Promise.all(found)) expect(outcome).toHaveLength(30_000);
  await late;
  for (let round = 1; round < 10; round++) expect(await it.outcome('b', 'add', 1)).toBe(round);
  const next = keyed('k3', 'add', 1);
  expect(journal.lookedAhead).toEqual([`${AHEAD} k3`]);
  expect(await next).toBe(1);
});
