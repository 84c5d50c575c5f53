// CallFailure: the failure of a call or a read as the module receives it: a word of `CallFailureWord` and a text. Both
// are fixed for each failure, because a message of the host may contain paths and names that the module must not see.
// A handler that answers with the same word and text passes that failure on, so failures for which callers get
// different statuses have different texts.
import { GuestFault } from './guest-fault.ts';
import { SvcError, type SvcErrorCode } from '@svc/kit/svc-error';

/**
 * DENIED: the runtime does not allow the call, and nothing was executed. UNAVAILABLE: nothing was executed. TIMED_OUT: it is unknown whether the call was executed. INTERNAL: the called
 * component or the runtime failed.
 */
export type CallFailureWord = 'DENIED' | 'UNAVAILABLE' | 'TIMED_OUT' | 'INTERNAL';

export interface CallFailure {
  readonly word: CallFailureWord;
  /** Empty for TIMED_OUT: the contract has no text there, and the SDK writes one of its own. */
  readonly text: string;
}

/** Failures after which the caller may try again, with the text that the module receives. */
const NOTHING_DONE: ReadonlyMap<SvcErrorCode, string> = new Map([
  ['SVC_OVERLOADED', 'too much is waiting'],
  ['SVC_STOPPING', 'the service is stopping'],
  ['SVC_JOURNAL_UNAVAILABLE', 'the journal is unavailable'],
  ['SVC_JOURNAL_REGRESSED', 'the database has lost what it had confirmed'],
  ['SVC_DATABASE_URL_INVALID', 'the URL of the database cannot be used'],
  ['SVC_DATABASE_UNUSABLE', 'the database cannot be used'],
  ['SVC_JOURNAL_FULL', 'the journal is full'],
  ['SVC_DISK_FULL', 'the disk is full'],
  ['SVC_TIMERS_FULL', 'there are too many timers'],
  ['SVC_VIEW_BEHIND', 'the view does not have the events yet'],
  ['SVC_VIEW_REBUILDING', 'the view is being built'],
  ['SVC_VIEW_STOPPED', 'the view has stopped'],
  ['SVC_ENTITY_HELD_BACK', 'the entity fails and is held back for a while'],
  ['SVC_ENTITY_MOVED', 'the entity moves to another node'],
  ['SVC_SHARD_UNAVAILABLE', 'the shard of the entity is being started again'],
  ['SVC_PROCESS_UNAVAILABLE', 'the code of the service is not there at present'],
]);

/** Failures after which it is unknown whether the call was executed. */
const DONE_OR_NOT: ReadonlySet<SvcErrorCode> = new Set([
  'SVC_ANSWER_TIMED_OUT',
  'SVC_CALL_UNCERTAIN',
  'SVC_RESPONSE_DROPPED',
]);

/**
 * Returns the failure that a module receives for a failed call. Undefined: the module receives none, and its handler
 * fails with the error.
 */
export function callFailure(error: unknown): CallFailure | undefined {
  // The request has timed out, so nobody waits for the handler.
  if (error instanceof GuestFault && error.limit === 'request-time') return undefined;
  if (error instanceof GuestFault)
    return {
      word: 'INTERNAL',
      text: isTooLong(error) ? 'the component took too long' : 'the component failed',
    };
  if (!(error instanceof SvcError)) return undefined;
  // The message is about what the module has passed, and contains nothing else.
  if (error.code === 'SVC_TIMER_INVALID' || error.code === 'SVC_SERVICE_CALL_DENIED')
    return { word: 'DENIED', text: error.message };
  if (DONE_OR_NOT.has(error.code)) return { word: 'TIMED_OUT', text: '' };
  const reason = NOTHING_DONE.get(error.code);
  if (reason !== undefined) return { word: 'UNAVAILABLE', text: reason };
  return internal(error);
}

/** Returns the failure that a module receives for a failed read of the journal. Undefined: as in `callFailure`. */
export function readFailure(error: unknown): CallFailure | undefined {
  return error instanceof SvcError ? internal(error) : undefined;
}

function internal(error: SvcError): CallFailure {
  return { word: 'INTERNAL', text: `the runtime failed with ${error.code}` };
}

/**
 * Returns whether the fault is an exhausted limit of fuel or time, which callers receive as 504; every other fault is
 * 500.
 */
export function isTooLong({ faultCause }: GuestFault): boolean {
  return faultCause === 'fuel' || faultCause === 'time';
}
