// TimerRules: the rules for the changes of timers that a command, a handler or a consumer makes, and the form in which they
// are stored. A timer that could never be fired as it was meant is refused when it is set, since nobody waits for its
// firing.
//
// Invariant: a change that has passed is stored as it is: its texts return unchanged from storage, and every time is in
// years 1970 to 9999.
import { EVERY_MS_MIN, TIME_MS_MAX, cronProblem, timeZoneProblem } from '@svc/contract';
import { traceParentTextOf } from '@svc/kit/trace-context';
import type { CallContext } from '@svc/model/call';
import type { EntityRef } from '@svc/model/entity';
import type { Due, Timer, TimerChange } from '@svc/model/timer';
import { entityIdProblem } from '../entity-id.ts';
import type { Firing } from '../firing.ts';
import type { TimerToStore, TimerWrite, TimerWrites } from '../needs/timers.ts';
import { quoted } from '../quoted.ts';
import { fitsUtf8 } from '../text-size.ts';
import type { TimerSettings } from '../timer-settings.ts';
import type { EntityCall, HandlerKind } from './entity-call.ts';

const ATTEMPTS_MAX = 1_000_000;

/** The data of a call that changes timers. */
export interface TimerCause {
  /** Time of the call, in milliseconds since 1970-01-01T00:00:00Z. */
  readonly nowMs: number;
  /** The `traceparent` of the call; undefined if it has none. */
  readonly traceParent: string | undefined;
}

/** The reason why changes of timers are not stored. `isTooLarge`: it depends on the size of the data that the caller has sent. */
export interface TimerProblem {
  /** One sentence without its end, such as "the timer 'x' has …". */
  readonly text: string;
  readonly isTooLarge: boolean;
}

export type TimerChangeLimits = Pick<TimerSettings, 'perEffectMax' | 'inputBytesMax'>;

/** The components of a module by name, each with the kinds of its handlers by name. */
export interface HandlerKinds {
  get(component: string): { readonly handlers: KindsByName } | undefined;
}

interface KindsByName {
  get(name: string): { readonly kind: HandlerKind } | undefined;
}

export class TimerRules {
  readonly #components: HandlerKinds;
  readonly #limits: TimerChangeLimits;

  constructor(components: HandlerKinds, limits: TimerChangeLimits) {
    this.#components = components;
    this.#limits = limits;
  }

  /** Returns what is wrong with the changes that one call makes at `nowMs`; undefined if they may be stored. */
  problemOf(changes: readonly TimerChange[], nowMs: number): TimerProblem | undefined {
    const max = this.#limits.perEffectMax;
    if (changes.length > max)
      return tooLarge(`${changes.length} timers are changed at once, ${max} are allowed`);
    for (const change of changes) {
      const problem =
        change.kind === 'cancel'
          ? nameProblem(change.name)
          : this.#timerProblem(change.timer, nowMs);
      if (problem !== undefined) return problem;
    }
    return undefined;
  }

  /** Returns the end of a sentence about why no timer can belong to the entity; undefined if timers can. */
  ownerProblem({ component, id }: EntityRef): string | undefined {
    if (this.#components.get(component) === undefined)
      return `names the component ${quoted(component)}, which does not exist`;
    const problem = entityIdProblem(id);
    return problem === undefined ? undefined : `names an entity whose id ${problem}`;
  }

  /** Returns the end of a sentence about why the entity does not know the command; undefined if it does. */
  commandProblem({ component }: Pick<EntityRef, 'component'>, command: string): string | undefined {
    const handler = this.#components.get(component)?.handlers.get(command);
    if (handler === undefined)
      return `names the command ${quoted(command)}, which component ${quoted(component)} does not have`;
    return handler.kind === 'query'
      ? `names the query ${quoted(command)}, but only a command can be sent by a timer`
      : undefined;
  }

  #timerProblem(timer: Timer, nowMs: number): TimerProblem | undefined {
    const { name, target, command, input, due, attempts } = timer;
    const problem = nameProblem(name);
    if (problem !== undefined) return problem;
    const max = this.#limits.inputBytesMax;
    if (!fitsUtf8(input, max))
      return tooLarge(`the input of timer ${quoted(name)} takes more than ${max} bytes`);
    const text =
      this.ownerProblem(target) ??
      this.commandProblem(target, command) ??
      inputProblem(input) ??
      dueProblem(due, nowMs) ??
      attemptsProblem(attempts);
    return text === undefined ? undefined : wrong(`timer ${quoted(name)} ${text}`);
  }
}

/**
 * Returns the changes of timers that the append of a command makes; undefined if there are none. `changes`: those of its
 * effect. `context`: the context of the command.
 */
export function timerWrites(
  { firing }: Pick<EntityCall, 'firing'>,
  changes: readonly TimerChange[] | undefined,
  { nowMs, metadata }: Pick<CallContext, 'nowMs' | 'metadata'>,
): TimerWrites | undefined {
  const areNone = changes === undefined || changes.length === 0;
  if (areNone && firing === undefined) return undefined;
  const cause = { nowMs, traceParent: traceParentTextOf(metadata) };
  return {
    firing: firing && firingEnd(firing),
    changes: areNone ? [] : changes.map((change) => timerWrite(change, cause)),
  };
}

/** Returns the change that the append of a firing makes to its timer, when the firing was answered. */
function firingEnd({ number, dueMs, attempts, rearmMs }: Firing): TimerWrites['firing'] {
  return {
    occurrence: { number, dueMs, attempts },
    end: rearmMs === undefined ? { kind: 'remove' } : { kind: 'rearm', dueMs: rearmMs },
  };
}

/** Returns the change as it is stored. The change must have passed `TimerRules.problemOf`. */
export function timerWrite(change: TimerChange, { nowMs, traceParent }: TimerCause): TimerWrite {
  if (change.kind === 'cancel') return change;
  const { name, target, command, input, due, attempts } = change.timer;
  return {
    kind: 'set',
    name,
    target,
    command,
    input,
    due: storedDue(due, nowMs),
    attemptsMax: attempts,
    setMs: nowMs,
    traceParent,
  };
}

function storedDue(due: Due, nowMs: number): TimerToStore['due'] {
  return due.kind === 'after' ? { kind: 'at', atMs: nowMs + due.afterMs } : due;
}

function nameProblem(name: string): TimerProblem | undefined {
  const problem = entityIdProblem(name);
  return problem === undefined
    ? undefined
    : wrong(`the name ${quoted(name)} of a timer ${problem}`);
}

function inputProblem(input: string): string | undefined {
  // Such a text is not JSON, and storage would not return it unchanged.
  return input === '' || !input.isWellFormed() || input.includes('\0')
    ? 'has an input that is not JSON text'
    : undefined;
}

function dueProblem(due: Due, nowMs: number): string | undefined {
  switch (due.kind) {
    case 'at':
      return timeProblem(due.atMs, 0, due.atMs);
    case 'after':
      return timeProblem(due.afterMs, 0, nowMs + due.afterMs);
    case 'every':
      return due.everyMs < EVERY_MS_MIN
        ? `is due every ${due.everyMs} ms, at least ${EVERY_MS_MIN} ms are needed`
        : timeProblem(due.everyMs, EVERY_MS_MIN, nowMs + due.everyMs);
    case 'cron': {
      const problem = cronProblem(due.expression);
      if (problem !== undefined)
        return `has the cron expression ${quoted(due.expression)}, which ${problem}`;
      const zoneProblem = due.zone === '' ? undefined : timeZoneProblem(due.zone);
      return zoneProblem === undefined
        ? undefined
        : `has the time zone ${quoted(due.zone)}, which ${zoneProblem}`;
    }
  }
}

/** `given`: the number that was given. `timeMs`: the time that it stands for. */
function timeProblem(given: number, min: number, timeMs: number): string | undefined {
  if (!Number.isInteger(given) || given < min)
    return `is due at a time that is not a whole number of milliseconds: ${given}`;
  return timeMs > TIME_MS_MAX ? 'is due after the year 9999' : undefined;
}

function attemptsProblem(attempts: number | undefined): string | undefined {
  return attempts === undefined ||
    (Number.isInteger(attempts) && attempts >= 1 && attempts <= ATTEMPTS_MAX)
    ? undefined
    : `has ${attempts} attempts, 1 to ${ATTEMPTS_MAX} are allowed`;
}

function wrong(text: string): TimerProblem {
  return { text, isTooLarge: false };
}

function tooLarge(text: string): TimerProblem {
  return { text, isTooLarge: true };
}
