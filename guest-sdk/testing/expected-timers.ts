// ExpectedTimers: the changes of timers that a test expects of a command, and the comparison with those that it made.
import type { Due, TimerChange } from '@svc/host/tools';
import { jsonValue, parsed } from './json-value.ts';
import { type StackStart, expectEqual } from './test-failure.ts';
import { type Time, isoText } from './test-inputs.ts';

/** A timer that a command sets. Only `set` is required; an absent field may have any value. */
export interface ExpectedTimer {
  /** Name of the timer. */
  readonly set: string;
  /** The time of `Due.at`. */
  readonly at?: Time;
  /** The milliseconds of `Due.after`. */
  readonly afterMs?: number;
  /** The milliseconds of `Due.every`. */
  readonly everyMs?: number;
  /** The expression of `Due.cron`. */
  readonly cron?: string;
  /** The time zone of `Due.cron`. */
  readonly zone?: string;
  /** Wire name of the command that the timer sends. */
  readonly command?: string;
  /** Input of that command; null if it takes none. */
  readonly input?: unknown;
  /** Component id of the entity that the timer sends its command to. */
  readonly component?: string;
  /** Id of that entity. */
  readonly id?: string;
  readonly attempts?: number;
}

/** A change of a timer that a command makes: a timer that it sets, or the name of one that it cancels. */
export type ExpectedTimerChange = ExpectedTimer | { readonly cancel: string };

/**
 * Compares the changes of timers with those that a test expects, in their order. `message`: the failure's message if they
 * differ.
 */
export function expectTimers(
  changes: readonly TimerChange[],
  expected: readonly ExpectedTimerChange[],
  message: string,
  stackStart: StackStart,
): void {
  const wanted = expected.map((change) => comparable(change));
  const found = changes.map((change, index) => {
    const all = fieldsOf(change);
    const named = wanted[index];
    return named === undefined ? all : fieldsLike(named, all);
  });
  expectEqual(found, wanted, message, stackStart);
}

function comparable(change: ExpectedTimerChange): Record<string, unknown> {
  if ('cancel' in change || change.at === undefined) return { ...(jsonValue(change) as object) };
  return { ...(jsonValue(change) as object), at: isoText(change.at) };
}

/** Returns the fields that the expectation has; if it is about another timer, all of them. */
function fieldsLike(
  wanted: Record<string, unknown>,
  all: Record<string, unknown>,
): Record<string, unknown> {
  if (wanted['set'] !== all['set'] || wanted['cancel'] !== all['cancel']) return all;
  return Object.fromEntries(Object.entries(all).filter(([field]) => field in wanted));
}

function fieldsOf(change: TimerChange): Record<string, unknown> {
  if (change.kind === 'cancel') return { cancel: change.name };
  const { name, target, command, input, due, attempts } = change.timer;
  return {
    set: name,
    ...dueFields(due),
    command,
    input: parsed(input),
    component: target.component,
    id: target.id,
    ...(attempts === undefined ? {} : { attempts }),
  };
}

function dueFields(due: Due): Record<string, unknown> {
  switch (due.kind) {
    case 'at':
      return { at: isoText(due.atMs) };
    case 'after':
      return { afterMs: due.afterMs };
    case 'every':
      return { everyMs: due.everyMs };
    case 'cron':
      return { cron: due.expression, zone: due.zone };
  }
}
