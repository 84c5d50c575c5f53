// CallFrames: contexts, effects, refusals and timers as frames, and back.
import { REFUSAL_CODES } from '@svc/contract';
import type { CallContext, Effect, Refusal } from '@svc/model/call';
import { NO_ACTIONS, DELETE_ENTITY, deletesEntity } from '@svc/model/call';
import type { Due, Timer, TimerChange } from '@svc/model/timer';
import type {
  Context as ContextFrame,
  Effect as EffectFrame,
  Refusal as RefusalFrame,
  Timer as TimerFrame,
  TimerChange as TimerChangeFrame,
} from './generated/svc/process/v1/process.ts';

import { ProtocolError, required } from './protocol-error.ts';

const CODES: ReadonlySet<string> = new Set<string>(REFUSAL_CODES);

export function contextFrame({ nowMs, seed, metadata }: CallContext): ContextFrame {
  return {
    nowMs,
    seedHigh: Number(BigInt.asUintN(32, seed >> 32n)),
    seedLow: Number(BigInt.asUintN(32, seed)),
    metadata: metadata.map(([name, value]) => ({ name, value })),
  };
}

export function contextOf(frame: ContextFrame | undefined): CallContext {
  const { nowMs, seedHigh, seedLow, metadata } = required(frame, 'a context');
  return {
    nowMs,
    seed: (BigInt(seedHigh) << 32n) | BigInt(seedLow),
    metadata: metadata.map(({ name, value }) => [name, value] as const),
  };
}

export function refusalFrame({ code, otherCode, message, details }: Refusal): RefusalFrame {
  return { code, otherCode: otherCode ?? '', message, details };
}

/** Throws ProtocolError for a code that does not exist. */
export function refusalOf({ code, otherCode, message, details }: RefusalFrame): Refusal {
  if (code !== 'OTHER' && !CODES.has(code))
    throw new ProtocolError(`a refusal has the code ${JSON.stringify(code.slice(0, 40))}`);
  return {
    kind: 'refusal',
    code: code as Refusal['code'],
    message,
    ...(code === 'OTHER' && { otherCode }),
    ...(details !== undefined && { details }),
  };
}

/** The result of an effect's events in the process. */
export interface SetAside {
  /** The reply from the state after the events, for an effect without a reply. */
  readonly reply: string | undefined;
  /** Why an event does not decode. */
  readonly problem: string | undefined;
}

export function effectFrame(effect: Effect, after: SetAside): EffectFrame {
  const { events, reply, timers = [] } = effect;
  return {
    events,
    deletesEntity: deletesEntity(effect),
    reply: reply ?? after.reply ?? '',
    repliesAfter: reply === undefined,
    timers: timers.map(timerChangeFrame),
    problem: after.problem ?? '',
  };
}

/** The reply of an effect that has none stays in the frame. Throws ProtocolError. */
export function effectOf(frame: EffectFrame): Effect {
  const { events, deletesEntity: isLast, repliesAfter, reply, timers } = frame;
  return {
    kind: 'effect',
    events,
    actions: isLast ? DELETE_ENTITY : NO_ACTIONS,
    reply: repliesAfter ? undefined : reply,
    ...(timers.length > 0 && { timers: timers.map(timerChangeOf) }),
  };
}

function timerChangeFrame(change: TimerChange): TimerChangeFrame {
  return change.kind === 'set'
    ? { change: { $case: 'set', value: timerFrame(change.timer) } }
    : { change: { $case: 'cancel', value: change.name } };
}

function timerChangeOf({ change }: TimerChangeFrame): TimerChange {
  const { $case, value } = required(change, 'a change of a timer');
  return $case === 'set' ? { kind: 'set', timer: timerOf(value) } : { kind: 'cancel', name: value };
}

export function timerFrame({ name, target, command, input, due, attempts }: Timer): TimerFrame {
  return { name, ...target, command, input, due: dueFrame(due), attempts };
}

/** Throws ProtocolError for a timer that is never due. */
export function timerOf({ name, component, id, command, input, ...frame }: TimerFrame): Timer {
  return {
    name,
    target: { component, id },
    command,
    input,
    due: dueOf(frame.due),
    ...(frame.attempts !== undefined && { attempts: frame.attempts }),
  };
}

function dueFrame(due: Due): TimerFrame['due'] {
  switch (due.kind) {
    case 'at':
      return { $case: 'atMs', value: due.atMs };
    case 'after':
      return { $case: 'afterMs', value: due.afterMs };
    case 'every':
      return { $case: 'everyMs', value: due.everyMs };
    case 'cron':
      return { $case: 'cron', value: { expression: due.expression, zone: due.zone } };
  }
}

function dueOf(frame: TimerFrame['due']): Due {
  const due = required(frame, 'the due of a timer');
  switch (due.$case) {
    case 'atMs':
      return { kind: 'at', atMs: due.value };
    case 'afterMs':
      return { kind: 'after', afterMs: due.value };
    case 'everyMs':
      return { kind: 'every', everyMs: due.value };
    case 'cron':
      return { kind: 'cron', expression: due.value.expression, zone: due.value.zone };
  }
}
