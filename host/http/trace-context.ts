// The trace of a request (W3C Trace Context): the caller's, when it is well formed, or a new one. The request is a
// span of its own in it, and what its handler passes on with its calls makes them the children of that span.
import type { Chance } from '../engine/needs/clock.ts';
import type { Metadata } from '../model/call.ts';
import {
  childTraceParent,
  newTraceParent,
  parseTraceParent,
  type TraceParent,
  traceParentText,
} from '../model/trace-context.ts';
import type { IncomingHttpHeaders } from 'node:http';

const MEMBER =
  /^(?:[a-z][a-z0-9_\-*/]{0,255}|[a-z0-9][a-z0-9_\-*/]{0,240}@[a-z][a-z0-9_\-*/]{0,13})=[\x20-\x2b\x2d-\x3c\x3e-\x7e]{0,255}[\x21-\x2b\x2d-\x3c\x3e-\x7e]$/;
const TRACESTATE_LENGTH_MAX = 512;
const TRACESTATE_MEMBERS_MAX = 32;

/** What a request's handler passes on, and where the request stands in its trace. */
export interface RequestTrace {
  /** Its own `traceparent`, and the caller's `tracestate` where both of the caller's are good. */
  readonly metadata: Metadata;
  readonly own: TraceParent;
  /** The caller's; undefined: the trace begins here. */
  readonly parent: TraceParent | undefined;
}

export function requestTrace(headers: IncomingHttpHeaders, chance: Chance): RequestTrace {
  const header = headers['traceparent'];
  // Repeated headers arrive joined by a comma and so are none.
  const parent = typeof header === 'string' ? parseTraceParent(header) : undefined;
  const own = parent === undefined ? newTraceParent(chance) : childTraceParent(parent, chance);
  const metadata: [string, string][] = [['traceparent', traceParentText(own)]];
  const state = headers['tracestate'];
  if (parent !== undefined && typeof state === 'string' && isTracestate(state))
    metadata.push(['tracestate', state]);
  return { metadata, own, parent };
}

function isTracestate(value: string): boolean {
  if (value.length > TRACESTATE_LENGTH_MAX) return false;
  const members = value
    .split(',')
    .map((member) => member.trim())
    .filter((member) => member !== '');
  if (members.length === 0 || members.length > TRACESTATE_MEMBERS_MAX) return false;
  const keys = new Set(members.map((member) => member.slice(0, member.indexOf('='))));
  return keys.size === members.length && members.every((member) => MEMBER.test(member));
}
