// Appends of which it is unknown whether they are stored (SVC_CALL_UNCERTAIN): the engine goes on from what the journal has.
import { describe, expect, test } from 'vitest';
import { MemoryJournal } from '../../../../host/storage/memory/memory-journal.ts';
import { COUNTER, added } from '../../../support/counter-guest.ts';
import { EngineUnderTest, failureOf, turns } from '../../../support/engine-under-test.ts';
import { HeldJournal } from '../../../support/held-journal.ts';
import { TimersUnderTest, ref } from '../../../support/timers-under-test.ts';

const UNCERTAIN = 'failed SVC_CALL_UNCERTAIN';
const cases = [
  ['is stored', true],
  ['is not stored', false],
] as const;

async function keyed(it: EngineUnderTest, key: string, name: string, input: unknown) {
  const target = { component: COUNTER, id: 'a' };
  try {
    const outcome = await it.engine.call(target, name, JSON.stringify(input), [], key);
    return outcome.kind === 'reply' ? JSON.parse(outcome.json) : `refused ${outcome.code}`;
  } catch (error) {
    return `failed ${failureOf(error)}`;
  }
}

/** An engine whose entity `a` has counted 1, and is in memory. The next appends are held. */
async function held(options: ConstructorParameters<typeof EngineUnderTest>[0] = {}) {
  const it = new EngineUnderTest(options);
  await it.outcome('a', 'add', 1);
  it.journal.held = true;
  return it;
}

describe.each(cases)('a command of which it is unknown whether it %s', (_what, isStored) => {
  test.each([false, true])(
    'fails, and its entity comes back with what is stored, with a guest that answers later: %s',
    async (later) => {
      const it = await held({ later });
      const lost = it.outcome('a', 'add', 10);
      await turns();
      await it.journal.loseOutcome(isStored);
      it.journal.held = false;
      expect(await lost).toBe(UNCERTAIN);
      const before = isStored ? [1, 10] : [1];
      expect(await it.outcome('a', 'history')).toEqual(before);
      expect(await it.outcome('a', 'add', 100)).toBe(isStored ? 111 : 101);
      expect((await it.records('a')).map(({ seq }) => seq)).toEqual(
        [...before, 100].map((__, i) => i + 1),
      );
      expect(it.guest.violations).toEqual([]);
      // The failure is that of the journal, and not of the entity.
      expect(it.faults).toEqual([]);
    },
  );

  test('fails the commands that were decided after it, and lets queries see what is stored', async () => {
    const it = await held();
    const first = it.outcome('a', 'add', 10);
    const query = it.outcome('a', 'history');
    const behind = [it.outcome('a', 'add', 100), it.outcome('a', 'noop')];
    const last = it.outcome('a', 'add', 1_000);
    await turns();
    // Of those behind it, the first is stored with it.
    await it.journal.loseOutcome(isStored, 1);
    await it.journal.letAllThrough();
    expect(await Promise.all([first, ...behind, last])).toEqual(
      Array.from({ length: 4 }, () => UNCERTAIN),
    );
    const stored = isStored ? [1, 10, 100] : [1];
    expect(await query).toEqual(stored);
    expect(await it.outcome('a', 'history')).toEqual(stored);
  });

  test('is not read before the appends behind it have settled', async () => {
    const it = await held();
    const lost = it.outcome('a', 'add', 10);
    const behind = it.outcome('a', 'add', 100);
    await turns();
    it.journal.reads.length = 0;
    await it.journal.loseOutcome(isStored, 1);
    const query = it.outcome('a', 'history');
    await turns();
    expect(it.journal.reads).toEqual([]);
    await it.journal.letAllThrough();
    expect(await query).toEqual(isStored ? [1, 10, 100] : [1]);
    expect(await Promise.all([lost, behind])).toEqual([UNCERTAIN, UNCERTAIN]);
  });

  test('is carried out once when it is repeated with its idempotency key', async () => {
    const it = await held();
    const lost = keyed(it, 'k', 'add', 10);
    await turns();
    await it.journal.loseOutcome(isStored);
    it.journal.held = false;
    expect(await lost).toBe(UNCERTAIN);
    expect(await it.outcome('a', 'add', 100)).toBe(isStored ? 111 : 101);
    const repeated = await keyed(it, 'k', 'add', 10);
    expect(repeated).toBe(isStored ? 11 : 111);
    expect(await keyed(it, 'k', 'add', 10)).toBe(repeated);
    expect(await it.outcome('a', 'history')).toEqual(isStored ? [1, 10, 100] : [1, 100, 10]);
  });

  test('fails what repeats it meanwhile, and what was refused after it', async () => {
    const it = await held();
    const outcomes = [
      keyed(it, 'k', 'add', 10),
      keyed(it, 'k', 'add', 10),
      it.outcome('a', 'take', 1_000),
    ];
    await turns();
    await it.journal.loseOutcome(isStored);
    it.journal.held = false;
    expect(await Promise.all(outcomes)).toEqual([UNCERTAIN, UNCERTAIN, UNCERTAIN]);
    expect(await keyed(it, 'k', 'add', 10)).toBe(11);
    expect(await it.outcome('a', 'history')).toEqual([1, 10]);
  });

  test('and that deletes its entity leaves it deleted or as it was', async () => {
    const it = await held();
    const removed = it.outcome('a', 'remove', 0);
    const after = it.outcome('a', 'history');
    await turns();
    await it.journal.loseOutcome(isStored);
    it.journal.held = false;
    expect(await removed).toBe(UNCERTAIN);
    expect(await after).toEqual(isStored ? [] : [1]);
    expect(await it.outcome('a', 'add', 5)).toBe(isStored ? 5 : 6);
  });

  test('leaves other entities, and stores no snapshot of what may not be stored', async () => {
    const it = await held({ fingerprint: 'one', limits: { snapshotIntervalEvents: 1 } });
    it.journal.snapshots.length = 0;
    const lost = it.outcome('a', 'add', 10);
    await turns();
    const other = it.outcome('b', 'add', 5);
    await turns();
    await it.journal.loseOutcome(isStored);
    await turns();
    expect(it.journal.snapshots).toEqual([]);
    await it.journal.letAllThrough();
    expect([await lost, await other]).toEqual([UNCERTAIN, 5]);
    expect(await it.outcome('a', 'history')).toEqual(isStored ? [1, 10] : [1]);
  });

  test('is a failure for its entity alone, and does not make the journal count as full', async () => {
    const it = await held();
    const lost = it.outcome('a', 'add', 10);
    await turns();
    await it.journal.loseOutcome(isStored);
    it.journal.held = false;
    await lost;
    expect(await it.outcome('b', 'add', 10)).toBe(10);
  });
});

/** An entity with a timer that is due, and counts 5. Appends are held. */
async function withTimer(command = 'add', input: unknown = 5) {
  const memory = new MemoryJournal();
  const it = new TimersUnderTest({}, memory, new HeldJournal(memory));
  await it.set('a', command, input);
  const timer = it.timerOf('a')!;
  it.journal.held = true;
  return { it, timer };
}

describe.each(cases)('a firing of which it is unknown whether it %s', (_what, isStored) => {
  test('is unavailable, and has its effect once when it is fired again', async () => {
    const { it, timer } = await withTimer();
    const lost = it.fire(timer);
    await turns();
    await it.journal.loseOutcome(isStored);
    it.journal.held = false;
    expect(await lost).toMatchObject({
      kind: 'unavailable',
      failure: { code: 'SVC_CALL_UNCERTAIN' },
    });
    expect(it.timers).toHaveLength(isStored ? 0 : 1);
    expect(await it.fired(timer)).toBe(isStored ? 'gone' : 'replied');
    expect(await it.fired(timer)).toBe('gone');
    expect(await it.outcome('a', 'history')).toEqual([5]);
    expect(it.timers).toEqual([]);
  });

  test('and that rearms its timer has its effect once for the occurrence', async () => {
    const { it, timer } = await withTimer();
    const lost = it.fire(timer, { rearmMs: timer.dueMs + 1_000 });
    await turns();
    await it.journal.loseOutcome(isStored);
    it.journal.held = false;
    expect((await lost).kind).toBe('unavailable');
    const again = await it.fired(timer, { rearmMs: timer.dueMs + 1_000 });
    expect(again).toBe(isStored ? 'gone' : 'replied');
    expect(await it.outcome('a', 'history')).toEqual([5]);
    expect(it.timers).toMatchObject([{ dueMs: timer.dueMs + 1_000 }]);
  });

  test('lets the calls behind it run, which do not fail with it', async () => {
    const { it, timer } = await withTimer();
    const lost = it.fire(timer);
    const behind = it.outcome('a', 'add', 1);
    await turns();
    await it.journal.loseOutcome(isStored);
    it.journal.held = false;
    expect((await lost).kind).toBe('unavailable');
    expect(await behind).toBe(isStored ? 6 : 1);
  });

  test('and that has failed counts as one attempt once it is fired again', async () => {
    const { it, timer } = await withTimer('fault', null);
    const lost = it.fire(timer);
    await turns();
    expect(it.journal.waitingCount).toBe(1);
    await it.journal.loseOutcome(isStored);
    it.journal.held = false;
    expect((await lost).kind).toBe('unavailable');
    expect(it.timerOf('a')?.attempts).toBe(isStored ? 1 : 0);
    expect(await it.fired(timer)).toBe(isStored ? 'gone' : 'retried');
    expect(it.timerOf('a')?.attempts).toBe(1);
  });
});

describe.each(cases)(
  'a change of timers of which it is unknown whether it %s',
  (_what, isStored) => {
    test('rejects, and can be made again', async () => {
      const it = new TimersUnderTest();
      it.journal.held = true;
      const lost = it.set('a', 'add', 5);
      const other = it.set('b', 'add', 5);
      await it.journal.loseOutcome(isStored);
      await expect(lost).rejects.toMatchObject({ code: 'SVC_CALL_UNCERTAIN' });
      await it.journal.letAllThrough();
      await other;
      expect(it.timerOf('a') !== undefined).toBe(isStored);
      await it.set('a', 'add', 5);
      expect(it.timers.map(({ owner }) => owner)).toEqual([ref('b'), ref('a')]);
    });

    test('fails no later append of its entity', async () => {
      const it = new TimersUnderTest();
      await it.outcome('a', 'noop');
      it.journal.held = true;
      const lost = it.set('a', 'add', 5);
      const command = it.outcome('a', 'effect', { events: [added(1)] });
      await turns();
      await it.journal.loseOutcome(isStored);
      await it.journal.letAllThrough();
      await expect(lost).rejects.toMatchObject({ code: 'SVC_CALL_UNCERTAIN' });
      expect(await command).toBe(0);
      expect(await it.outcome('a', 'history')).toEqual([1]);
    });
  },
);
