// Messages of the routing protocol: JSON, one message on a line. A router connects and names itself; the orchestrator answers with a
// snapshot, then sends updates, holds and releases. Messages are checked where they arrive.
import {
  parseRouteTable,
  parseRouteUpdate,
  type RouteTable,
  type RouteUpdate,
} from './route-table.ts';

/** A service whose requests are held. */
export interface Hold {
  /** Number of the hold, which no other hold of the orchestrator has. */
  readonly id: number;
  /** `<project>/<service>`. */
  readonly key: string;
}

export type OrchestratorMessage =
  | { readonly type: 'snapshot'; readonly table: RouteTable; readonly holds: readonly Hold[] }
  | { readonly type: 'update'; readonly update: RouteUpdate }
  | { readonly type: 'hold'; readonly hold: Hold }
  | { readonly type: 'release'; readonly id: number };

export type RouterMessage =
  /** `name`: the same for all connections of a router's process, and of no other. */
  | { readonly type: 'hello'; readonly protocol: typeof PROTOCOL; readonly name: string }
  /** No request goes to a service by an earlier table any more, and the last one at an instance that has left is answered or late. */
  | { readonly type: 'applied'; readonly version: number }
  /** No request is sent to the service, and the last one there is answered. */
  | { readonly type: 'held'; readonly id: number };

export const PROTOCOL = 1;
const NAME = /^[\x21-\x7e]{1,128}$/;
const HOLDS_MAX = 100_000;

/** Returns the message; undefined if the line is none. */
export function parseRouterMessage(line: string): RouterMessage | undefined {
  const { type, protocol, name, version, id } = objectOf(line);
  if (type === 'hello' && protocol === PROTOCOL && typeof name === 'string' && NAME.test(name))
    return { type, protocol, name };
  if (type === 'applied' && isCount(version)) return { type, version };
  return type === 'held' && isCount(id) ? { type, id } : undefined;
}

/** Returns the message; undefined if the line is none. */
export function parseOrchestratorMessage(line: string): OrchestratorMessage | undefined {
  const { type, table, update, hold, holds, id } = objectOf(line);
  if (type === 'snapshot') {
    const parsed = parseRouteTable(table);
    const areHolds = Array.isArray(holds) && holds.length <= HOLDS_MAX && holds.every(isHold);
    return 'problem' in parsed || !areHolds ? undefined : { type, table: parsed, holds };
  }
  if (type === 'update') {
    const parsed = parseRouteUpdate(update);
    return 'problem' in parsed ? undefined : { type, update: parsed };
  }
  if (type === 'hold' && isHold(hold)) return { type, hold };
  return type === 'release' && isCount(id) ? { type, id } : undefined;
}

export function lineOf(message: OrchestratorMessage | RouterMessage): string {
  return `${JSON.stringify(message)}\n`;
}

function objectOf(line: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null
      ? (value as Readonly<Record<string, unknown>>)
      : {};
  } catch {
    return {};
  }
}

function isHold(value: unknown): value is Hold {
  const { id, key } = (value ?? {}) as Partial<Record<keyof Hold, unknown>>;
  return isCount(id) && typeof key === 'string';
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}
