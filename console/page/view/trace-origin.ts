// TraceOrigin: who began a trace that has a parent elsewhere: this console, or another service. Pure.
import type { TraceDetail } from '@svc/contract';

/** The console's server gives its own span the first half of the trace's id; ids of others are chance. */
export function isOfConsole({ traceId, remoteParent }: TraceDetail): boolean {
  return remoteParent !== null && remoteParent === traceId.slice(0, 16);
}
