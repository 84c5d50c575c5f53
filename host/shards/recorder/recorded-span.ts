// RecordedSpan: an invocation as it is told to another thread: by its shard to the main thread, which shows it, and to
// the thread that exports it. It holds nothing but plain values.
import type { InvocationKind, Outcome } from '@svc/contract';
import type { WasmFrame } from '../../model/guest-fault.ts';

export interface RecordedSpan {
  /** Counts the spans of its shard, from 1 on. */
  readonly number: number;
  readonly shard: number;
  readonly kind: InvocationKind;
  readonly component: string;
  readonly handler: string;
  /** Of a command or a query. */
  readonly entityId: string | undefined;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentId: string | undefined;
  /** The `tracestate` that its caller sent with the trace. */
  readonly traceState: string | undefined;
  /** The caller wants the trace to be kept. */
  readonly isSampled: boolean;
  /** Milliseconds since 1970, with fractions. */
  readonly startMs: number;
  readonly durationMs: number;
  readonly outcome: Outcome;
  readonly fuel: number;
  readonly events: number;
  /** Of the answer of an endpoint; 0: it reached nobody. */
  readonly status: number | undefined;
  readonly fault: RecordedFault | undefined;
}

/** Why it was refused, failed or was late. */
export interface RecordedFault {
  /** Of a refusal, of a guest's fault or of docs/errors; 'bug' for what should not be. */
  readonly code: string;
  readonly limit: string | undefined;
  readonly reason: string;
  /** The module's own last words. */
  readonly guestMessage: string | undefined;
  /** The last lines that the module logged before it, the oldest first; bounded as `lastLogLines` says. */
  readonly logLines?: readonly string[] | undefined;
  /** Where the module's code was, the innermost first. */
  readonly frames: readonly WasmFrame[] | undefined;
  readonly errorId: string | undefined;
}
