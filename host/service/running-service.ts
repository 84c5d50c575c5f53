// RunningService runs one module as a service in this process. It starts in phases, in this order: introspection, journal (which the first shard
// opens), log of exceeded limits, shards, control socket, announcement, and the loop of `svc dev`. They stop in reverse order. Invariants:
// - Whatever was started is stopped, even if the start failed or was interrupted.
// - No shard is connected to the journal before the module is admitted (service-journal.ts).
// - The journal is closed after all shards have stopped, and the management server answers until then.
import { once } from 'node:events';
import type { HistoryWork } from '../history/reader/history-reader.ts';
import { HistoryThread } from '../history/reader/history-thread.ts';
import type { GuestSource } from '../hosting/guest-source.ts';
import { Introspection } from '../introspection/introspection.ts';
import type { ServedAddress } from '../introspection/introspection-part.ts';
import { serviceView } from '../introspection/service-view.ts';
import type { LocatedLog } from '../introspection/located-log.ts';
import { LimitLog } from './limit-log.ts';
import type { CertificateFolder } from '@svc/identity/certificate-folder';
import { httpUrl } from '@svc/kit/listen';
import type { Log } from '@svc/kit/log';
import { type Phase, Phases } from '@svc/kit/phases';
import type { SvcError } from '@svc/kit/svc-error';
import { journalAt } from '../storage/journal-location.ts';
import { JournalSeries } from '../storage/journal-series.ts';
import type { FollowerConnection } from '../storage/follower-connection.ts';
import { shardCount } from '../shards/shard-count.ts';
import { type Started, Supervisor } from '../shards/supervisor.ts';
import { logWithoutSecrets } from './log-without-secrets.ts';
import { locatedLog, withLocatedFailure } from './located-start.ts';
import type { RunnableSettings, RunOptions } from './run-options.ts';
import { checkIssuer } from './issuer-check.ts';
import { moduleStandby } from './module-standby.ts';
import { ModuleWork } from './module-work.ts';
import { supervisedSettings } from './supervised-settings.ts';
import { type ServiceLoop, startDevLoop } from './service-dev-loop.ts';
import { CodeSource } from './code-source.ts';
import { openCertificates } from './opened-certificates.ts';
import { ServiceCluster } from './service-cluster.ts';
import { ServiceConfiguration } from './service-configuration.ts';
import { ServiceControl } from './service-control.ts';
import { ServiceJournal } from './service-journal.ts';
import { announce } from './service-start.ts';
import { INTROSPECTION_SETTING_NAMES } from './settings.ts';
import { SocketRelay } from './socket-relay.ts';
import type { Standby } from './standby.ts';
import { ignoredComponents } from './upgrade-settings.ts';
import { TokenVerification } from './token-verification.ts';
import { followedViews, type ViewStatuses } from './view-statuses.ts';
import { ViewThreads } from './view-threads.ts';

export class RunningService {
  readonly #settings: RunnableSettings;
  readonly #options: RunOptions;
  readonly #log: Log;
  readonly #code: CodeSource;
  readonly #source: Promise<GuestSource>;
  readonly #admission = new AbortController();
  readonly #configuration: ServiceConfiguration;
  readonly #standby: Standby | undefined;
  readonly #journal: ServiceJournal;
  readonly #cluster: ServiceCluster;
  readonly #views: ViewThreads;
  readonly #viewStatuses: ViewStatuses;
  readonly #supervisor: Supervisor;
  readonly #work: ModuleWork;
  /** Undefined: no tokens count. */
  readonly #tokens: TokenVerification | undefined;
  readonly #control: ServiceControl;
  readonly #history: HistoryThread;
  readonly #introspection: Introspection;
  /** Resolves with the reason of a requested stop; rejects if the journal's writer ends unexpectedly. */
  readonly #ended = Promise.withResolvers<string>();
  readonly #phases: Phases;
  /** The module that is served, which `svc dev` replaces; undefined until the first one is admitted. */
  #served: GuestSource | undefined;
  /** Undefined unless lines of faults are followed by their source locations. */
  readonly #locatedLog: LocatedLog | undefined;
  /** Undefined until it is read, and if the service listens without TLS. */
  #certificates: CertificateFolder | undefined;
  /** Undefined until the shards have started. */
  #started: Started | undefined;
  #hasFinishedInTime = true;
  /** Failure after which the journal stores nothing; it is reported even if it occurs during the stop. */
  #journalFailure: SvcError | undefined;

  /** Begins to admit the module, and starts nothing else. */
  constructor(settings: RunnableSettings, options: RunOptions) {
    this.#settings = settings;
    this.#options = options;
    void options.stopRequested.then((reason) => {
      options.status?.enter('stopping');
      this.#ended.resolve(reason);
      this.#admission.abort();
    });
    this.#ended.promise.catch(() => {});
    this.#locatedLog = locatedLog(settings, options, (span) =>
      this.#introspection.locationsOf(span),
    );
    const log = this.#locatedLog?.log ?? options.log;
    this.#log = logWithoutSecrets(log, () => this.#configuration.current);
    this.#configuration = new ServiceConfiguration({
      sources: settings.configuration,
      log,
      onChange: (texts) => this.#supervisor.renewConfiguration(texts),
    });
    this.#code = new CodeSource(settings, { env: options.env, log: this.#log });
    this.#source = this.#admit();
    // Shards handle the rejection; if none was started, it must not count as unhandled.
    this.#source.catch(() => {});
    const series = new JournalSeries();
    this.#standby = this.#makeStandby(series);
    const ignored = ignoredComponents(settings.ignoreComponents, settings.sections.upgrade);
    this.#journal = new ServiceJournal({
      location: journalAt(settings.dataFolder, settings.database),
      warn: (message) => this.#log({ level: 'warn', message }),
      isExclusive: !this.#isShared,
      upgrade: this.#isShared ? settings.sections.upgrade : undefined,
      limits: settings.sections.journal,
      timerLimits: settings.sections.timers,
      series,
      source: this.#source,
      open: this.#standby && ((fingerprint) => this.#standby!.open(fingerprint)),
      // `svc dev` reports unknown event types and continues.
      ignoreComponents: options.loop === undefined ? ignored : undefined,
      // Without its journal the service cannot store anything.
      onFailure: (failure) => {
        this.#journalFailure = failure;
        this.#ended.reject(failure);
      },
    });
    const { stopGraceMs: leaveMs } = settings.sections.supervisor;
    const { opened } = this.#journal;
    this.#cluster = new ServiceCluster({ remoting: settings.remoting, journal: opened, leaveMs });
    this.#views = this.#makeViews();
    this.#viewStatuses = followedViews({
      reports: () => this.#views.report(),
      declared: () => this.#served?.descriptor.views ?? [],
      connection: this.#followerConnection(),
    });
    this.#history = new HistoryThread({ work: () => this.#historyWork(), env: options.env });
    this.#tokens = TokenVerification.of(settings, this.#log);
    this.#supervisor = this.#makeSupervisor();
    const { env } = options;
    this.#work = new ModuleWork({ settings, env, log: this.#log, supervisor: this.#supervisor });
    this.#control = new ServiceControl({
      log: this.#log,
      journal: this.#journal.opened,
      consumers: this.#work.consumers,
      views: this.#views,
      viewStatuses: this.#viewStatuses,
    });
    this.#introspection = this.#makeIntrospection();
    this.#phases = new Phases(this.#phasesInOrder());
  }

  /**
   * Serves until a stop is requested. Rejects with the reason if the service cannot start or cannot continue, after
   * everything has stopped.
   */
  async run(): Promise<void> {
    try {
      await Promise.race([this.#phases.start(), this.#ended.promise]);
      const reason = await this.#ended.promise;
      this.#log({ level: 'info', message: 'stopping', fields: { reason } });
    } catch (error) {
      this.#options.status?.enter('stopping');
      // An error of the stop is dropped: it would hide the error that caused the stop.
      await this.#phases.stop().catch(() => {});
      throw error;
    }
    await this.#phases.stop();
    if (this.#journalFailure !== undefined) throw this.#journalFailure;
    const message = this.#hasFinishedInTime
      ? 'stopped'
      : 'stopped, and cut what did not finish in time';
    this.#log({ level: 'info', message });
  }

  /** The port that the service has listened on; undefined if it has not listened. */
  get port(): number | undefined {
    return this.#started?.address?.port;
  }

  #phasesInOrder(): Phase[] {
    const limitLog = new LimitLog(this.#supervisor.counters, this.#log);
    const { loop } = this.#options;
    return [
      { stop: () => this.#locatedLog?.settled() },
      { stop: () => this.#admission.abort() },
      this.#code.running((error) => this.#ended.reject(error)),
      { start: () => this.#openCertificates(), stop: () => this.#certificates?.close() },
      { start: () => this.#introspection.open(), stop: () => this.#introspection.close() },
      { start: () => this.#standby?.start(), stop: () => this.#standby?.close() },
      { stop: () => this.#journal.close() },
      { stop: () => this.#views.stop().finally(() => this.#viewStatuses.close()) },
      { start: () => limitLog.start(), stop: () => limitLog.stop() },
      // When the shards have stopped, no firing is under way any more.
      { stop: () => this.#work.timers.stop(0) },
      { start: () => this.#tokens?.open(), stop: () => this.#tokens?.close() },
      {
        start: async (signal) =>
          void (await Promise.race([this.#startShards(), once(signal, 'abort')])),
        stop: () => this.#stopShards(),
      },
      this.#code.watching((error) => this.#ended.reject(error)),
      new SocketRelay(this.#settings).phase(() => this.#started!.address),
      this.#cluster.phase({ shards: this.#supervisor, consumers: this.#work.consumers }),
      // No firing and no delivery starts before all shards can execute theirs.
      { start: () => this.#beginWork() },
      { start: () => this.#control.open(), stop: () => this.#control.close() },
      { start: () => this.#configuration.watch(), stop: () => this.#configuration.close() },
      { start: (signal) => this.#announce(signal), stop: () => this.#withdraw() },
      ...(loop === undefined
        ? []
        : [{ start: () => this.#startDevLoop(loop), stop: () => loop.dev.end() }]),
    ];
  }

  async #openCertificates(): Promise<void> {
    const renewed = (): void => this.#supervisor.renewCertificates();
    this.#certificates = await openCertificates(this.#settings.identity, this.#log, renewed);
  }

  async #admit(): Promise<GuestSource> {
    const source = await this.#code.read(this.#admission.signal);
    checkIssuer(source.descriptor, this.#settings.tokens);
    await this.#configuration.prepare(source);
    this.#served = source;
    return source;
  }

  /** Whether other instances may use the journal at the same time. */
  get #isShared(): boolean {
    const { database, standby } = this.#settings;
    return database !== undefined && !standby && this.#options.loop === undefined;
  }

  #makeStandby(series: JournalSeries): Standby | undefined {
    return moduleStandby(this.#settings, this.#options, {
      source: this.#source,
      series,
      signal: this.#admission.signal,
      onLate: (error) => this.#ended.reject(error),
    });
  }

  #historyWork(): HistoryWork {
    const { wasm } = this.#settings.sections;
    return { location: this.#journal.location, source: this.#served!, settings: { wasm } };
  }

  async #beginWork(): Promise<void> {
    this.#work.begin(await this.#journal.opened, (await this.#source).descriptor);
  }

  async #followerConnection(): Promise<FollowerConnection> {
    return (await this.#journal.opened).followerConnection;
  }

  #makeViews(): ViewThreads {
    const { wasm, views, supervisor } = this.#settings.sections;
    return new ViewThreads({
      connection: this.#followerConnection(),
      hosting: { wasm },
      limits: views,
      supervision: supervisor,
      env: this.#options.env,
      log: this.#log,
    });
  }

  #makeSupervisor(): Supervisor {
    const { identity, shards, sections } = this.#settings;
    const count = shardCount(shards, process.platform, this.#log);
    const tokens = this.#tokens;
    return new Supervisor({
      shardFile: new URL('./shard.ts', import.meta.url),
      settings: supervisedSettings(this.#settings, {
        count,
        verifiesTokens: tokens !== undefined,
        isShared: this.#isShared,
      }),
      source: this.#source,
      limits: sections.supervisor,
      env: this.#options.env,
      connectJournal: (index) => {
        this.#standby?.shardStarted();
        return this.#journal.connect(index, count);
      },
      isStandby: this.#standby !== undefined,
      nodes: () => this.#cluster.nodes,
      workLinks: {
        firings: (index) => this.#work.timers.link(index),
        deliveries: (index) => this.#work.consumers.link(index),
        ...(tokens && { tokens: (index) => tokens.link(index) }),
      },
      certificates: identity && (() => this.#certificates!.current.certificates.texts),
      serveViews: (source) => this.#views.serve(source),
      configuration: (source) => this.#configuration.of(source),
      log: this.#log,
      recovered: () => this.#options.loop?.dev.recovered(),
    });
  }

  #makeIntrospection(): Introspection {
    const settings = this.#settings;
    const { env, loop } = this.#options;
    return new Introspection(
      serviceView({
        settings: {
          ...settings,
          management: settings.deployed ? settings.management : undefined,
          isLocal: !settings.deployed,
          names: INTROSPECTION_SETTING_NAMES,
        },
        shards: this.#supervisor,
        journalSeries: this.#journal.series,
        timerSeries: this.#work.timers.series,
        consumerSeries: this.#work.consumers,
        clusterSeries: this.#cluster,
        views: this.#viewStatuses,
        configuration: this.#configuration,
        process: this.#code.process,
        controlSocket: () => this.#control.socket,
        source: this.#source,
        journal: this.#journal.opened,
        cluster: () => (this.#isShared ? this.#cluster.state : undefined),
        isPrepared: () => this.#standby?.isPrepared ?? false,
        history: this.#history,
        env,
        log: this.#log,
        ...(loop === undefined ? {} : { dev: () => loop.dev.state() }),
      }),
    );
  }

  async #startShards(): Promise<void> {
    const { loop, env } = this.#options;
    const starting = this.#supervisor.start();
    const isForPerson = loop === undefined && !this.#settings.deployed;
    const work = () => this.#source.then(() => this.#historyWork());
    this.#started = await (isForPerson ? withLocatedFailure(starting, env, work) : starting);
  }

  async #stopShards(): Promise<void> {
    this.#admission.abort();
    const { stopGraceMs } = this.#settings.sections.supervisor;
    // Events in flight have the time of requests in flight; no engine is closed before.
    const delivered = this.#work.consumers.stop(stopGraceMs);
    const finished = async () => {
      await delivered;
      await this.#introspection.finished();
    };
    this.#hasFinishedInTime = await this.#supervisor.stop(finished);
    await delivered;
  }

  get #servedAddress(): ServedAddress {
    const { address, descriptor } = this.#started!;
    const scheme = this.#certificates === undefined ? 'http' : 'https';
    return { url: address === undefined ? undefined : httpUrl(address, scheme), descriptor };
  }

  async #announce(signal: AbortSignal): Promise<void> {
    // A service that takes over serves at once, from the rows that are there.
    if (this.#standby === undefined) await this.#views.answering(signal);
    const served = this.#servedAddress;
    // The registration comes first, so that a reader of the announcement finds the service registered.
    await this.#introspection.served(served);
    if (this.#options.loop === undefined) announce(this.#settings, this.#log, served);
    this.#standby?.served();
    this.#options.status?.enter('ready');
  }

  async #withdraw(): Promise<void> {
    this.#introspection.stopping();
    await this.#history.close();
  }

  async #startDevLoop(loop: ServiceLoop): Promise<void> {
    const { url } = this.#servedAddress;
    await startDevLoop(loop, {
      url,
      source: await this.#source,
      settings: { wasm: this.#settings.sections.wasm },
      check: (descriptor) => checkIssuer(descriptor, this.#settings.tokens),
      env: this.#options.env,
      supervisor: this.#supervisor,
      journal: await this.#journal.opened,
      configuration: this.#configuration,
      log: this.#log,
      replaced: (by) => this.#replace(by),
    });
  }

  /** Notes that the module `by` is served: from now on `by` folds stored entities, and introspection describes it. */
  #replace(by: GuestSource): void {
    this.#served = by;
    this.#history.renew();
    this.#work.consumers.replace(by.descriptor.consumers);
    this.#introspection.replaced(by);
  }
}
