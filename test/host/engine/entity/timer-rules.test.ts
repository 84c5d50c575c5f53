// The rules for changes of timers: what is stored, and what is refused with which reason.
import { describe, expect, test } from 'vitest';
import { componentsOf } from '../../../../host/engine/entity/component-table.ts';
import { TimerRules, timerWrite } from '../../../../host/engine/entity/timer-rules.ts';
import type { Due, Timer, TimerChange } from '../../../../model/timer.ts';
import { COUNTER, CounterGuest } from '../../../support/counter-guest.ts';

const NOW_MS = 1_700_000_000_000;
const YEAR_10000_MS = 253_402_300_800_000;
const rules = new TimerRules(componentsOf(new CounterGuest()), {
  perEffectMax: 3,
  inputBytesMax: 64,
});

function timer(changed: Partial<Timer> = {}): Timer {
  return {
    name: 'expire',
    target: { component: COUNTER, id: 'a' },
    command: 'add',
    input: '1',
    due: { kind: 'after', afterMs: 1_000 },
    ...changed,
  };
}

function problemOf(...timers: readonly Partial<Timer>[]): string | undefined {
  const changes = timers.map((one): TimerChange => ({ kind: 'set', timer: timer(one) }));
  return rules.problemOf(changes, NOW_MS)?.text;
}

describe('a change that can be carried out passes', () => {
  test.each<[string, Partial<Timer>]>([
    ['due after a while', {}],
    ['due at once', { due: { kind: 'after', afterMs: 0 } }],
    ['due in the past', { due: { kind: 'at', atMs: 0 } }],
    ['due at the end of year 9999', { due: { kind: 'at', atMs: YEAR_10000_MS - 1 } }],
    ['due after a while that ends with year 9999', { due: after(YEAR_10000_MS - 1 - NOW_MS) }],
    ['due each second', { due: { kind: 'every', everyMs: 1_000 } }],
    ['due by a cron expression', { due: { kind: 'cron', expression: '0 9 * * MON', zone: '' } }],
    ['due in a time zone', { due: { kind: 'cron', expression: '@daily', zone: 'Europe/Berlin' } }],
    ['with one attempt', { attempts: 1 }],
    ['with a name of any language and quotes', { name: `Zahlung "'; drop` }],
    ['with an input of the largest size', { input: `"${'ü'.repeat(31)}"` }],
    ['for another entity', { target: { component: COUNTER, id: 'b' } }],
  ])('a timer %s', (_what, given) => {
    expect(problemOf(given)).toBeUndefined();
  });

  test('a cancellation, and as many changes as are allowed', () => {
    const cancel: TimerChange = { kind: 'cancel', name: 'expire' };
    expect(rules.problemOf([cancel, cancel, cancel], NOW_MS)).toBeUndefined();
  });
});

describe('a change that cannot be carried out is refused with its reason', () => {
  test.each<[string, Partial<Timer>, string]>([
    ['without a name', { name: '' }, "the name '' of a timer is empty"],
    ['with a long name', { name: 'n'.repeat(257) }, 'is longer than 256 UTF-16 code units'],
    ['with a line feed in its name', { name: 'a\nb' }, 'contains a control character'],
    ['with half a surrogate pair in its name', { name: '\ud800' }, 'half of a surrogate pair'],
    ['for no component', { target: { component: 'Other', id: 'a' } }, "component 'Other', which"],
    ['for no entity', { target: { component: COUNTER, id: '' } }, 'an entity whose id is empty'],
    ['with no command', { command: 'nothing' }, "the command 'nothing', which component 'Counter'"],
    ['with a name of every object', { command: 'constructor' }, "the command 'constructor'"],
    ['with a query', { command: 'total' }, "the query 'total', but only a command"],
    ['without an input', { input: '' }, 'an input that is not JSON text'],
    ['with NUL in its input', { input: '"\0"' }, 'an input that is not JSON text'],
    ['with half a character in its input', { input: '"\udfff"' }, 'an input that is not JSON text'],
    ['due after year 9999', { due: { kind: 'at', atMs: YEAR_10000_MS } }, 'after the year 9999'],
    ['due after a while that ends later', { due: after(YEAR_10000_MS - NOW_MS) }, 'year 9999'],
    ['due at no time', { due: { kind: 'at', atMs: Number.NaN } }, 'milliseconds: NaN'],
    ['due at infinity', { due: { kind: 'at', atMs: Infinity } }, 'milliseconds: Infinity'],
    ['due before a negative while', { due: after(-1) }, 'milliseconds: -1'],
    ['due at half a millisecond', { due: after(0.5) }, 'milliseconds: 0.5'],
    ['due too often', { due: { kind: 'every', everyMs: 999 } }, 'every 999 ms, at least 1000 ms'],
    ['due each NaN', { due: { kind: 'every', everyMs: Number.NaN } }, 'milliseconds: NaN'],
    ['due too rarely', { due: { kind: 'every', everyMs: 1e15 } }, 'after the year 9999'],
    ['with seconds in cron', { due: cron('0 0 9 * * *') }, 'seconds are not supported'],
    ['that never fires', { due: cron('0 0 30 2 *') }, 'never fires'],
    ['with a long cron expression', { due: cron('*'.repeat(50_000)) }, 'has 50000 characters'],
    ['of an unknown zone', { due: cron('@daily', 'Mars/Base') }, "the time zone 'Mars/Base'"],
    ['without attempts', { attempts: 0 }, 'has 0 attempts'],
    ['with half an attempt', { attempts: 1.5 }, 'has 1.5 attempts'],
  ])('a timer %s', (_what, given, reason) => {
    expect(problemOf({}, given)).toContain(reason);
  });

  test('a cancellation without a name', () => {
    expect(rules.problemOf([{ kind: 'cancel', name: '' }], NOW_MS)?.text).toContain('is empty');
  });

  test('too many changes at once, and an input that is too large, as depending on what was sent', () => {
    const set: TimerChange = { kind: 'set', timer: timer() };
    expect(rules.problemOf([set, set, set, set], NOW_MS)).toEqual({
      text: '4 timers are changed at once, 3 are allowed',
      isTooLarge: true,
    });
    const large: TimerChange = { kind: 'set', timer: timer({ input: `"${'ü'.repeat(32)}"` }) };
    expect(rules.problemOf([large], NOW_MS)).toEqual({
      text: "the input of timer 'expire' takes more than 64 bytes",
      isTooLarge: true,
    });
  });
});

describe('is stored', () => {
  const cause = { nowMs: NOW_MS, traceParent: 'trace' };

  test('with its due time counted from the call that sets it', () => {
    expect(timerWrite({ kind: 'set', timer: timer({ attempts: 3 }) }, cause)).toEqual({
      kind: 'set',
      name: 'expire',
      target: { component: COUNTER, id: 'a' },
      command: 'add',
      input: '1',
      due: { kind: 'at', atMs: NOW_MS + 1_000 },
      attemptsMax: 3,
      setMs: NOW_MS,
      traceParent: 'trace',
    });
  });

  test.each<Due>([
    { kind: 'at', atMs: 5 },
    { kind: 'every', everyMs: 1_000 },
    { kind: 'cron', expression: '@daily', zone: '' },
  ])('with the time or schedule that it was given: %j', (due) => {
    expect(timerWrite({ kind: 'set', timer: timer({ due }) }, cause)).toMatchObject({ due });
  });
});

function after(afterMs: number): Due {
  return { kind: 'after', afterMs };
}

function cron(expression: string, zone = ''): Due {
  return { kind: 'cron', expression, zone };
}
