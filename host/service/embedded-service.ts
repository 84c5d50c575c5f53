// EmbeddedService is a service in a program's own process: entities and endpoints that are defined in TypeScript,
// served (served-guest.ts) with the journal and the introspection that `svc run` has. Everything but the journal's
// writer and the export of spans runs in the thread of the program. The service starts in phases, in this order: log,
// introspection, guest, journal, engine, addresses. The phases stop in reverse order (@svc/kit/phases). Invariant: if
// the journal or an address cannot be opened, the service releases everything that it has opened.
import { checkedRequest } from '../control/control-request.ts';
import { stopping } from '../engine/entity/stopping.ts';
import type { RandomSource } from '../engine/needs/clock.ts';
import type { Guest, HostCalls } from '@svc/model/guest';
import type { Journal } from '../engine/needs/journal.ts';
import { quoted } from '../engine/quoted.ts';
import { type EntityClient, entityClient, type RecordedEvent } from '@svc/components/entity-client';
import type { EntityDefinition } from '@svc/components/entity-definition';
import { type ViewClient, viewClient } from '@svc/components/view-client';
import type { ViewDefinition } from '@svc/components/view-definition';
import { createHttpServer } from '../http/http-server.ts';
import { InProcessHttp } from '../http/in-process-http.ts';
import { positionOf, tokenOf } from '../http/position-token.ts';
import { InProcessFetch } from '../http/requests/in-process-fetch.ts';
import { Introspection } from '../introspection/introspection.ts';
import { type IntrospectionSettings, serviceView } from '../introspection/service-view.ts';
import { LimitLog } from './limit-log.ts';
import { httpUrl } from '@svc/kit/listen';
import type { Log } from '@svc/kit/log';
import { type Phase, Phases } from '@svc/kit/phases';
import { requestBudgets } from '@svc/model/request-budgets';
import { SvcError } from '@svc/kit/svc-error';
import { TimerSeries } from '../storage/timer-series.ts';
import { newTraceParent, traceParentText } from '@svc/kit/trace-context';
import { systemRandom } from '../system.ts';
import { EmbeddedCertificate } from './embedded-certificate.ts';
import type { EmbeddedDeployment } from './embedded-deployment.ts';
import { limitedLog } from './embedded-log.ts';
import {
  addressOf,
  type CallOptions,
  type FindOptions,
  DEFAULT_PORT,
  hasHttp,
  httpWords,
  type Service,
  type ServiceChange,
  type ServiceOptions,
} from './embedded-options.ts';
import type { EmbeddedSections } from './embedded-settings.ts';
import { responseForm } from './embedded-responses.ts';
import { EmbeddedStorage } from './embedded-storage.ts';
import { EmbeddedTimers } from './embedded-timers.ts';
import { programCalls } from './program-calls.ts';
import { EmbeddedConfiguration } from './embedded-configuration.ts';
import { ProcessConsumers } from './process-consumers.ts';
import { ProcessHistory } from './process-history.ts';
import { ProcessShard } from './process-shard.ts';
import { ProcessViews } from './process-views.ts';
import { ServicesOnDemand } from './called-services.ts';
import { reportUncallable } from './own-name.ts';
import { inProcessCaller, ServedGuest } from './served-guest.ts';
import { logTesting } from './testing-options.ts';
import { changeService, NO_VIEWS } from './service-change.ts';
import { serviceCounts, type ServiceCounts } from './service-counts.ts';
import type { ServiceLog } from './service-log.ts';

const STOP_GRACE_MS = 10_000;
const GRACE_MS_MAX = 24 * 60 * 60 * 1000;

export interface EmbeddedParts {
  readonly sections: EmbeddedSections;
  readonly guest: Guest;
  readonly storage: EmbeddedStorage;
  readonly fingerprint: string;
  readonly introspection: IntrospectionSettings;
  /** Absent unless the settings come from the environment. */
  readonly deployment?: EmbeddedDeployment;
}

/** Parts of a started service. */
interface Serving {
  readonly guest: ServedGuest;
  readonly inProcess: InProcessFetch;
}

export class EmbeddedService implements Service {
  readonly failure: Promise<SvcError>;
  readonly #options: ServiceOptions;
  readonly #parts: EmbeddedParts;
  readonly #entities: ReadonlySet<EntityDefinition>;
  readonly #shard: ProcessShard;
  readonly #history: ProcessHistory;
  /** Writes every entry to the program's log; `#log` limits the rate of its entries first. */
  readonly #write: Log;
  readonly #log: ServiceLog;
  readonly #configuration: EmbeddedConfiguration;
  readonly #introspection: Introspection;
  readonly #certificate: EmbeddedCertificate;
  readonly #timerSeries = new TimerSeries();
  readonly #consumers: ProcessConsumers;
  readonly #opened = Promise.withResolvers<EmbeddedStorage>();
  readonly #random: RandomSource;
  readonly #phases: Phases;
  #journal: Journal | undefined;
  /** Undefined until the journal is open, and if there are no views. */
  #views: ProcessViews | undefined;
  /** Undefined until the journal is open. */
  #serving: Serving | undefined;
  #timers: EmbeddedTimers | undefined;
  #graceMs = STOP_GRACE_MS;
  #url: string | undefined;
  #stopped: Promise<void> | undefined;
  #workStopped: Promise<unknown> | undefined;

  /** Opens nothing; call `start`. */
  constructor(options: ServiceOptions, parts: EmbeddedParts) {
    const { sections, guest, storage } = parts;
    this.#options = options;
    this.#parts = parts;
    this.#random = options.testing?.random ?? systemRandom();
    this.#entities = new Set(options.entities);
    this.failure = storage.failure;
    this.#shard = new ProcessShard(guest.descriptor, sections.observability.ringCapacity);
    this.#history = new ProcessHistory(guest, storage.location);
    this.#configuration = new EmbeddedConfiguration(options);
    this.#write = this.#configuration.log;
    reportUncallable(options.name, this.#write);
    this.#certificate = new EmbeddedCertificate(options, this.#write);
    this.#log = limitedLog(sections.log, this.#shard.counters, this.#write);
    this.#consumers = new ProcessConsumers({
      consumers: guest.descriptor.consumers ?? [],
      settings: sections.consumers,
      log: this.#write,
      logLimits: sections.log,
      clock: options.testing?.clock,
      random: this.#random,
    });
    this.#introspection = this.#makeIntrospection();
    this.#phases = new Phases(this.#phasesInOrder());
    void storage.failure.then(({ code, message }) =>
      this.#log.write('error', 'the journal can store nothing any more', { code, reason: message }),
    );
  }

  get url(): string | undefined {
    return this.#url;
  }

  get managementUrl(): string | undefined {
    return this.#introspection.managementUrl;
  }

  get descriptor(): Guest['descriptor'] {
    return this.#parts.guest.descriptor;
  }

  /** Opens journal and addresses. Rejects with their errors; call `stop` then, too. */
  start(): Promise<void> {
    return this.#phases.start();
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
    const calls = programCalls(this.#serving!.guest.engine);
    return entityClient(entity, { calls, metadata }, id) as EntityClient<Definition>;
  }

  readEvents<Handlers, Event>(
    entity: EntityDefinition<Handlers, Event>,
    id: string,
    afterSeq?: number,
    limit?: number,
  ): Promise<readonly RecordedEvent<Event>[]> {
    return this.call(entity, id).events(afterSeq, limit);
  }

  view<Definition extends ViewDefinition>(
    view: Definition,
    { after }: FindOptions = {},
  ): ViewClient<Definition> {
    if (this.#options.views?.includes(view) !== true)
      throw new Error(`view '${view.id}' is none of this service's views`);
    const { finder } = this.#views!;
    const position = after === undefined ? undefined : positionOf(after, finder.positions);
    if (after !== undefined && position === undefined)
      throw new SvcError(
        'SVC_FIND_INVALID',
        `The position ${quoted(after)} is none of this service: pass on what position() or Svc-Position gave.`,
      );
    const find: HostCalls['find'] = (id, query, input, limit, cursor) =>
      finder.find({ view: id, query, input, limit, cursor }, position);
    return viewClient(view, { find }) as ViewClient<Definition>;
  }

  position(): string {
    return tokenOf(this.#journal!.positions.end());
  }

  counts(): ServiceCounts {
    const views = this.#stopped === undefined ? this.#views?.statuses.read() : [];
    return serviceCounts(this.#consumers.read(), views ?? []);
  }

  async change(change: ServiceChange): Promise<boolean> {
    const request = checkedRequest(change);
    if (this.#stopped !== undefined) throw stopping();
    const timers = this.#parts.storage.timerAdministration;
    return changeService(
      { timers, views: this.#views ?? NO_VIEWS, consumers: this.#consumers },
      request,
      this.#options.testing?.clock?.nowMs(),
    );
  }

  fetch(input: string | URL | Request, init?: RequestInit): Promise<Response> {
    return this.#serving!.inProcess.fetch(input, init);
  }

  stop(graceMs = STOP_GRACE_MS): Promise<void> {
    this.#stopped ??= this.#stop(graceMs);
    return this.#stopped;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  #stop(graceMs: number): Promise<void> {
    // A timer with a delay above its maximum would fire at once, so the grace is limited.
    this.#graceMs = Math.min(Math.max(graceMs, 0) || 0, GRACE_MS_MAX);
    return this.#phases.stop();
  }

  #phasesInOrder(): Phase[] {
    const { guest, storage, deployment } = this.#parts;
    const introspection = this.#introspection;
    const limitLog = new LimitLog(this.#shard.counters, this.#write);
    return [
      { start: () => logTesting(this.#options.testing, this.#log) },
      { start: () => limitLog.start(), stop: () => limitLog.stop() },
      { stop: () => this.#log.report() },
      { start: () => this.#certificate.open(), stop: () => this.#certificate.close() },
      { start: () => deployment?.open(), stop: () => deployment?.close() },
      { start: () => introspection.open(), stop: () => introspection.close() },
      this.#configuration.phase(guest),
      { stop: () => guest.close() },
      { start: (signal) => this.#openJournal(signal), stop: () => storage.close() },
      { start: () => this.#openViews(), stop: () => this.#views?.close() },
      { start: () => this.#serve(), stop: () => this.#serving?.guest.close() },
      { start: () => this.#fireTimers(), stop: () => this.#stopWork() },
      { start: () => this.#consume(), stop: () => this.#stopWork() },
      // This phase stops first, and at once: no further request is accepted once `stop` has returned.
      { start: () => this.#listen(), stop: () => this.#stopListening() },
    ];
  }

  async #openJournal(signal: AbortSignal): Promise<void> {
    const { storage, guest, fingerprint, deployment } = this.#parts;
    const program = { fingerprint, descriptor: guest.descriptor };
    const warn = (message: string) => this.#log.write('warn', message);
    this.#journal = await storage.open(program, { warn, ...deployment?.journalOpening(signal) });
    this.#opened.resolve(storage);
  }

  async #openViews(): Promise<void> {
    const { guest, storage, sections } = this.#parts;
    if (guest.views === undefined) return;
    const { views: limits } = sections;
    const store = await storage.views(limits);
    this.#views = new ProcessViews({
      guest,
      feed: await storage.feed(),
      store,
      limits,
      log: this.#write,
      clock: this.#options.testing?.clock,
    });
  }

  #serve(): void {
    const { guest, sections, introspection, deployment } = this.#parts;
    const { deployed = false } = this.#options;
    const local = { kind: 'local', runningFolder: introspection.runningFolder } as const;
    const services = new ServicesOnDemand({
      settings: sections.calls,
      network: deployed ? deployment?.network : local,
      log: this.#log,
    });
    const served = new ServedGuest({
      guest,
      journal: this.#journal!,
      leases: this.#parts.storage.leases,
      deployed,
      sections,
      tls: deployment?.tls,
      certificate: this.#certificate.opened,
      form: responseForm(this.#options.responses),
      log: this.#log,
      clock: this.#options.testing?.clock,
      random: this.#random,
      numbers: this.#shard.numbers[0],
      budgets: requestBudgets(sections.http),
      index: 0,
      views: this.#views?.finder,
      services,
      configuration: this.#configuration.current,
      createServer: createHttpServer,
    });
    this.#shard.answers = served.answers;
    const http = new InProcessHttp({ ...served.http, project: undefined });
    this.#serving = {
      guest: served,
      inProcess: new InProcessFetch(http, inProcessCaller(deployed)),
    };
  }

  #fireTimers(): void {
    const { storage, sections } = this.#parts;
    const { guest } = this.#serving!;
    this.#timers = new EmbeddedTimers({
      timers: storage.timers,
      settings: sections.timers,
      clock: this.#options.testing?.clock,
      series: this.#timerSeries,
      fire: (firing) => guest.fire(firing),
      report: (reason) => this.#log.write('error', 'a timer could not be fired', { reason }),
    });
    this.#timers.begin();
  }

  async #consume(): Promise<void> {
    const { guest } = this.#serving!;
    await this.#consumers.begin(this.#parts.storage, (delivery) => guest.deliver(delivery));
  }

  /** Stops timers and consumers together, which have the time that requests in flight have. A further call waits for the first. */
  #stopWork(): Promise<unknown> {
    const graceMs = this.#graceMs;
    this.#workStopped ??= Promise.all([this.#timers?.stop(graceMs), this.#consumers.stop(graceMs)]);
    return this.#workStopped;
  }

  async #listen(): Promise<void> {
    const { http = {}, deployed = false } = this.#options;
    if (http !== false && hasHttp(this.#options)) {
      const wanted = addressOf(http, deployed, DEFAULT_PORT);
      const { tls, sockets = {} } = this.#parts.deployment ?? {};
      const { guest } = this.#serving!;
      const given = sockets.http === undefined ? {} : { fd: sockets.http };
      const address = await guest.listen({ ...wanted, ...given }, httpWords(this.#options));
      if (sockets.calls !== undefined) await guest.listenOn(sockets.calls);
      this.#url = httpUrl(address, tls === undefined ? this.#certificate.scheme : 'https');
    }
    this.#shard.isServing = true;
    await this.#introspection.served({ url: this.#url, descriptor: this.descriptor });
    this.#parts.deployment?.served();
  }

  async #stopListening(): Promise<void> {
    const { guest, inProcess } = this.#serving!;
    this.#shard.isServing = false;
    this.#introspection.stopping();
    const graceMs = this.#graceMs;
    await Promise.all([
      guest.stop(graceMs),
      inProcess.stop(graceMs),
      this.#stopWork(),
      this.#history.close(),
    ]);
    await this.#introspection.finished();
  }

  #makeIntrospection(): Introspection {
    const { guest, storage, fingerprint, introspection } = this.#parts;
    const { descriptor } = guest;
    return new Introspection(
      serviceView({
        settings: introspection,
        shards: this.#shard,
        journalSeries: storage.series,
        timerSeries: this.#timerSeries,
        consumerSeries: this.#consumers,
        clusterSeries: { read: () => storage.cluster },
        programMetrics: this.#options.metrics,
        ...(descriptor.configuration && { configuration: this.#configuration }),
        views: { read: () => this.#views?.statuses.read() ?? [] },
        source: Promise.resolve({ kind: 'program', file: undefined, fingerprint, descriptor }),
        journal: this.#opened.promise,
        isPrepared: () => this.#parts.deployment?.isPrepared ?? false,
        history: this.#history,
        env: {},
        log: this.#write,
      }),
    );
  }
}
