// RouteCoordinator: what an orchestrator knows of its routers, as a state machine without I/O and clock: which of them have
// acknowledged a table or a hold. Each call returns what is to be done.
//
// Invariants
// - A hold and a table are settled once every router that was known before, or has come since, has acknowledged, or its time is up.
// - A router whose connection has ended is waited for: its process may still send requests. It may acknowledge on another connection.
// - A router that has not acknowledged in time is forgotten, and its connection is cut.
import type { Hold, OrchestratorMessage } from './messages.ts';
import { EMPTY_TABLE, type RouteTable, updateBetween } from './route-table.ts';
import type { RoutingTimes } from './routing-limits.ts';

/** Number of a connection. */
export type ConnectionId = number;
/** Number of something that routers acknowledge. */
export type WaitId = number;

export type CoordinatorEffect =
  | { readonly kind: 'send'; readonly to: ConnectionId; readonly message: OrchestratorMessage }
  | { readonly kind: 'cut'; readonly connection: ConnectionId }
  /** `missing`: names of the routers that have not acknowledged. */
  | { readonly kind: 'settled'; readonly wait: WaitId; readonly missing: readonly string[] };

interface Router {
  /** Undefined: its connection has ended. */
  connection: ConnectionId | undefined;
  /** Time at which the connection has ended, in milliseconds. */
  absentSinceMs: number;
  appliedVersion: number;
  /** Holds that it has acknowledged. */
  readonly held: Set<number>;
}

interface Wait {
  readonly id: WaitId;
  /** The hold, or the version of a table, that is acknowledged. */
  readonly of: { readonly hold: number } | { readonly version: number };
  readonly deadlineMs: number;
}

export class RouteCoordinator {
  readonly #acknowledgeMs: number;
  readonly #leaveMs: number;
  readonly #routers = new Map<string, Router>();
  readonly #waits = new Map<WaitId, Wait>();
  /** Keys of services by the number of the hold. */
  readonly #holds = new Map<number, string>();
  #table: RouteTable = EMPTY_TABLE;
  #lastId = 0;

  constructor({ acknowledgeMs, leaveMs }: Pick<RoutingTimes, 'acknowledgeMs' | 'leaveMs'>) {
    this.#acknowledgeMs = acknowledgeMs;
    this.#leaveMs = leaveMs;
  }

  get version(): number {
    return this.#table.version;
  }

  get routers(): number {
    return this.#routers.size;
  }

  /** Time at which `advance` has something to do; undefined: none. */
  get deadlineMs(): number | undefined {
    const times = [
      ...[...this.#waits.values()].map((wait) => wait.deadlineMs),
      ...[...this.#routers.values()]
        .filter(({ connection }) => connection === undefined)
        .map(({ absentSinceMs }) => absentSinceMs + this.#acknowledgeMs),
    ];
    return times.length === 0 ? undefined : Math.min(...times);
  }

  /** A router has named itself on a connection. An earlier connection of the same name is cut. */
  join(name: string, connection: ConnectionId): readonly CoordinatorEffect[] {
    const former = this.#routers.get(name);
    const cut: CoordinatorEffect[] =
      former?.connection === undefined ? [] : [{ kind: 'cut', connection: former.connection }];
    this.#routers.set(name, {
      connection,
      absentSinceMs: 0,
      appliedVersion: former?.appliedVersion ?? -1,
      held: former?.held ?? new Set(),
    });
    const holds: readonly Hold[] = [...this.#holds].map(([id, key]) => ({ id, key }));
    const message: OrchestratorMessage = { type: 'snapshot', table: this.#table, holds };
    return [...cut, { kind: 'send', to: connection, message }];
  }

  leave(connection: ConnectionId, nowMs: number): void {
    const router = this.#routerOf(connection)?.[1];
    if (router === undefined) return;
    router.connection = undefined;
    router.absentSinceMs = nowMs;
  }

  applied(connection: ConnectionId, version: number): readonly CoordinatorEffect[] {
    const router = this.#routerOf(connection)?.[1];
    if (router === undefined || version > this.#table.version) return this.#cut(connection);
    router.appliedVersion = Math.max(router.appliedVersion, version);
    return this.#settled();
  }

  held(connection: ConnectionId, id: number): readonly CoordinatorEffect[] {
    const router = this.#routerOf(connection)?.[1];
    if (router === undefined) return this.#cut(connection);
    // A hold that was released meanwhile is acknowledged too late, which is no mistake.
    if (this.#holds.has(id)) router.held.add(id);
    return this.#settled();
  }

  /** Replaces the services. */
  publish(services: RouteTable['services'], nowMs: number): Started {
    const before = this.#table;
    this.#table = { version: before.version + 1, services };
    const update = updateBetween(before, this.#table);
    return this.#start({ version: this.#table.version }, nowMs, { type: 'update', update });
  }

  hold(key: string, nowMs: number): Started & { readonly hold: number } {
    const hold = ++this.#lastId;
    this.#holds.set(hold, key);
    const message: OrchestratorMessage = { type: 'hold', hold: { id: hold, key } };
    return { hold, ...this.#start({ hold }, nowMs, message) };
  }

  /** A hold that is released before it is settled is settled as it stands. */
  release(hold: number): readonly CoordinatorEffect[] {
    if (!this.#holds.delete(hold)) return [];
    const ended = [...this.#waits.values()]
      .filter(({ of }) => 'hold' in of && of.hold === hold)
      .map((wait) => this.#settle(wait));
    for (const { held } of this.#routers.values()) held.delete(hold);
    return [...ended, ...this.#toAll({ type: 'release', id: hold })];
  }

  /** Forgets the routers whose time is up. */
  advance(nowMs: number): readonly CoordinatorEffect[] {
    const overdue = [...this.#waits.values()].filter(({ deadlineMs }) => deadlineMs <= nowMs);
    const ended = overdue.map((wait) => this.#settle(wait));
    const cut = ended.flatMap(({ missing }) => missing).flatMap((name) => this.#forget(name));
    for (const [name, { connection, absentSinceMs }] of this.#routers)
      if (connection === undefined && absentSinceMs + this.#acknowledgeMs <= nowMs)
        this.#routers.delete(name);
    return [...cut, ...ended, ...this.#settled()];
  }

  #start(of: Wait['of'], nowMs: number, message: OrchestratorMessage): Started {
    const timeMs = this.#acknowledgeMs + ('version' in of ? this.#leaveMs : 0);
    const wait = { id: ++this.#lastId, of, deadlineMs: nowMs + timeMs };
    this.#waits.set(wait.id, wait);
    return { wait: wait.id, effects: [...this.#toAll(message), ...this.#settled()] };
  }

  #toAll(message: OrchestratorMessage): readonly CoordinatorEffect[] {
    return [...this.#routers.values()].flatMap(({ connection }) =>
      connection === undefined ? [] : [{ kind: 'send' as const, to: connection, message }],
    );
  }

  /** Settles what nobody is missing for. */
  #settled(): readonly CoordinatorEffect[] {
    return [...this.#waits.values()]
      .filter((wait) => this.#missing(wait).length === 0)
      .map((wait) => this.#settle(wait));
  }

  #settle(wait: Wait): Extract<CoordinatorEffect, { readonly kind: 'settled' }> {
    this.#waits.delete(wait.id);
    return { kind: 'settled', wait: wait.id, missing: this.#missing(wait) };
  }

  #missing({ of }: Wait): readonly string[] {
    return [...this.#routers]
      .filter(([, { held, appliedVersion }]) =>
        'hold' in of ? !held.has(of.hold) : appliedVersion < of.version,
      )
      .map(([name]) => name);
  }

  #routerOf(connection: ConnectionId): [string, Router] | undefined {
    return [...this.#routers].find(([, router]) => router.connection === connection);
  }

  #forget(name: string): readonly CoordinatorEffect[] {
    const connection = this.#routers.get(name)?.connection;
    this.#routers.delete(name);
    return connection === undefined ? [] : this.#cut(connection);
  }

  #cut(connection: ConnectionId): readonly CoordinatorEffect[] {
    return [{ kind: 'cut', connection }];
  }
}

export interface Started {
  readonly wait: WaitId;
  readonly effects: readonly CoordinatorEffect[];
}
