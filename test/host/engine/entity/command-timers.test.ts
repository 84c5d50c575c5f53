// Commands that set and cancel timers: what is stored with their events, and what is refused or a fault.
import { describe, expect, test } from 'vitest';
import type { TimerChange } from '../../../../model/timer.ts';
import { MemoryJournal } from '../../../../host/storage/memory/memory-journal.ts';
import { COUNTER, added } from '../../../support/counter-guest.ts';
import { failureOf, turns } from '../../../support/engine-under-test.ts';
import { TimersUnderTest, changing, ref, timerFor } from '../../../support/timers-under-test.ts';

const CANCEL: TimerChange = { kind: 'cancel', name: 'tick' };

function setting(name: string, input: unknown = 1): TimerChange {
  return { kind: 'set', timer: timerFor('a', 'add', input, { name }) };
}

describe('a command', () => {
  test('stores its timers with its events, by one append, counted from its own time', async () => {
    const it = new TimersUnderTest();
    const timer = timerFor('b', 'add', 1, { due: { kind: 'after', afterMs: 5_000 }, attempts: 4 });
    const effect = { events: [added(2)], timers: [{ kind: 'set', timer }] };
    expect(await it.outcome('a', 'effect', effect)).toBe(0);
    expect(it.journal.appendCount).toBe(1);
    expect(it.timers).toMatchObject([
      { owner: ref('a'), target: ref('b'), name: 'tick', dueMs: it.nowMs + 5_000, attemptsMax: 4 },
    ]);
    const [record] = await it.records('a');
    expect(it.timers[0]!.setMs).toBe(record!.timeMs);
  });

  test('without events stores its timers, and is answered when they are on disk', async () => {
    const it = new TimersUnderTest();
    await it.outcome('a', 'total');
    it.journal.held = true;
    let answered: unknown;
    void it.outcome('a', 'effect', changing(setting('tick'))).then((value) => (answered = value));
    await turns();
    expect([answered, it.timers]).toEqual([undefined, []]);
    await it.journal.letAllThrough();
    await turns();
    expect([answered, it.timers.length]).toEqual([0, 1]);
    expect(await it.records('a')).toEqual([]);
  });

  test('that changes none appends nothing for it', async () => {
    const it = new TimersUnderTest();
    await it.outcome('a', 'effect', changing());
    await it.outcome('a', 'noop');
    expect(it.journal.appendCount).toBe(0);
  });

  test('changes them in order, and a timer of the same name is replaced', async () => {
    const it = new TimersUnderTest();
    await it.outcome('a', 'effect', changing(setting('tick', 1), setting('tock', 2)));
    await it.outcome('a', 'effect', changing(CANCEL, setting('tick', 3), setting('tock', 4)));
    expect(it.timers.map(({ name, input }) => [name, input])).toEqual([
      ['tick', '3'],
      ['tock', '4'],
    ]);
    await it.outcome('a', 'effect', changing(setting('tick', 5), CANCEL));
    expect(it.timers.map(({ name }) => name)).toEqual(['tock']);
  });

  test('with an idempotency key sets them once', async () => {
    const it = new TimersUnderTest();
    const input = JSON.stringify(changing(setting('tick')));
    for (let time = 0; time < 2; time++) await it.engine.call(ref('a'), 'effect', input, [], 'key');
    expect(it.timers.map(({ number }) => number)).toEqual([1]);
  });

  test('that deletes its entity cancels all timers of it but those that it sets', async () => {
    const it = new TimersUnderTest();
    await it.outcome('a', 'effect', changing(setting('tick'), setting('tock')));
    await it.set('b', 'add', 1);
    const actions = [{ kind: 'delete-entity' }];
    await it.outcome('a', 'effect', { actions, timers: [setting('after')] });
    expect(it.timers.map(({ owner, name }) => [owner?.id, name])).toEqual([
      ['b', 'tick'],
      ['a', 'after'],
    ]);
  });

  test('whose append fails has set none', async () => {
    const it = new TimersUnderTest();
    await it.outcome('a', 'total');
    it.journal.held = true;
    const outcome = it.outcome('a', 'effect', { events: [added(1)], timers: [setting('tick')] });
    await turns();
    await it.journal.fail();
    expect(await outcome).toBe('failed SVC_JOURNAL_UNAVAILABLE');
    expect([it.timers, await it.outcome('a', 'history')]).toEqual([[], []]);
  });

  test('of an entity with too many timers fails with SVC_TIMERS_FULL, and stores nothing', async () => {
    const timerLimits = { max: 100, perEntityMax: 2 };
    const it = new TimersUnderTest({}, new MemoryJournal({ timerLimits }));
    await it.outcome('a', 'effect', changing(setting('one'), setting('two')));
    const effect = { events: [added(1)], timers: [setting('three')] };
    expect(await it.outcome('a', 'effect', effect)).toBe('failed SVC_TIMERS_FULL');
    expect([it.timers.length, await it.outcome('a', 'history')]).toEqual([2, []]);
    expect(await it.outcome('a', 'effect', changing(setting('two', 2)))).toBe(0);
  });
});

test('a command with too many timers fails no other command, once one has been refused', async () => {
  const timerLimits = { max: 100, perEntityMax: 1 };
  const it = new TimersUnderTest({}, new MemoryJournal({ timerLimits }));
  await it.outcome('a', 'effect', changing(setting('one')));
  const refused = { events: [added(1)], timers: [setting('two')] };
  expect(await it.outcome('a', 'effect', refused)).toBe('failed SVC_TIMERS_FULL');
  const outcomes = ['effect', 'add', 'effect', 'add'].map((command) =>
    it.outcome('a', command, command === 'add' ? 5 : refused),
  );
  const full = 'failed SVC_TIMERS_FULL';
  expect(await Promise.all(outcomes)).toEqual([full, 5, full, 10]);
  expect(await it.outcome('a', 'history')).toEqual([5, 5]);
  // Commands without timers are pipelined as before, and so are others when nothing was refused for a while.
  const count = async (command: string, input: unknown) => {
    it.guest.calls.length = 0;
    it.journal.held = true;
    const calls = [it.call('a', command, input), it.call('a', 'noop')];
    const decided = it.guest.calls.length;
    it.journal.held = false;
    await it.journal.letAllThrough();
    await Promise.all(calls);
    return decided;
  };
  expect(await count('add', 1)).toBe(3);
  expect(await count('effect', changing(setting('one')))).toBe(1);
  it.nowMs += 10_000;
  expect(await count('effect', changing(setting('one')))).toBe(2);
});

describe('stores nothing', () => {
  test.each([
    ['a timer without a name', setting(''), "the name '' of a timer is empty"],
    [
      'a timer for a query',
      { kind: 'set', timer: timerFor('a', 'total') } as const,
      "timer 'tick' names the query 'total', but only a command can be sent by a timer",
    ],
  ])('of a command with %s, which is a fault of its module', async (_what, change, reason) => {
    const it = new TimersUnderTest();
    const effect = { events: [added(1)], timers: [setting('good'), change] };
    expect(await it.outcome('a', 'effect', effect)).toBe('failed value');
    expect(it.faults).toMatchObject([
      { fault: { message: `a command sets or cancels a timer that cannot be: ${reason}` } },
    ]);
    expect([it.timers, await it.outcome('a', 'history')]).toEqual([[], []]);
  });

  test.each([
    ['too many timers', [setting('one'), setting('two'), setting('three')]],
    ['an input that is too large', [setting('one', 'x'.repeat(100))]],
  ])('of a command with %s, which is refused', async (_what, timers) => {
    const it = new TimersUnderTest({ timers: { perEffectMax: 2, inputBytesMax: 100 } });
    const effect = { events: [added(1)], timers };
    expect(await it.call('a', 'effect', effect)).toMatchObject({
      kind: 'refusal',
      code: 'UNPROCESSABLE',
      message: expect.stringContaining('(SVC_TIMER_INVALID)') as string,
    });
    expect([it.timers, it.faults, await it.outcome('a', 'history')]).toEqual([[], [], []]);
  });
});

describe('from outside of the entity', () => {
  test('timers are set and cancelled while the entity is not in memory', async () => {
    const it = new TimersUnderTest();
    const timer = timerFor('a', 'add', 1);
    await it.engine.changeTimers(
      ref('a'),
      [{ kind: 'set', timer }],
      [['traceparent', `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`]],
    );
    expect(it.timers).toMatchObject([
      {
        owner: ref('a'),
        setMs: it.nowMs,
        traceParent: `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`,
      },
    ]);
    await it.cancel('a');
    await it.cancel('a');
    expect([it.timers, it.guest.opened]).toEqual([[], []]);
  });

  test('nothing depends on it, and it depends on nothing', async () => {
    const it = new TimersUnderTest();
    await it.outcome('a', 'total');
    it.journal.held = true;
    const lost = it.outcome('a', 'add', 1);
    const set = it.set('a', 'add', 5);
    await it.journal.fail();
    await it.journal.letAllThrough();
    expect(await lost).toBe('failed SVC_JOURNAL_UNAVAILABLE');
    await set;
    expect(it.timers).toHaveLength(1);
    it.journal.held = true;
    const cancelled = it.cancel('a').catch(failureOf);
    const stored = it.outcome('a', 'add', 2);
    await turns();
    await it.journal.fail();
    await it.journal.letAllThrough();
    expect([await cancelled, await stored]).toEqual(['SVC_JOURNAL_UNAVAILABLE', 2]);
    expect(it.timers).toHaveLength(1);
  });

  test.each([
    ['an unknown component', { component: 'Other', id: 'a' }, CANCEL],
    ['an id that cannot be', { component: COUNTER, id: '' }, CANCEL],
    ['a timer that cannot be', ref('a'), setting('')],
  ])('%s is denied with SVC_TIMER_INVALID', async (_what, owner, change) => {
    const it = new TimersUnderTest();
    await expect(it.engine.changeTimers(owner, [change], [])).rejects.toMatchObject({
      code: 'SVC_TIMER_INVALID',
    });
    expect(it.journal.appendCount).toBe(0);
  });

  test('is refused while too much waits for the disk, and while the engine stops', async () => {
    const it = new TimersUnderTest({ limits: { unsettledBytesMax: 100 } });
    it.journal.held = true;
    const set = it.set('a', 'add', 5);
    await expect(it.set('b', 'add', 5)).rejects.toMatchObject({ code: 'SVC_OVERLOADED' });
    await it.journal.letAllThrough();
    await set;
    await it.set('b', 'add', 5);
    const closed = it.engine.close();
    expect(() => it.engine.changeTimers(ref('a'), [CANCEL], [])).toThrow(
      expect.objectContaining({ code: 'SVC_STOPPING' }),
    );
    await closed;
  });

  test('a stop waits until it is on disk', async () => {
    const it = new TimersUnderTest();
    it.journal.held = true;
    const set = it.set('a', 'add', 5);
    let isClosed = false;
    const closed = it.engine.close().then(() => (isClosed = true));
    await turns();
    expect(isClosed).toBe(false);
    await it.journal.letAllThrough();
    await Promise.all([set, closed]);
    expect(it.timers).toHaveLength(1);
  });
});
