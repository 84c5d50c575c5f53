// The limits that a running module can meet, by the names that faults, counters, the log and
// docs/reference/sandbox.md call them. `svc.wasm.*`, `svc.engine.*` and `svc.http.*` set them.

export const LIMIT_NAMES = [
  // Fuel: units of work.
  'start-fuel',
  'entity-fuel',
  'command-fuel',
  'query-fuel',
  'apply-fuel',
  'handler-fuel',
  'collection-fuel',
  // Room.
  'memory',
  'stack',
  'handles',
  // Time of a request, waiting included.
  'request-time',
  // Time of folding the events of an entity that is brought into memory.
  'replay-time',
  // What crosses the boundary.
  'lifted-bytes',
  'lowered-bytes',
  'string-bytes',
  'list-items',
  'host-calls',
  'component-calls',
  'call-depth',
  // What a module answers.
  'reply-bytes',
  'response-headers',
  'response-bytes',
] as const;
export type LimitName = (typeof LIMIT_NAMES)[number];
