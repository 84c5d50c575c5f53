// The limits of a running module, by the names that faults, counters, the log and docs/reference/sandbox.md use for
// them. The settings `svc.wasm.*`, `svc.engine.*` and `svc.http.*` set most of them; the page says which are fixed.

export const LIMIT_NAMES = [
  // Fuel: units of work. `collection-fuel` is for freeing and collecting memory after an answer was read.
  'start-fuel',
  'entity-fuel',
  'command-fuel',
  'query-fuel',
  'apply-fuel',
  'handler-fuel',
  'collection-fuel',
  // Memory, stack and handles.
  'memory',
  'stack',
  'handles',
  // Duration of a request, including the time that it waits.
  'request-time',
  // Time for folding the events of an entity that is loaded into memory.
  'replay-time',
  // Values that cross the boundary between host and module: lifted from the module's memory, or lowered into it.
  'lifted-bytes',
  'lowered-bytes',
  'string-bytes',
  'list-items',
  // Calls that a module makes: of the host, of components in one request, and of a component by an entity.
  'host-calls',
  'component-calls',
  'call-depth',
  // Size of a module's answers.
  'reply-bytes',
  'response-headers',
  'response-bytes',
] as const;
export type LimitName = (typeof LIMIT_NAMES)[number];
