// The door for programs that use the host as a library: what is behind it is promised to them. They define
// entities and endpoints in TypeScript, and createService runs them in their own process, with the engine,
// the journal and the HTTP server that `svc run` has.
import { createEngine, type EntityEngine } from './engine/entity-engine.ts';
import { developerLimits } from './engine/engine-limits.ts';
import type { Chance } from './engine/needs/clock.ts';
import type { Guest } from './engine/needs/guest.ts';
import {
  type EmbeddedRooms,
  readServiceSettings,
  type ServiceSettings,
} from './service/embedded-settings.ts';
import {
  type EmbeddedStorage,
  openEmbeddedStorage,
  type StorageOptions,
} from './service/embedded-storage.ts';
import { FaultReport } from './log/fault-report.ts';
import { type Components, createEmbeddedGuest } from './hosting/embedded/embedded-guest.ts';
import { textOf } from './hosting/embedded/thrown-text.ts';
import {
  type EntityClient,
  entityClient,
  type RecordedEvent,
} from './hosting/embedded/entity-client.ts';
import type { EntityDefinition } from './hosting/embedded/entity-definition.ts';
import { callerOfAddress, INTERNET, LOCAL } from './http/access.ts';
import { corsRemark } from './http/cors.ts';
import { createHttpServer, type HttpServer, type HttpServerOptions } from './http/http-server.ts';
import { InProcessHttp } from './http/in-process-http.ts';
import { RouteTable } from './http/route-table.ts';
import { InProcessFetch } from './http/requests/in-process-fetch.ts';
import { LimitCounters } from './log/limit-counters.ts';
import { LimitLog } from './log/limit-log.ts';
import { createLog, type Log } from './log/log.ts';
import { entryBytes, LogRate } from './log/log-rate.ts';
import { LoopTurn } from './http/requests/loop-turn.ts';
import { printable } from './model/printable.ts';
import { requestBudgets } from './model/request-budgets.ts';
import { SvcError } from './model/svc-error.ts';
import { newTraceParent, traceParentText } from './model/trace-context.ts';
import { requestHandler } from './http/requests/request-handler.ts';
import type { LogEntry } from './log/log-entry.ts';
import { systemChance, systemClock, systemDigest } from './system.ts';

export { SvcError, type SvcErrorCode } from './model/svc-error.ts';
export { GuestFault } from './model/guest-fault.ts';
export { defineEntity } from './hosting/embedded/entity-definition.ts';
export type { EntityDefinition } from './hosting/embedded/entity-definition.ts';
export type {
  Change,
  CommandContext,
  Effect,
  QueryContext,
  ReadonlyDeep,
} from './hosting/embedded/entity-context.ts';
export { defineEndpoint } from './hosting/embedded/endpoint-definition.ts';
export type { EndpointDefinition } from './hosting/embedded/endpoint-definition.ts';
export { before, del, get, patch, post, put } from './hosting/embedded/route-definition.ts';
export type {
  Access,
  CheckedRoutes,
  Cors,
  RouteDefinition,
} from './hosting/embedded/route-definition.ts';
export { respond, respondError } from './hosting/embedded/route-answer.ts';
export type {
  CheckedContext,
  CheckRequest,
  EndpointContext,
  RouteRequest,
} from './hosting/embedded/route-request.ts';
export type { EntityClient, RecordedEvent } from './hosting/embedded/entity-client.ts';
export {
  Ok,
  refuse,
  Refused,
  type RefusalDetails,
  type Result,
} from './hosting/embedded/result.ts';
export { described, type Schema, type ValueOf } from './hosting/embedded/codec.ts';
export type { StandardSchema } from './hosting/embedded/standard-schema.ts';
export type { ServiceSettings } from './service/embedded-settings.ts';
export type { LogEntry } from './log/log-entry.ts';

interface CommonOptions extends Components {
  /** Lower-case letters, digits and hyphens; the log names it. */
  readonly name: string;
  /**
   * Where the routes are served; a host that is left out is 127.0.0.1 (0.0.0.0 when deployed), a port 9000,
   * and 0 is any free one. `false`, or a service without endpoints: nowhere.
   */
  readonly http?: { readonly host?: string; readonly port?: number } | false;
  /** As the flag of `svc run`: every caller is the internet's, and checks of handlers are made of samples. */
  readonly deployed?: boolean;
  readonly settings?: ServiceSettings;
  /** Lines on stderr, or what takes each. Absent: text on a terminal, else JSON. */
  readonly log?: 'text' | 'json' | 'none' | Log;
}

/** And where the journal is. */
export type ServiceOptions = CommonOptions & StorageOptions;

export interface CallOptions {
  /** The trace that the calls belong to (W3C Trace Context); absent: one of its own for each. */
  readonly traceparent?: string;
}

export interface Service extends AsyncDisposable {
  /** Undefined when nothing is served. */
  readonly url: string | undefined;
  /** A client of an entity of this service. */
  call<Definition extends EntityDefinition>(
    entity: Definition,
    id: string,
    options?: CallOptions,
  ): EntityClient<Definition>;
  /** As `events` of a client: acknowledged events of an entity's present life, oldest first. */
  readEvents<Handlers, Event>(
    entity: EntityDefinition<Handlers, Event>,
    id: string,
    afterSeq?: number,
    limit?: number,
  ): Promise<readonly RecordedEvent<Event>[]>;
  /**
   * Sends a request to the routes without a socket, as fetch does: of an address, path and query count. The
   * caller is `local`, and the internet when deployed.
   */
  fetch(input: string | URL | Request, init?: RequestInit): Promise<Response>;
  /** Resolves when the journal's writer has ended by itself: nothing is stored any more, and the program should end. */
  readonly failure: Promise<SvcError>;
  /**
   * Takes no further request, finishes those in flight, and after `graceMs` milliseconds cuts what is left;
   * then closes the journal. The second call waits for the first.
   */
  stop(graceMs?: number): Promise<void>;
}

const PORT = 9000;
const STOP_GRACE_MS = 10_000;
const LIMITS_TOLD_MS = 60_000;
/** How often entities that have been idle for long enough are looked for. */
const PASSIVATE_MS = 1_000;

/**
 * Runs the components. Rejects with SVC_DEFINITION_INVALID, SVC_SETTING_INVALID, and what the journal and
 * the address fail with: SVC_DATA_UNUSABLE, SVC_DATA_IN_USE, SVC_JOURNAL_…, SVC_MANIFEST_UNREADABLE,
 * SVC_PORT_IN_USE, SVC_ADDRESS_UNAVAILABLE.
 */
export async function createService(options: ServiceOptions): Promise<Service> {
  const { name, http } = options;
  if (!/^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/.test(name))
    throw new SvcError(
      'SVC_SETTING_INVALID',
      `The name of a service takes lower-case letters, digits and hyphens, at most 63, and found '${name}'.`,
    );
  if (typeof http === 'object') checkPort(http.port);
  const rooms = readServiceSettings(options.settings ?? {});
  const guest = createEmbeddedGuest(options);
  const storage = await openEmbeddedStorage(options, rooms.journal, guest.descriptor);
  let service: EmbeddedService | undefined;
  try {
    service = new EmbeddedService(options, rooms, guest, storage);
    await service.listen();
    return service;
  } catch (error) {
    await (service?.stop(0) ?? storage.close());
    throw error;
  }
}

function checkPort(port = PORT): void {
  if (Number.isInteger(port) && port >= 0 && port <= 65_535) return;
  throw new SvcError(
    'SVC_SETTING_INVALID',
    `The port of a service is a whole number from 0 to 65535, and found '${String(port)}'.`,
  );
}

class EmbeddedService implements Service {
  readonly failure: Promise<SvcError>;
  readonly #options: ServiceOptions;
  readonly #guest: Guest;
  readonly #entities: ReadonlySet<EntityDefinition>;
  readonly #storage: EmbeddedStorage;
  readonly #engine: EntityEngine;
  readonly #server: HttpServer;
  readonly #inProcess: InProcessFetch;
  readonly #chance: Chance = systemChance();
  readonly #logRate: LogRate;
  readonly #limitLog: LimitLog;
  readonly #limitTimer: NodeJS.Timeout;
  readonly #passivationTimer: NodeJS.Timeout;
  #url: string | undefined;
  #stopped: Promise<void> | undefined;

  constructor(
    options: ServiceOptions,
    rooms: EmbeddedRooms,
    guest: Guest,
    storage: EmbeddedStorage,
  ) {
    this.#options = options;
    this.#guest = guest;
    this.#entities = new Set(options.entities);
    this.#storage = storage;
    this.failure = storage.failure;
    const counters = new LimitCounters();
    const faults = new FaultReport(counters);
    const write = logOf(options);
    let writtenBytes = 0;
    this.#logRate = new LogRate(
      rooms.log,
      performance.now(),
      (entry) => {
        write(entry);
        writtenBytes += entryBytes(entry);
        this.#logRate.written(writtenBytes);
      },
      () => counters.count('log-lines-not-written'),
    );
    this.#limitLog = new LimitLog(counters, write);
    this.#limitTimer = setInterval(() => this.#limitLog.tell(), LIMITS_TOLD_MS).unref();
    this.#passivationTimer = setInterval(() => void this.#engine.passivate(), PASSIVATE_MS).unref();

    const chance = this.#chance;
    const turn = new LoopTurn();
    this.#engine = createEngine({
      guest,
      journal: storage.journal,
      clock: systemClock,
      chance,
      digest: systemDigest,
      turn,
      limits: options.deployed === true ? rooms.engine : developerLimits(rooms.engine),
      faultLog: ({ component, id }, handler, fault) =>
        this.#log('warn', 'an entity failed', {
          component,
          entity: id,
          ...(handler === undefined ? {} : { handler }),
          ...faults.fields(fault),
        }),
    });
    const { deployed = false } = options;
    const routes = new RouteTable(guest.descriptor);
    const remark = corsRemark(rooms['http.cors'], routes);
    if (remark !== undefined) this.#log('warn', remark);
    const http = {
      routes,
      budgets: requestBudgets(rooms.http),
      settings: rooms.http,
      cors: rooms['http.cors'],
      chance,
      handle: requestHandler({ guest, engine: this.#engine, clock: systemClock, chance, turn }),
      log: {
        warn: ({ err, guestMessage: _told, ...fields }, message) =>
          this.#log('warn', message, { ...fields, ...faults.fields(err) }),
        error: ({ err, ...fields }, message) =>
          this.#log('error', message, { ...fields, ...faults.fields(err) }),
        unlogged: (failure) => void faults.fields(failure),
      },
    } satisfies Omit<HttpServerOptions, 'callerOf'>;
    this.#server = createHttpServer({
      ...http,
      callerOf: (socket) => (deployed ? INTERNET : callerOfAddress(socket.remoteAddress)),
    });
    const inProcess = new InProcessHttp({ ...http, project: undefined });
    this.#inProcess = new InProcessFetch(inProcess, deployed ? INTERNET : LOCAL);
  }

  get url(): string | undefined {
    return this.#url;
  }

  async listen(): Promise<void> {
    const { http = {}, deployed = false, endpoints = [] } = this.#options;
    if (http === false || endpoints.length === 0) return;
    const wanted = {
      host: http.host ?? (deployed ? '0.0.0.0' : '127.0.0.1'),
      port: http.port ?? PORT,
    };
    const { host, port } = await this.#server.listen(wanted);
    this.#url = `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
  }

  call<Definition extends EntityDefinition>(
    entity: Definition,
    id: string,
    { traceparent }: CallOptions = {},
  ): EntityClient<Definition> {
    if (!this.#entities.has(entity))
      throw new Error(`component '${entity.component}' is none of this service's entities`);
    const metadata = () =>
      [['traceparent', traceparent ?? traceParentText(newTraceParent(this.#chance))]] as const;
    return entityClient(entity, { calls: this.#engine, metadata }, id) as EntityClient<Definition>;
  }

  readEvents<Handlers, Event>(
    entity: EntityDefinition<Handlers, Event>,
    id: string,
    afterSeq?: number,
    limit?: number,
  ): Promise<readonly RecordedEvent<Event>[]> {
    const client = this.call(entity, id);
    return client.events(afterSeq, limit);
  }

  fetch(input: string | URL | Request, init?: RequestInit): Promise<Response> {
    return this.#inProcess.fetch(input, init);
  }

  stop(graceMs = STOP_GRACE_MS): Promise<void> {
    this.#stopped ??= this.#stop(graceMs);
    return this.#stopped;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  async #stop(graceMs: number): Promise<void> {
    clearInterval(this.#limitTimer);
    clearInterval(this.#passivationTimer);
    await Promise.all([this.#server.stop(graceMs), this.#inProcess.stop(graceMs)]);
    await this.#engine.close();
    await this.#storage.close();
    await this.#guest.close();
    this.#logRate.report(performance.now());
    this.#limitLog.tell();
  }

  #log(level: LogEntry['level'], message: string, fields: LogEntry['fields'] = {}): void {
    this.#logRate.write({ level, message, fields }, performance.now());
  }
}

function logOf({ name, log, deployed }: ServiceOptions): Log {
  if (typeof log === 'function') return neverThrowing(log);
  if (log === 'none') return () => {};
  return createLog(name, log ?? (process.stderr.isTTY && deployed !== true ? 'text' : 'json'));
}

/** What a program's own log throws ends no request, and nothing of the engine. */
function neverThrowing(log: Log): Log {
  return (entry) => {
    try {
      log(entry);
    } catch (error) {
      const [reason = ''] = textOf(error).split('\n');
      process.stderr.write(`the log of the program lost a line: ${printable(reason)}\n`);
    }
  };
}
