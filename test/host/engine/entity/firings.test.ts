// Firings of timers: what they do and store, what puts them off, and how they meet other calls of their entity and changes
// of their timer.
import { describe, expect, test } from 'vitest';
import type { TimerChange } from '../../../../model/timer.ts';
import { SvcError } from '../../../../kit/svc-error.ts';
import { SpanRing } from '../../../../host/shards/recorder/span-ring.ts';
import { ShardNumbers } from '../../../../host/shards/shard-numbers.ts';
import { CounterGuest, added } from '../../../support/counter-guest.ts';
import { turns } from '../../../support/engine-under-test.ts';
import { TimersUnderTest, changing, ref, timerFor } from '../../../support/timers-under-test.ts';

const TRACE = 'a'.repeat(32);
const TRACEPARENT = `00-${TRACE}-${'b'.repeat(16)}-01`;

async function withTimer(
  command = 'add',
  input: unknown = 5,
  more: Parameters<TimersUnderTest['set']>[3] = {},
  options: ConstructorParameters<typeof TimersUnderTest>[0] = {},
): Promise<TimersUnderTest> {
  const it = new TimersUnderTest(options);
  await it.set('a', command, input, more);
  return it;
}

describe('settles its timer', () => {
  test('with a reply: its events are stored, the timer is gone, and no reply is kept', async () => {
    const it = await withTimer();
    const timer = it.timerOf('a')!;
    expect(await it.fired(timer)).toBe('replied');
    expect(it.timers).toEqual([]);
    expect(await it.records('a')).toMatchObject([
      { kind: 'event', event: added(5), key: undefined },
    ]);
    expect(await it.fired(timer)).toBe('gone');
    expect(await it.outcome('a', 'history')).toEqual([5]);
  });

  test('with a reply without events, by one append', async () => {
    const it = await withTimer('noop');
    it.journal.appendCount = 0;
    expect(await it.fired(it.timerOf('a')!)).toBe('replied');
    expect([it.timers, it.journal.appendCount]).toEqual([[], 1]);
    expect(await it.records('a')).toEqual([]);
  });

  test('with a refusal', async () => {
    const it = await withTimer('take', 9);
    expect(await it.fire(it.timerOf('a')!)).toEqual({ kind: 'refused', code: 'CONFLICT' });
    expect(it.timers).toEqual([]);
  });

  test('of another entity', async () => {
    const it = await withTimer();
    const set: TimerChange = { kind: 'set', timer: timerFor('b', 'add', 7) };
    await it.outcome('a', 'effect', changing(set));
    expect(it.timerOf('a')).toMatchObject({ target: ref('b'), owner: ref('a') });
    expect(await it.fired(it.timerOf('a')!)).toBe('replied');
    expect([it.timers, await it.outcome('b', 'history')]).toEqual([[], [7]]);
  });

  test('of a recurring timer: its next occurrence is due', async () => {
    const it = await withTimer('add', 5, { due: { kind: 'every', everyMs: 60_000 } });
    const timer = it.timerOf('a')!;
    const rearmMs = timer.dueMs + 60_000;
    expect(await it.fired(timer, { rearmMs })).toBe('replied');
    expect(it.timerOf('a')).toMatchObject({
      number: timer.number,
      dueMs: rearmMs,
      nextMs: rearmMs,
    });
    expect(await it.fired(timer, { rearmMs })).toBe('gone');
    expect(await it.outcome('a', 'history')).toEqual([5]);
  });

  test('that its own command sets again, or cancels', async () => {
    const again: TimerChange = { kind: 'set', timer: timerFor('a', 'add', 2) };
    const it = await withTimer('effect', changing(again));
    const timer = it.timerOf('a')!;
    expect(await it.fired(timer)).toBe('replied');
    expect(it.timerOf('a')!.number).not.toBe(timer.number);
    const cancel: TimerChange = { kind: 'cancel', name: 'tick' };
    await it.set('a', 'effect', changing(cancel), { due: { kind: 'every', everyMs: 1_000 } });
    expect(await it.fired(it.timerOf('a')!, { rearmMs: it.nowMs + 5_000 })).toBe('replied');
    expect(it.timers).toEqual([]);
  });

  test('that a command which deletes the entity has left behind', async () => {
    const it = await withTimer();
    const timer = it.timerOf('a')!;
    await it.outcome('a', 'remove', 0);
    expect([it.timers, await it.fired(timer)]).toEqual([[], 'gone']);
  });
});

describe('its command has', () => {
  test('the time, a seed, the occurrence and the trace of the call that has set the timer', async () => {
    const numbers = new ShardNumbers(new CounterGuest().descriptor, 100);
    const ring = new SpanRing(numbers, 0);
    const it = new TimersUnderTest({ recorder: ring });
    const set: TimerChange = { kind: 'set', timer: timerFor('a', 'tell', 3) };
    await it.call('a', 'effect', changing(set), [['traceparent', TRACEPARENT]]);
    const timer = it.timerOf('a')!;
    expect(timer.traceParent).toMatch(new RegExp(`^00-${TRACE}-[0-9a-f]{16}-01$`));
    it.nowMs += 5_000;
    let context: unknown;
    it.guest.laterReply = (given) => {
      context = given;
      return undefined;
    };
    await it.fire(timer, { missed: 2 });
    expect(context).toMatchObject({
      nowMs: it.nowMs,
      seed: expect.any(BigInt) as bigint,
      metadata: [
        ['traceparent', expect.stringMatching(`^00-${TRACE}-`)],
        ['timer-due-ms', String(timer.dueMs)],
        ['timer-missed', '2'],
      ],
    });
    expect((await it.records('a')).map(({ trace }) => trace)).toEqual([TRACE]);
    const [setting, firing] = ring.after(0, 10);
    expect(firing).toMatchObject({ handler: 'tell', outcome: 'Ok', parentId: setting!.spanId });
  });

  test('a trace that begins with it, if the call that has set the timer had none', async () => {
    const numbers = new ShardNumbers(new CounterGuest().descriptor, 100);
    const ring = new SpanRing(numbers, 0);
    const it = await withTimer('add', 5, {}, { recorder: ring });
    await it.fire(it.timerOf('a')!);
    const [span] = ring.after(0, 10);
    expect(span).toMatchObject({ handler: 'add', parentId: undefined });
    expect((await it.records('a'))[0]!.trace).toMatch(/^[0-9a-f]{32}$/);
  });
});

describe('is put off', () => {
  test.each([
    ['a fault', 'fault', null, 'fault of entity a'],
    ['an event that cannot be folded', 'poison', null, 'poison of entity a'],
    [
      'a refusal because of too many requests',
      'effect',
      { kind: 'refusal', code: 'TOO_MANY_REQUESTS', message: 'the bank is busy' },
      'it was refused with TOO_MANY_REQUESTS: the bank is busy',
    ],
    [
      'a timer that cannot be',
      'effect',
      changing({ kind: 'cancel', name: '' }),
      "a command sets or cancels a timer that cannot be: the name '' of a timer is empty",
    ],
  ])('by %s, until it is dead', async (_what, command, input, reason) => {
    const it = await withTimer(command, input, { attempts: 2 });
    const timer = it.timerOf('a')!;
    const outcome = await it.fire(timer);
    expect(outcome.kind).toBe('retried');
    const { nextMs = 0 } = it.timerOf('a')!;
    expect(it.timerOf('a')).toMatchObject({ dueMs: timer.dueMs, attempts: 1, fault: reason });
    expect(outcome).toEqual({ kind: 'retried', nextMs });
    expect(nextMs - it.nowMs).toBeGreaterThanOrEqual(0);
    expect(nextMs - it.nowMs).toBeLessThan(1_000);
    expect(await it.fired(timer)).toBe('gone');
    expect(await it.fire(it.timerOf('a')!)).toEqual({ kind: 'dead' });
    expect(it.memory.timer(timer.number)).toMatchObject({ nextMs: undefined, attempts: 2 });
    expect(it.deadTimers).toEqual([[expect.objectContaining({ owner: ref('a') }), 2, reason]]);
    expect(await it.outcome('a', 'history')).toEqual([]);
  });

  test('as often as the settings say, if the timer does not say it', async () => {
    const it = await withTimer('fault', null, {}, { timers: { attemptsMax: 3 } });
    const ends: string[] = [];
    for (let timer = it.timerOf('a'); timer !== undefined; timer = it.timerOf('a'))
      ends.push(await it.fired(timer));
    expect(ends).toEqual(['retried', 'retried', 'dead']);
  });

  test('with a reason that is short and on one line', async () => {
    const message = `a\n\u001b[31m${'😀'.repeat(2_000)}`;
    const it = await withTimer('effect', { kind: 'refusal', code: 'TOO_MANY_REQUESTS', message });
    await it.fire(it.timerOf('a')!);
    const { fault = '' } = it.timerOf('a')!;
    expect(fault).toContain(String.raw`a\u{a}\u{1b}[31m`);
    expect(fault.isWellFormed()).toBe(true);
    expect(fault.length).toBeLessThan(1_100);
  });

  test('while the module has no such command, and no longer', async () => {
    const it = await withTimer();
    const timer = it.timerOf('a')!;
    expect(await it.fired(timer, { command: 'gone' })).toBe('retried');
    const fault = "the timer names the command 'gone', which component 'Counter' does not have";
    expect(it.timerOf('a')).toMatchObject({ attempts: 1, fault });
    expect(it.guest.opened).toEqual([]);
    expect(await it.fired(it.timerOf('a')!)).toBe('replied');
    expect(await it.outcome('a', 'history')).toEqual([5]);
  });

  test('never, if its schedule cannot be evaluated: it is dead at once, and calls no guest', async () => {
    const it = await withTimer('add', 5, { due: { kind: 'every', everyMs: 1_000 } });
    const timer = it.timerOf('a')!;
    const scheduleProblem = 'the schedule of the timer cannot be evaluated: no such zone';
    expect(await it.fired(timer, { scheduleProblem })).toBe('dead');
    expect(it.memory.timer(timer.number)).toMatchObject({
      nextMs: undefined,
      fault: scheduleProblem,
    });
    expect(it.guest.opened).toEqual([]);
  });
});

describe('stores nothing and costs no attempt', () => {
  test('when its append fails, and can be fired again', async () => {
    const it = await withTimer();
    const timer = it.timerOf('a')!;
    it.journal.held = true;
    const fired = it.fire(timer);
    await turns();
    await it.journal.fail(new SvcError('SVC_DISK_FULL', 'full'));
    expect(await fired).toMatchObject({ kind: 'unavailable', failure: { code: 'SVC_DISK_FULL' } });
    expect(it.timerOf('a')).toEqual(timer);
    it.journal.held = false;
    it.nowMs += 2_000;
    expect(await it.fired(timer)).toBe('replied');
    expect(await it.outcome('a', 'history')).toEqual([5]);
  });

  test('when the journal cannot be read', async () => {
    const it = await withTimer();
    it.journal.readFailure = new SvcError('SVC_JOURNAL_UNAVAILABLE', 'away');
    expect(await it.fired(it.timerOf('a')!)).toBe('unavailable');
    expect(it.timerOf('a')!.attempts).toBe(0);
  });

  test('when too much waits for its entity, and when the engine is closed', async () => {
    const it = await withTimer('add', 5, {}, { limits: { callsPerEntityMax: 1 } });
    const timer = it.timerOf('a')!;
    it.journal.held = true;
    const command = it.call('a', 'add', 1);
    expect(await it.fire(timer)).toMatchObject({ failure: { code: 'SVC_OVERLOADED' } });
    await it.journal.letAllThrough();
    await command;
    await it.engine.close();
    expect(await it.fire(timer)).toMatchObject({ failure: { code: 'SVC_STOPPING' } });
    expect(it.timerOf('a')).toEqual(timer);
  });
});

describe('runs alone:', () => {
  test('after the append of every earlier command, and before every later call', async () => {
    const it = await withTimer();
    await it.outcome('a', 'total');
    it.guest.calls.length = 0;
    it.journal.held = true;
    const before = it.call('a', 'add', 1);
    const fired = it.fire(it.timerOf('a')!);
    const after = [it.call('a', 'add', 2), it.outcome('a', 'total'), it.call('a', 'add', 3)];
    await turns();
    expect(it.guest.calls).toEqual(['add', 'apply']);
    await it.journal.letThrough();
    await turns();
    expect(it.guest.calls).toEqual(['add', 'apply', 'add', 'apply']);
    await it.journal.letThrough();
    expect((await fired).kind).toBe('replied');
    await turns();
    expect(it.guest.calls.slice(4)).toEqual(['add', 'apply', 'total', 'add', 'apply']);
    await it.journal.letAllThrough();
    await Promise.all([before, ...after]);
    expect(await it.outcome('a', 'history')).toEqual([1, 5, 2, 3]);
  });

  test('an occurrence that was put off meanwhile has no effect, and commands are pipelined again', async () => {
    const it = await withTimer('fault');
    const timer = it.timerOf('a')!;
    expect(await it.fired(timer)).toBe('retried');
    expect([await it.fired(timer), it.timerOf('a')!.attempts]).toEqual(['gone', 1]);
    await it.set('a', 'add', 5);
    await it.fired(it.timerOf('a')!);
    it.guest.calls.length = 0;
    it.journal.held = true;
    const commands = [it.call('a', 'add', 1), it.call('a', 'add', 2)];
    expect(it.guest.calls).toEqual(['add', 'apply', 'add', 'apply']);
    await it.journal.letAllThrough();
    await Promise.all(commands);
  });

  test('a command before it that cancels the timer wins', async () => {
    const it = await withTimer();
    const timer = it.timerOf('a')!;
    const cancel: TimerChange = { kind: 'cancel', name: 'tick' };
    const cancelled = it.call('a', 'effect', changing(cancel));
    const fired = it.fire(timer);
    await cancelled;
    expect(await fired).toEqual({ kind: 'gone' });
    expect(await it.records('a')).toEqual([]);
    expect(await it.outcome('a', 'history')).toEqual([]);
  });

  test('a cancellation that is on disk before its append wins, and fails no other call', async () => {
    const it = await withTimer();
    const timer = it.timerOf('a')!;
    await it.outcome('a', 'add', 1);
    it.journal.held = true;
    const cancelled = it.cancel('a');
    const fired = it.fire(timer);
    const after = [it.outcome('a', 'add', 2), it.outcome('a', 'history')];
    await it.journal.letAllThrough();
    await cancelled;
    expect(await fired).toEqual({ kind: 'gone' });
    expect(await Promise.all(after)).toEqual([3, [1, 2]]);
    expect(it.timers).toEqual([]);
  });

  test('a timer that is set again before its append stays as it was set', async () => {
    const it = await withTimer();
    const timer = it.timerOf('a')!;
    it.journal.held = true;
    const set = it.set('a', 'add', 9);
    const fired = it.fire(timer);
    await it.journal.letAllThrough();
    await set;
    expect(await fired).toEqual({ kind: 'gone' });
    expect(it.timers).toMatchObject([{ input: '9' }]);
    expect(await it.outcome('a', 'history')).toEqual([]);
  });

  test('of two firings of one occurrence, one has an effect', async () => {
    const it = await withTimer();
    const timer = it.timerOf('a')!;
    const ends = await Promise.all([it.fired(timer), it.fired(timer), it.fired(timer)]);
    expect(ends.toSorted()).toEqual(['gone', 'gone', 'replied']);
    expect(await it.outcome('a', 'history')).toEqual([5]);
  });

  test('it is retried on the state of the disk, after a failed append before it', async () => {
    const it = await withTimer('tell', 5);
    await it.outcome('a', 'total');
    it.journal.held = true;
    const lost = it.outcome('a', 'add', 1);
    const fired = it.fired(it.timerOf('a')!);
    await it.journal.fail();
    expect(await lost).toBe('failed SVC_JOURNAL_UNAVAILABLE');
    await turns();
    await it.journal.letAllThrough();
    expect(await fired).toBe('replied');
    expect(await it.outcome('a', 'history')).toEqual([5]);
  });
});

describe('a stop', () => {
  test('waits for a firing and for what it stores, and the entity does not leave memory meanwhile', async () => {
    const it = await withTimer('add', 5, {}, { limits: { idleTimeoutMs: 1 } });
    await it.set('b', 'fault');
    it.journal.held = true;
    const ends = [it.fired(it.timerOf('a')!), it.fired(it.timerOf('b')!)];
    await turns();
    await it.engine.passivate();
    it.nowMs += 1_000;
    await it.engine.passivate();
    expect(it.engine.numbers.passivations).toBe(0);
    let isClosed = false;
    const closed = it.engine.close().then(() => (isClosed = true));
    await turns();
    expect(isClosed).toBe(false);
    await it.journal.letAllThrough();
    await closed;
    expect(await Promise.all(ends)).toEqual(['replied', 'retried']);
    expect(it.guest.violations).toEqual([]);
  });

  test('whose time is over fails a firing that waits, which stores nothing', async () => {
    const it = await withTimer();
    await it.outcome('a', 'total');
    it.journal.held = true;
    const command = it.call('a', 'add', 1);
    const fired = it.fire(it.timerOf('a')!);
    const closed = it.engine.close();
    it.engine.cancel();
    await it.journal.letAllThrough();
    await Promise.all([command, closed]);
    expect(await fired).toMatchObject({ kind: 'unavailable', failure: { code: 'SVC_STOPPING' } });
    expect(it.timerOf('a')!.attempts).toBe(0);
  });
});

test('a firing of a guest that answers later, in an instance that another entity destroys, runs again', async () => {
  const it = new TimersUnderTest({ later: true, perInstance: 2 });
  await it.outcome('a', 'total');
  await it.outcome('b', 'total');
  await it.set('a', 'add', 5);
  const ends = [it.outcome('b', 'fault'), it.fired(it.timerOf('a')!)];
  const [fault, end] = await Promise.all(ends);
  expect(fault).toBe('failed trap');
  expect(['replied', 'retried']).toContain(end);
  const [left] = it.timers;
  if (left !== undefined) await it.fired(left);
  expect(it.timers).toEqual([]);
  expect(await it.outcome('a', 'history')).toEqual([5]);
  expect(it.guest.violations).toEqual([]);
});
