// What is told of every invocation once it is over. It is on the path of every request: the recorder reads what it
// keeps from objects that are there anyhow, and nothing is made for it. It must not throw.
import type { Spent } from '../../model/call.ts';
import type { SpanOutcome } from '../../model/span-outcome.ts';
import type { TraceParent } from '@svc/kit/trace-context';

export interface SpanClock {
  /** Milliseconds with fractions, of a clock that never goes back. */
  nowMs(): number;
}

export interface Recorder extends SpanClock {
  /** A command or a query was answered, or has failed. `failure`: the refusal, or what was thrown. */
  called(call: EndedCall, endMs: number, outcome: SpanOutcome, failure: unknown): void;
  /** The handler of a route was answered, or nobody is there any more to be answered. */
  served(request: EndedRequest, endMs: number, outcome: SpanOutcome, failure: unknown): void;
}

export interface EndedInvocation extends Spent {
  /** Index of the handler (model/handler-table.ts). */
  readonly handlerIndex: number;
  readonly startMs: number;
  /** Its own place in its trace; undefined: it belongs to none. */
  readonly trace: TraceParent | undefined;
  /** The span that it belongs to; undefined: its trace begins here. */
  readonly parentId: bigint | undefined;
  /** The well-formed `tracestate` that came with the trace. */
  readonly traceState: string | undefined;
}

export interface EndedCall extends EndedInvocation {
  readonly entityId: string;
  readonly eventsPersisted: number;
}

export interface EndedRequest extends EndedInvocation {
  /** Of the answer; 0 where nobody was there. */
  readonly status: number;
  /** As in the answer and in the log. */
  readonly errorId: string | undefined;
}

/** For whoever looks at nothing. */
export const NO_RECORDER: Recorder = {
  nowMs: () => 0,
  called() {},
  served() {},
};
