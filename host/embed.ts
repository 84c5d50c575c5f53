// The door for programs that use the host as a library: what is behind it is promised to them. They define
// entities and endpoints in TypeScript, and createService runs them in their own process, with the engine,
// the journal and the HTTP server that `svc run` has.
import { resolve } from 'node:path';
import { createEngine, type EntityEngine } from './engine/entity-engine.ts';
import { developerLimits } from './engine/engine-limits.ts';
import type { Chance } from './engine/needs/clock.ts';
import type { Guest } from './engine/needs/guest.ts';
import type { Journal } from './engine/needs/journal.ts';
import {
  type EmbeddedRooms,
  readServiceSettings,
  type ServiceSettings,
} from './embedded-settings.ts';
import { FaultReport } from './fault-report.ts';
import { type Components, createEmbeddedGuest } from './hosting/embedded/embedded-guest.ts';
import {
  type EntityClient,
  entityClient,
  type RecordedEvent,
} from './hosting/embedded/entity-client.ts';
import type { EntityDefinition } from './hosting/embedded/entity-definition.ts';
import { callerOfAddress, INTERNET } from './http/access.ts';
import { createHttpServer, type HttpServer } from './http/http-server.ts';
import { RouteTable } from './http/route-table.ts';
import { LimitCounters } from './limit-counters.ts';
import { LimitLog } from './limit-log.ts';
import { createLog, type Log } from './log.ts';
import { entryBytes, LogRate } from './log-rate.ts';
import { LoopTurn } from './loop-turn.ts';
import { SvcError } from './model/svc-error.ts';
import { newTraceParent } from './model/trace-context.ts';
import { requestHandler } from './request-handler.ts';
import type { LogEntry } from './shard-messages.ts';
import { attachJournal } from './storage/attached-journal.ts';
import { MemoryJournal } from './storage/memory-journal.ts';
import { openSqliteJournal } from './storage/sqlite-journal.ts';
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
export {
  defineEndpoint,
  del,
  get,
  patch,
  post,
  put,
  respond,
} from './hosting/embedded/endpoint-definition.ts';
export type {
  Access,
  EndpointContext,
  EndpointDefinition,
  RouteDefinition,
  RouteRequest,
} from './hosting/embedded/endpoint-definition.ts';
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
export type { ServiceSettings } from './embedded-settings.ts';
export type { LogEntry } from './shard-messages.ts';

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

/** Where the journal is: in the folder, or, gone with the service, in memory. */
export type ServiceOptions = CommonOptions &
  (
    | { readonly dataFolder: string; readonly journal?: undefined }
    | { readonly journal: 'memory'; readonly dataFolder?: undefined }
  );

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
  /** Resolves when the journal's writer has ended by itself: nothing is stored any more, and the program should end. */
  readonly failure: Promise<SvcError>;
  /**
   * Takes no further request, finishes those in flight, and after `graceMs` milliseconds cuts what is left;
   * then closes the journal. The second call waits for the first.
   */
  stop(graceMs?: number): Promise<void>;
}

const PORT = 9000;
const LIMITS_TOLD_MS = 60_000;
/** How often entities that have been idle for long enough are looked for. */
const PASSIVATE_MS = 1_000;

/**
 * Runs the components. Rejects with SVC_DEFINITION_INVALID, SVC_SETTING_INVALID, and what the journal and
 * the address fail with: SVC_DATA_UNUSABLE, SVC_DATA_IN_USE, SVC_JOURNAL_…, SVC_PORT_IN_USE,
 * SVC_ADDRESS_UNAVAILABLE.
 */
export async function createService(options: ServiceOptions): Promise<Service> {
  const { name } = options;
  if (!/^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/.test(name))
    throw new SvcError(
      'SVC_SETTING_INVALID',
      `The name of a service takes lower-case letters, digits and hyphens, at most 63, and found '${name}'.`,
    );
  const rooms = readServiceSettings(options.settings ?? {});
  const guest = createEmbeddedGuest(options);
  const storage = await openStorage(options, rooms);
  try {
    const service = new EmbeddedService(options, rooms, guest, storage);
    await service.listen();
    return service;
  } catch (error) {
    await storage.close();
    throw error;
  }
}

interface Storage {
  readonly journal: Journal;
  readonly failure: Promise<SvcError>;
  close(): Promise<void>;
}

async function openStorage(
  { dataFolder }: ServiceOptions,
  { journal: limits }: EmbeddedRooms,
): Promise<Storage> {
  if (dataFolder === undefined) {
    const journal = new MemoryJournal();
    return {
      journal,
      failure: new Promise(() => {}),
      close: () => journal.close(),
    };
  }
  const sqlite = await openSqliteJournal(resolve(dataFolder), limits);
  try {
    const journal = attachJournal(sqlite.connect(), sqlite.dir);
    const close = async (): Promise<void> => {
      await journal.close();
      await sqlite.close();
    };
    return { journal, failure: sqlite.failure, close };
  } catch (error) {
    await sqlite.close();
    throw error;
  }
}

class EmbeddedService implements Service {
  readonly failure: Promise<SvcError>;
  readonly #options: ServiceOptions;
  readonly #guest: Guest;
  readonly #entities: ReadonlySet<EntityDefinition>;
  readonly #storage: Storage;
  readonly #engine: EntityEngine;
  readonly #server: HttpServer;
  readonly #chance: Chance = systemChance();
  readonly #logRate: LogRate;
  readonly #limitLog: LimitLog;
  readonly #limitTimer: NodeJS.Timeout;
  readonly #passivationTimer: NodeJS.Timeout;
  #url: string | undefined;
  #stopped: Promise<void> | undefined;

  constructor(options: ServiceOptions, rooms: EmbeddedRooms, guest: Guest, storage: Storage) {
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
    const routes = new RouteTable(guest.descriptor);
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
    this.#server = createHttpServer({
      routes,
      settings: rooms.http,
      chance,
      callerOf: (socket) =>
        options.deployed === true ? INTERNET : callerOfAddress(socket.remoteAddress),
      handle: requestHandler({ guest, engine: this.#engine, clock: systemClock, chance, turn }),
      log: {
        warn: ({ err, guestMessage: _told, ...fields }, message) =>
          this.#log('warn', message, { ...fields, ...faults.fields(err) }),
        error: ({ err, ...fields }, message) =>
          this.#log('error', message, { ...fields, ...faults.fields(err) }),
        unlogged: (failure) => void faults.fields(failure),
      },
    });
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
    const metadata = () => [['traceparent', traceparent ?? newTraceParent(this.#chance)]] as const;
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

  stop(graceMs?: number): Promise<void> {
    this.#stopped ??= this.#stop(graceMs);
    return this.#stopped;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  async #stop(graceMs: number | undefined): Promise<void> {
    clearInterval(this.#limitTimer);
    clearInterval(this.#passivationTimer);
    await this.#server.stop(graceMs);
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
  if (typeof log === 'function') return log;
  if (log === 'none') return () => {};
  return createLog(name, log ?? (process.stderr.isTTY && deployed !== true ? 'text' : 'json'));
}
