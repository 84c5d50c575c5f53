// The trace of a request (W3C Trace Context): the caller's trace, if its header is well formed, or a new trace. The
// request is a span of its own, and the calls of its handler become the children of that span.
import type { RandomSource } from '../engine/needs/clock.ts';
import type { Metadata } from '@svc/model/call';
import {
  childTraceParent,
  newTraceParent,
  parseTraceParent,
  type TraceParent,
  traceParentText,
} from '@svc/kit/trace-context';
import { isTraceState } from '@svc/kit/trace-state';
import type { FieldList } from '@svc/http1';
import { headerValue } from './request-headers.ts';

/** Trace data that a request's handler passes on, and the request's position in its trace. */
export interface RequestTrace {
  /** The request's own `traceparent`, and the caller's `tracestate` where both headers of the caller are valid. */
  readonly metadata: Metadata;
  readonly own: TraceParent;
  /** The caller's span; undefined: the trace begins here. */
  readonly parent: TraceParent | undefined;
  /** The `tracestate` in `metadata`. */
  readonly state: string | undefined;
}

export function requestTrace(fields: FieldList, random: RandomSource): RequestTrace {
  const header = headerValue(fields, 'traceparent');
  // Repeated headers are joined by a comma, so a repeated `traceparent` does not parse.
  const parent = header === undefined ? undefined : parseTraceParent(header);
  const own = parent === undefined ? newTraceParent(random) : childTraceParent(parent, random);
  const metadata: [string, string][] = [['traceparent', traceParentText(own)]];
  const state = parent === undefined ? undefined : headerValue(fields, 'tracestate');
  if (state === undefined || !isTraceState(state))
    return { metadata, own, parent, state: undefined };
  metadata.push(['tracestate', state]);
  return { metadata, own, parent, state };
}
