// EmbeddedService is a service in a program's own process: entities and endpoints that are defined in TypeScript, served
// (served-guest.ts) with the journal and the introspection that `svc run` has. Everything but the journal's writer runs in
// the thread of the program. It starts in phases, each of which registers how it stops; the phases stop in reverse order.
import { hash } from 'node:crypto';
import type { Guest } from '../engine/needs/guest.ts';
import { createEmbeddedGuest } from '../hosting/embedded/embedded-guest.ts';
import {
  type EntityClient,
  entityClient,
  type RecordedEvent,
} from '../hosting/embedded/entity-client.ts';
import type { EntityDefinition } from '../hosting/embedded/entity-definition.ts';
import { createHttpServer } from '../http/http-server.ts';
import { InProcessHttp } from '../http/in-process-http.ts';
import { InProcessFetch } from '../http/requests/in-process-fetch.ts';
import { Introspection } from '../introspection/introspection.ts';
import { MetricsSource } from '../introspection/metrics-source.ts';
import type { IntrospectionSettings } from '../introspection/service-view.ts';
import { LimitLog } from './limit-log.ts';
import type { Log } from '@svc/kit/log';
import { entryBytes } from '@svc/kit/log-rate';
import { requestBudgets } from '../model/request-budgets.ts';
import { SvcError } from '@svc/kit/svc-error';
import { isFieldName, isFieldValue } from '@svc/kit/header-grammar';
import { newTraceParent, traceParentText } from '@svc/kit/trace-context';
import { systemRandom } from '../system.ts';
import { embeddedLog } from './embedded-log.ts';
import {
  type CallOptions,
  checkOptions,
  DEFAULT_PORT,
  type Service,
  type ServiceOptions,
} from './embedded-options.ts';
import { type EmbeddedSections, readServiceSettings } from './embedded-settings.ts';
import { type EmbeddedStorage, openEmbeddedStorage } from './embedded-storage.ts';
import { ProcessHistory } from './process-history.ts';
import { ProcessShard } from './process-shard.ts';
import { inProcessCaller, ServedGuest } from './served-guest.ts';
import { ServiceLog } from './service-log.ts';
import { MANAGEMENT_PORT, otlpUrl, runningFolder } from './settings.ts';

const STOP_GRACE_MS = 10_000;
/** Interval at which the limits that were hit are logged, in milliseconds. */
const LIMITS_LOGGED_MS = 60_000;

/**
 * Runs the components. Rejects with SVC_DEFINITION_INVALID, SVC_SETTING_INVALID, and the errors of opening the
 * journal and the addresses: SVC_DATA_UNUSABLE, SVC_DATA_IN_USE, SVC_JOURNAL_…, SVC_MANIFEST_UNREADABLE,
 * SVC_PORT_IN_USE, SVC_ADDRESS_UNAVAILABLE.
 */
export async function createService(options: ServiceOptions): Promise<Service> {
  checkOptions(options);
  const sections = readServiceSettings(options.settings ?? {});
  const receiver = otlpReceiver(options);
  const guest = createEmbeddedGuest(options);
  const fingerprint = programFingerprint(guest);
  const { descriptor } = guest;
  const storage = await openEmbeddedStorage(options, sections.journal, { fingerprint, descriptor });
  const parts = { sections, guest, storage, fingerprint, otlp: receiver };
  let service: EmbeddedService | undefined;
  try {
    service = new EmbeddedService(options, parts);
    await service.start();
    return service;
  } catch (error) {
    // The error of the start is reported, rather than one of the stop.
    await (service?.stop(0) ?? storage.close()).catch(() => {});
    throw error;
  }
}

/** Throws SVC_SETTING_INVALID. */
function otlpReceiver({ observability }: ServiceOptions): IntrospectionSettings['otlp'] {
  const otlp = observability?.otlp;
  if (otlp === undefined) return undefined;
  return { url: otlpUrl(otlp.endpoint), headers: receiverHeaders(otlp.headers ?? {}) };
}

function receiverHeaders(
  headers: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  for (const [name, value] of Object.entries(headers))
    if (!isFieldName(name) || typeof value !== 'string' || (value !== '' && !isFieldValue(value)))
      throw new SvcError(
        'SVC_SETTING_INVALID',
        'A header of observability.otlp.headers cannot be one: a name is a token, and a value is text on one line.',
      );
  return headers;
}

/** Identifies the program by its types and its version. */
function programFingerprint({ descriptor, fingerprint: version = '' }: Guest): string {
  return hash('sha256', `${JSON.stringify(descriptor)}\n${version}`, 'hex');
}

interface EmbeddedParts {
  readonly sections: EmbeddedSections;
  readonly guest: Guest;
  readonly storage: EmbeddedStorage;
  readonly fingerprint: string;
  readonly otlp: IntrospectionSettings['otlp'];
}

class EmbeddedService implements Service {
  readonly failure: Promise<SvcError>;
  readonly #options: ServiceOptions;
  readonly #guest: Guest;
  readonly #entities: ReadonlySet<EntityDefinition>;
  readonly #shard: ProcessShard;
  readonly #history: ProcessHistory;
  readonly #served: ServedGuest;
  readonly #inProcess: InProcessFetch;
  readonly #introspection: Introspection;
  readonly #random = systemRandom();
  readonly #stops = new AsyncDisposableStack();
  #graceMs = STOP_GRACE_MS;
  #url: string | undefined;
  #stopped: Promise<void> | undefined;

  /** Serves the components to the program; `start` makes them reachable. */
  constructor(options: ServiceOptions, parts: EmbeddedParts) {
    const { sections, guest, storage } = parts;
    const { deployed = false } = options;
    this.#options = options;
    this.#guest = guest;
    this.#entities = new Set(options.entities);
    this.failure = storage.failure;
    const ring = sections.observability.ringCapacity;
    this.#shard = new ProcessShard(guest.descriptor, ring);
    this.#history = new ProcessHistory(guest, storage.dir);
    const write = embeddedLog(options);
    const log = this.#startLog(write, sections);
    this.#introspection = this.#makeIntrospection(write, parts);
    this.#served = new ServedGuest({
      guest,
      journal: storage.journal,
      deployed,
      sections,
      log,
      numbers: this.#shard.numbers[0],
      budgets: requestBudgets(sections.http),
      index: 0,
      createServer: createHttpServer,
    });
    this.#shard.answers = this.#served.answers;
    const inProcess = new InProcessHttp({ ...this.#served.http, project: undefined });
    this.#inProcess = new InProcessFetch(inProcess, inProcessCaller(deployed));
    this.#stops.defer(() => this.#introspection.close());
    this.#stops.defer(() => log.report());
    this.#stops.defer(() => guest.close());
    this.#stops.defer(() => storage.close());
    this.#stops.defer(() => this.#served.close());
    void storage.failure.then(({ code, message }) =>
      log.write('error', 'the journal can store nothing any more', { code, reason: message }),
    );
  }

  get url(): string | undefined {
    return this.#url;
  }

  /** Opens the addresses. Rejects with SVC_PORT_IN_USE, SVC_ADDRESS_UNAVAILABLE. */
  async start(): Promise<void> {
    const { http = {}, deployed = false, endpoints = [] } = this.#options;
    await this.#introspection.open();
    // This phase stops first, and at once: no further request is accepted once `stop` has returned.
    this.#stops.defer(async () => {
      this.#shard.isServing = false;
      this.#introspection.stopping();
      const graceMs = this.#graceMs;
      await Promise.all([
        this.#served.stop(graceMs),
        this.#inProcess.stop(graceMs),
        this.#history.close(),
      ]);
      await this.#introspection.finished();
    });
    if (http !== false && endpoints.length > 0) {
      const wantedHost = http.host ?? hostOf(deployed);
      const wanted = { host: wantedHost, port: http.port ?? DEFAULT_PORT };
      const { host, port } = await this.#served.listen(wanted);
      this.#url = `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
    }
    this.#shard.isServing = true;
    const { descriptor } = this.#guest;
    await this.#introspection.served({ url: this.#url, descriptor });
  }

  call<Definition extends EntityDefinition>(
    entity: Definition,
    id: string,
    { traceparent }: CallOptions = {},
  ): EntityClient<Definition> {
    if (!this.#entities.has(entity))
      throw new Error(`component '${entity.component}' is none of this service's entities`);
    const metadata = () =>
      [['traceparent', traceparent ?? traceParentText(newTraceParent(this.#random))]] as const;
    const calls = this.#served.engine;
    return entityClient(entity, { calls, metadata }, id) as EntityClient<Definition>;
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
    this.#graceMs = graceMs;
    this.#stopped ??= this.#stops.disposeAsync();
    return this.#stopped;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  #startLog(write: Log, { log: limits }: EmbeddedSections): ServiceLog {
    const { counters } = this.#shard;
    let writtenBytes = 0;
    const log = new ServiceLog({
      limits,
      counters,
      send: (entry) => {
        write(entry);
        writtenBytes += entryBytes(entry);
        log.written(writtenBytes);
      },
    });
    const limitLog = new LimitLog(counters, write);
    const timer = setInterval(() => limitLog.logChanges(), LIMITS_LOGGED_MS).unref();
    this.#stops.defer(() => {
      clearInterval(timer);
      limitLog.logChanges();
    });
    return log;
  }

  #makeIntrospection(log: Log, parts: EmbeddedParts): Introspection {
    const { sections, guest, storage, fingerprint } = parts;
    const { descriptor } = guest;
    return new Introspection({
      settings: introspectionSettings(this.#options, parts),
      shards: this.#shard,
      metrics: new MetricsSource({
        shards: this.#shard,
        journal: storage.series,
        ringCapacity: sections.observability.ringCapacity,
      }),
      source: Promise.resolve({ kind: 'program', file: undefined, fingerprint, descriptor }),
      journal: Promise.resolve({ failure: storage.failure }),
      history: this.#history,
      env: {},
      log,
    });
  }
}

function introspectionSettings(
  { name, http, deployed = false, management, observability = {}, endpoints = [] }: ServiceOptions,
  { sections, storage, otlp }: EmbeddedParts,
): IntrospectionSettings {
  const { local, runningFolder: folder } = observability;
  return {
    name,
    http: http !== false && endpoints.length > 0,
    port: (http === false ? undefined : http?.port) ?? DEFAULT_PORT,
    management:
      management === undefined || management === false
        ? undefined
        : {
            host: management.host ?? hostOf(deployed),
            port: management.port ?? MANAGEMENT_PORT,
          },
    isLocal: local ?? (!deployed && storage.dir !== undefined),
    runningFolder: runningFolder(folder),
    otlp,
    sections,
  };
}

function hostOf(deployed: boolean): string {
  return deployed ? '0.0.0.0' : '127.0.0.1';
}
