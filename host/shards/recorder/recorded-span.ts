// RecordedSpan is an invocation as a shard sends it to the main thread, for introspection, and as the main thread sends
// it to the thread that exports spans. It holds plain values only.
import type { InvocationKind, Outcome } from '@svc/contract';
import type { WasmFrame } from '@svc/model/guest-fault';

export interface RecordedSpan {
  /** Sequence number of the span within its shard, from 1. */
  readonly number: number;
  readonly shard: number;
  readonly kind: InvocationKind;
  readonly component: string;
  readonly handler: string;
  /** Id of the entity, for a command or a query. */
  readonly entityId: string | undefined;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentId: string | undefined;
  /** The `tracestate` that the caller sent with the trace. */
  readonly traceState: string | undefined;
  /** Whether the caller has sampled the trace. */
  readonly isSampled: boolean;
  /** Milliseconds since 1970, with fractions. */
  readonly startMs: number;
  readonly durationMs: number;
  readonly outcome: Outcome;
  readonly fuel: number;
  readonly events: number;
  /** Status of an endpoint's response; 0 if no response reached the client; undefined for calls. */
  readonly status: number | undefined;
  readonly fault: RecordedFault | undefined;
}

/** The reason why an invocation was refused, failed or was late. */
export interface RecordedFault {
  /** Code of a refusal or of a guest fault, or of an error in docs/errors; 'bug' for an unexpected error. */
  readonly code: string;
  readonly limit: string | undefined;
  readonly reason: string;
  /** The module's own last message. */
  readonly guestMessage: string | undefined;
  /** The last lines that the module logged before the failure, oldest first; bounded by `lastLogLines`. */
  readonly logLines?: readonly string[] | undefined;
  /** Code positions of the module at the failure, innermost first. */
  readonly frames: readonly WasmFrame[] | undefined;
  readonly errorId: string | undefined;
}
