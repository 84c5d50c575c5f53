// The engine decides for an entity, and answers from its state, only while the node holds its lease.
import { describe, expect, test } from 'vitest';
import { MemoryJournal } from '../../../../host/storage/memory/memory-journal.ts';
import { COUNTER, added } from '../../../support/counter-guest.ts';
import { EngineUnderTest, failureOf, turns } from '../../../support/engine-under-test.ts';
import { diskFailure } from '../../../support/held-journal.ts';
import { LeasesUnderTest } from '../../../support/leases-under-test.ts';
import { Random } from '../../../support/random.ts';
import { RemoteJournal, after } from '../../../support/remote-journal.ts';
import { TimersUnderTest, ref } from '../../../support/timers-under-test.ts';

const MOVED = 'failed SVC_ENTITY_MOVED';

type Options = Omit<NonNullable<ConstructorParameters<typeof EngineUnderTest>[0]>, 'leases'>;

/** An engine that holds the leases of `a` and `b`. */
function leased(options: Options = {}) {
  const leases = new LeasesUnderTest('a', 'b');
  const it = new EngineUnderTest({ ...options, leases });
  return { it, leases };
}

async function keyed(it: EngineUnderTest, key: string, name: string, input: unknown) {
  try {
    const outcome = await it.engine.call(ref('a'), name, JSON.stringify(input), [], key);
    return outcome.kind === 'reply' ? JSON.parse(outcome.json) : `refused ${outcome.code}`;
  } catch (error) {
    return `failed ${failureOf(error)}`;
  }
}

/** Ends the lease of `a` in the middle of the next call of the guest. */
function endDuringCall({ it, leases }: ReturnType<typeof leased>): void {
  const { calls } = it.guest;
  const push = calls.push.bind(calls);
  calls.push = (...names) => {
    leases.end('a');
    calls.push = push;
    return push(...names);
  };
}

test('without the lease of its entity, a call fails and reaches nobody', async () => {
  const leases = new LeasesUnderTest();
  const it = new TimersUnderTest({ leases });
  expect(await it.outcome('a', 'add', 5)).toBe(MOVED);
  expect(await it.outcome('a', 'total')).toBe(MOVED);
  expect(await keyed(it, 'k', 'add', 5)).toBe(MOVED);
  expect([it.guest.opened, it.journal.reads, it.journal.appendCount]).toEqual([[], [], 0]);
  expect(it.engine.numbers.liveEntities).toBe(0);
  // These need no lease.
  await it.set('a', 'add', 5);
  expect(it.timerOf('a')).toBeDefined();
  expect(await it.engine.readEvents(ref('a'), 0, 10)).toEqual([]);
  expect(await it.outcome('a', 'none')).toBe('refused NOT_FOUND');
});

test('a timer whose target is owned by nobody here is unavailable, and is fired by the next owner', async () => {
  const leases = new LeasesUnderTest('a');
  const it = new TimersUnderTest({ leases });
  await it.set('a', 'add', 5);
  const timer = it.timerOf('a')!;
  leases.end('a');
  const failure = { code: 'SVC_ENTITY_MOVED' };
  expect(await it.fire(timer)).toMatchObject({ kind: 'unavailable', failure });
  const problem = { scheduleProblem: 'it has no next occurrence' };
  expect(await it.fire(timer, problem)).toMatchObject({ kind: 'unavailable', failure });
  leases.give('a');
  expect(it.timerOf('a')).toEqual(timer);
  expect(await it.fired(timer)).toBe('replied');
  expect(await it.outcome('a', 'history')).toEqual([5]);
});

describe.each([false, true])('with a guest that answers later: %s', (later) => {
  test.each([
    ['a query', 'total', null],
    ['a refusal', 'take', 1_000],
    ['a command that stores nothing', 'noop', null],
    ['a command', 'add', 5],
    ['a fault', 'fault', null],
  ])('%s is not answered if the lease ends while it runs', async (_what, name, input) => {
    const under = leased({ later });
    const { it, leases } = under;
    await it.outcome('a', 'add', 1);
    endDuringCall(under);
    expect(await it.outcome('a', name, input)).toBe(MOVED);
    expect(it.journal.appendCount).toBe(1);
    expect(it.engine.numbers.liveEntities).toBe(0);
    expect(await it.outcome('a', 'total')).toBe(MOVED);
    leases.give('a');
    expect(await it.outcome('a', 'add', 10)).toBe(11);
    expect(it.guest.violations).toEqual([]);
    expect(it.guest.openCount).toBe(1);
    // The code has faulted all the same.
    expect(it.faults).toHaveLength(name === 'fault' ? 1 : 0);
  });

  test('a refusal with a key is not stored if the lease ends while it runs', async () => {
    const under = leased({ later });
    const { it } = under;
    await it.outcome('a', 'add', 1);
    endDuringCall(under);
    expect(await keyed(it, 'k', 'take', 1_000)).toBe(MOVED);
    expect(it.journal.appendCount).toBe(1);
  });

  test('a state that was read under one lease is not used under the next one', async () => {
    const { it, leases } = leased({ later });
    await it.outcome('a', 'add', 1);
    leases.end('a');
    await it.storeEvents('a', [added(10)]);
    leases.give('a');
    expect(await it.outcome('a', 'total')).toBe(11);
    expect(it.guest.opened).toEqual(['a', 'a']);
    leases.give('a');
    expect(await it.outcome('a', 'add', 100)).toBe(111);
    expect(it.guest.opened).toHaveLength(3);
    expect(it.guest.violations).toEqual([]);
  });

  test.each([
    ['is stored', undefined, 3],
    ['is not stored', 'failed SVC_JOURNAL_UNAVAILABLE', MOVED],
  ])(
    'an append under way that %s answers its command, whoever has the lease then',
    async (_what, failure, seen) => {
      const { it, leases } = leased({ later });
      await it.outcome('a', 'add', 1);
      it.journal.held = true;
      const command = it.outcome('a', 'add', 2);
      await turns();
      const query = it.outcome('a', 'total');
      await turns();
      leases.end('a');
      await (failure === undefined ? it.journal.letAllThrough() : it.journal.fail());
      // The query was computed while the lease was held, and saw the state that this append makes.
      expect(await Promise.all([command, query])).toEqual([failure ?? 3, seen]);
      expect(await it.outcome('a', 'total')).toBe(MOVED);
    },
  );

  test('a key that another node has answered meanwhile is looked up again', async () => {
    const memory = new MemoryJournal();
    const journal = new RemoteJournal(memory, new Random(7));
    const leases = new LeasesUnderTest('a');
    const it = new TimersUnderTest({ later, leases }, memory, journal);
    await it.set('a', 'add', 5);
    journal.held = true;
    const fired = it.fired(it.timerOf('a')!);
    await expect.poll(() => journal.waitingCount).toBe(1);
    // It waits for the append of the firing, and nothing is found.
    const asked = keyed(it, 'k', 'take', 1_000);
    await after(3);
    leases.end('a');
    const outcome = { kind: 'reply', json: '7' } as const;
    const reply = { key: 'k', digest: 'another', timeMs: it.nowMs, outcome, retentionMs: 1e9 };
    await new Promise((resolve) => {
      memory.append(ref('a'), [], resolve, { reply });
    });
    leases.give('a');
    await journal.letAllThrough();
    expect(await fired).toBe('replied');
    // The other command with this key has another digest.
    expect(await asked).toBe('refused UNPROCESSABLE');
    expect(journal.lookedAhead).toEqual([`${COUNTER}/a k`, `${COUNTER}/a k`]);
    expect(it.guest.calls).not.toContain('take');
  });

  test('a reply that is found after the lease has ended is not given', async () => {
    const journal = new RemoteJournal(new MemoryJournal(), new Random(7));
    const { it, leases } = leased({ later, journal });
    expect(await keyed(it, 'k', 'add', 5)).toBe(5);
    journal.turnsOfRead = 5;
    for (const key of ['k', 'new']) {
      leases.give('a');
      expect(await it.outcome('a', 'total')).toBe(5);
      const again = keyed(it, key, 'add', 5);
      await after(2);
      leases.end('a');
      expect(await again).toBe(MOVED);
    }
    // The one that was not found is not decided.
    expect(it.guest.calls.filter((name) => name === 'add')).toHaveLength(1);
    leases.give('a');
    expect(await keyed(it, 'k', 'add', 5)).toBe(5);
    expect(await it.outcome('a', 'history')).toEqual([5]);
  });

  test.each([
    ['cannot be folded', 'trap'],
    ['cannot be read', 'SVC_JOURNAL_UNAVAILABLE'],
  ])(
    'a journal that %s after the lease has ended says nothing about the entity',
    async (_what, failure) => {
      const { it, leases } = leased({ later, limits: { entityFaultsMax: 1 } });
      await it.storeEvents('a', [added(1), added(2)]);
      if (failure === 'trap') it.guest.foldEventsMax = 0;
      else it.journal.readFailure = diskFailure();
      const asked = it.outcome('a', 'total');
      leases.end('a');
      expect(await asked).toBe(MOVED);
      expect(it.faults).toEqual([]);
      it.guest.foldEventsMax = Infinity;
      it.journal.readFailure = undefined;
      leases.give('a');
      expect(await it.outcome('a', 'total')).toBe(3);
    },
  );
});
