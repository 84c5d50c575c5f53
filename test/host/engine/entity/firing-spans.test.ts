// Spans of firings: a kind of their own, in the totals too, and none for a firing whose timer was cancelled or replaced.
import { expect, test } from 'vitest';
import type { TimerChange } from '../../../../model/timer.ts';
import { SpanRing } from '../../../../host/shards/recorder/span-ring.ts';
import { ShardNumbers } from '../../../../host/shards/shard-numbers.ts';
import { CounterGuest } from '../../../support/counter-guest.ts';
import { TimersUnderTest, changing } from '../../../support/timers-under-test.ts';

/** Returns an engine with a timer of the entity `a`, and what it records. */
async function recorded(command = 'add') {
  const numbers = new ShardNumbers(new CounterGuest().descriptor, 100);
  const ring = new SpanRing(numbers, 0);
  const it = new TimersUnderTest({ recorder: ring });
  await it.set('a', command, 5);
  const ended = () => ring.after(0, 10).map(({ kind, outcome }) => [kind, outcome]);
  return { it, numbers, ended, timer: it.timerOf('a')! };
}

test('a firing has a kind of its own, and is not counted as a command', async () => {
  const { it, numbers, ended, timer } = await recorded();
  await it.outcome('a', 'add', 1);
  await it.fire(timer);
  expect(ended()).toEqual([
    ['command', 'Ok'],
    ['firing', 'Ok'],
  ]);
  expect(numbers.totals.read().map(({ kind, counts: [ok] }) => [kind, ok])).toEqual([
    ['endpoint', 0],
    ['command', 1],
    ['query', 0],
    ['firing', 1],
    ['consumer', 0],
  ]);
});

test('each attempt that fails is a span', async () => {
  const { it, ended, timer } = await recorded('fault');
  expect(await it.fired(timer)).toBe('retried');
  expect(await it.fired(it.timerOf('a')!)).toBe('retried');
  expect(ended()).toEqual([
    ['firing', 'Failed'],
    ['firing', 'Failed'],
  ]);
});

test('a firing that loses to a command which cancels its timer is no failure', async () => {
  const { it, ended, timer } = await recorded();
  const cancel: TimerChange = { kind: 'cancel', name: 'tick' };
  const cancelled = it.call('a', 'effect', changing(cancel));
  const fired = it.fire(timer);
  await cancelled;
  expect(await fired).toEqual({ kind: 'gone' });
  expect(ended()).toEqual([['command', 'Ok']]);
});

test('a firing whose append loses to a cancellation on disk is no failure', async () => {
  const { it, ended, timer } = await recorded();
  await it.outcome('a', 'add', 1);
  it.journal.held = true;
  const cancelled = it.cancel('a');
  const fired = it.fire(timer);
  const after = it.outcome('a', 'add', 2);
  await it.journal.letAllThrough();
  await cancelled;
  expect(await fired).toEqual({ kind: 'gone' });
  expect(await after).toBe(3);
  expect(ended()).toEqual([
    ['command', 'Ok'],
    ['command', 'Ok'],
  ]);
});
