// SpanOutcome is the outcome of an invocation as a number. SPAN_OUTCOMES are the contract's four words for these
// numbers, which metrics and traces use.
import type { Outcome as Word } from '@svc/contract';
import type { Refusal, Reply } from './call.ts';
import { GuestFault } from './guest-fault.ts';
import { SvcError } from '@svc/kit/svc-error';

/** Indexed by SpanOutcome, the number that spans store. */
export const SPAN_OUTCOMES: readonly Word[] = ['Ok', 'Refused', 'Failed', 'TimedOut'];
export const SPAN_OK = 0;
export const SPAN_REFUSED = 1;
export const SPAN_FAILED = 2;
export const SPAN_TIMED_OUT = 3;
export type SpanOutcome = 0 | 1 | 2 | 3;

export function outcomeOfAnswer({ kind }: Reply | Refusal): SpanOutcome {
  return kind === 'refusal' ? SPAN_REFUSED : SPAN_OK;
}

/**
 * Returns the outcome of a thrown failure. A handler that used up its fuel or its time counts as timed out, and so
 * does the failure SVC_ANSWER_TIMED_OUT.
 */
export function outcomeOfFailure(failure: unknown): SpanOutcome {
  if (failure instanceof GuestFault)
    return failure.faultCause === 'fuel' || failure.faultCause === 'time'
      ? SPAN_TIMED_OUT
      : SPAN_FAILED;
  return failure instanceof SvcError && failure.code === 'SVC_ANSWER_TIMED_OUT'
    ? SPAN_TIMED_OUT
    : SPAN_FAILED;
}

/** Returns the outcome of an endpoint's own response. */
export function outcomeOfStatus(status: number): SpanOutcome {
  if (status < 400) return SPAN_OK;
  return status < 500 ? SPAN_REFUSED : SPAN_FAILED;
}
