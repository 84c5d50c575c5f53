// Recorder is what the engine and the HTTP server need to report invocations that have ended, for traces and metrics.
// It is on the path of every request, so it reads everything from objects that exist anyway, and nothing is allocated
// for it. It must not throw.
import type { Spent } from '@svc/model/call';
import type { SpanOutcome } from '@svc/model/span-outcome';
import type { TraceParent } from '@svc/kit/trace-context';

export interface SpanClock {
  /** Milliseconds with fractions, of a clock that never goes back. */
  nowMs(): number;
}

export interface Recorder extends SpanClock {
  /**
   * Called when a command or a query was answered, or has failed. `failure`: the refusal, or the error that was thrown;
   * undefined for any other answer.
   */
  called(call: EndedCall, endMs: number, outcome: SpanOutcome, failure: unknown): void;
  /**
   * Called once for a request whose handler was called: when the outcome of the handler is known, and the request is
   * answered or its connection is gone. Requests that are answered without their handler are not recorded. `failure`:
   * as for `called`.
   */
  served(request: EndedRequest, endMs: number, outcome: SpanOutcome, failure: unknown): void;
}

export interface EndedInvocation extends Spent {
  /** Index of the handler (model/handler-table.ts). */
  readonly handlerIndex: number;
  /** When the invocation began, by `SpanClock.nowMs`. */
  readonly startMs: number;
  /** Trace and span; undefined for a call whose caller sent no trace, or that failed before its handler ran. */
  readonly trace: TraceParent | undefined;
  /** Id of the parent span; undefined: the trace begins here, or there is none. */
  readonly parentId: bigint | undefined;
  /** The well-formed `tracestate` that came with the trace; undefined: none came. */
  readonly traceState: string | undefined;
}

export interface EndedCall extends EndedInvocation {
  readonly entityId: string;
  /**
   * The number of records that the command has appended: its events and its actions. 0 for a query and for a failure.
   */
  readonly eventsPersisted: number;
}

export interface EndedRequest extends EndedInvocation {
  /** HTTP status of the response; 0: the connection was gone before. */
  readonly status: number;
  /**
   * Id of the request's failure: in a response with the status 500 or 504, and in the line of the log if the failure
   * has one. Undefined: the request did not fail.
   */
  readonly errorId: string | undefined;
}

/** A recorder that records nothing. */
export const NO_RECORDER: Recorder = {
  nowMs: () => 0,
  called() {},
  served() {},
};
