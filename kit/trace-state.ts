// The `tracestate` of a trace (W3C Trace Context, level 2): vendor data that tracing systems pass on with
// `traceparent`. Callers and modules write it, so it is checked before it is stored: 512 characters and 32
// members at most.
import type { TraceMetadata } from './trace-context.ts';

const TRACESTATE = 'tracestate';
const MEMBER =
  /^(?:[a-z][a-z0-9_\-*/]{0,255}|[a-z0-9][a-z0-9_\-*/]{0,240}@[a-z][a-z0-9_\-*/]{0,13})=[\x20-\x2b\x2d-\x3c\x3e-\x7e]{0,255}[\x21-\x2b\x2d-\x3c\x3e-\x7e]$/;
const TRACESTATE_LENGTH_MAX = 512;
const TRACESTATE_MEMBERS_MAX = 32;

/** Returns whether a `tracestate` is well formed and within the bounds. */
export function isTraceState(value: string): boolean {
  if (value.length > TRACESTATE_LENGTH_MAX) return false;
  const members = value
    .split(',')
    .map((member) => member.trim())
    .filter((member) => member !== '');
  if (members.length === 0 || members.length > TRACESTATE_MEMBERS_MAX) return false;
  const keys = new Set(members.map((member) => member.slice(0, member.indexOf('='))));
  return keys.size === members.length && members.every((member) => MEMBER.test(member));
}

/** Returns the `tracestate` that a call's metadata contains once and well formed; undefined if there is none. */
export function traceStateOf(metadata: TraceMetadata): string | undefined {
  let value: string | undefined;
  for (const entry of metadata)
    if (entry[0] === TRACESTATE) {
      if (value !== undefined) return undefined;
      value = entry[1];
    }
  return value === undefined || !isTraceState(value) ? undefined : value;
}
