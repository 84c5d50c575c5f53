// TraceOrigin: the origin of a trace whose parent span is not in this service: this console, or another service. The
// function is pure.
import type { TraceDetail } from '@svc/contract';

/**
 * Returns whether this console sent the request. Its server uses the first half of the trace id as the id of its own
 * span; ids of other parents are random.
 */
export function isOfConsole({ traceId, remoteParent }: TraceDetail): boolean {
  return remoteParent !== null && remoteParent === traceId.slice(0, 16);
}
