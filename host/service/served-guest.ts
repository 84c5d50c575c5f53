// ServedGuest is a guest with everything that serves it: the engine over its entities, the handlers of its requests,
// the HTTP server in front of them, the recorder and the counts. A shard has one for its module, and an embedded
// service one for its program, so that both have the same limits, log, spans and metrics. It runs in one thread and
// opens only the address of its HTTP server: it receives guest, journal and shared memory. Invariant: once the server
// may listen, `stop` is called before `close`, and the owner of guest and journal closes them after `close`.
import { createEngine, type EntityEngine } from '../engine/entity-engine.ts';
import { developerLimits, type EngineLimits } from '../engine/engine-limits.ts';
import type { Clock, RandomSource, ServiceClock } from '../engine/needs/clock.ts';
import type { Firing } from '../engine/firing.ts';
import type { FiringEnding } from '@svc/model/firing-ending';
import type { TimerSettings } from '../engine/timer-settings.ts';
import type { Guest } from '@svc/model/guest';
import type { Leases } from '../engine/needs/leases.ts';
import type { Journal } from '../engine/needs/journal.ts';
import { type Caller, callerOfAddress, INTERNET, LOCAL } from '../http/access.ts';
import type { RequestTokens } from '../http/bearer.ts';
import { corsRemark } from '../http/cors.ts';
import type { CorsSettings } from '../http/cors-settings.ts';
import type {
  createHttpServer,
  HttpAddress,
  HttpServer,
  HttpServerOptions,
} from '../http/http-server.ts';
import type { HttpSettings } from '../http/http-settings.ts';
import type { ServerCertificate } from '@svc/identity/server-certificate';
import type { MutualTls } from '../http/mutual-tls.ts';
import type { ResponseForm } from '../http/response-form.ts';
import type { ConsumerSettings } from '../consumers/consumer-settings.ts';
import { eventHandler, type HandleEvent } from '../http/requests/event-handler.ts';
import { EventLoopBudget, loopClock } from '../http/requests/event-loop-budget.ts';
import type { CallableEngine } from '../http/requests/callable-engine.ts';
import type { QueriedViews } from '../http/requests/request-finds.ts';
import { requestHandler } from '../http/requests/request-handler.ts';
import { RequestLimits, type RequestLimitsOptions } from '../http/request-limits.ts';
import { RouteTable } from '../http/route-table.ts';
import { SpanRing } from '../shards/recorder/span-ring.ts';
import type { CalledServices } from '@svc/model/service-call';
import type { RequestBudgets } from '@svc/model/request-budgets';
import type { CurrentConfiguration } from '@svc/model/configuration';
import type { SharedSeries } from '@svc/model/shared-series';
import type { FiringAnswer } from '../timers/firing-answer.ts';
import { NumberSamples, type SampledGuest } from '../shards/number-samples.ts';
import { ShardAnswers } from '../shards/shard-answers.ts';
import type { ShardNumbers } from '../shards/shard-numbers.ts';
import type { shardRouting, ShardRouting } from '../shards/shard-routing.ts';
import type { ListenWords } from '@svc/kit/listen';
import { SvcError } from '@svc/kit/svc-error';
import { machineMs, systemRandom, systemClock, systemDigest } from '../system.ts';
import {
  deliverEvent,
  type Delivery,
  type DeliveryAnswer,
  DELIVERY_AWAY,
} from './event-delivery.ts';
import { firedCommand } from './fired-command.ts';
import { interval } from './interval.ts';
import type { ServiceLog } from './service-log.ts';

/** Interval at which idle entities are passivated, in milliseconds. */
const PASSIVATE_MS = 1_000;
/** Interval at which gauges are copied into shared memory, in milliseconds. */
const SAMPLE_MS = 1_000;

export interface ServedGuestOptions {
  readonly guest: Guest & SampledGuest;
  readonly journal: Journal;
  /** Absent: the engine is the only writer of its journal. */
  readonly leases?: Leases | undefined;
  /**
   * Whether this is a deployed instance: all callers count as the internet unless they are identified by `tls`, and only samples
   * of the commands and queries are checked not to change the state that they are given.
   */
  readonly deployed: boolean;
  /** Absent: the server has no TLS. */
  readonly tls?: MutualTls | undefined;
  readonly sections: {
    readonly http: HttpSettings;
    readonly 'http.cors': CorsSettings;
    readonly engine: EngineLimits;
    readonly timers: TimerSettings;
    readonly consumers: ConsumerSettings;
  };
  /** Certificate of a server whose callers need none; absent: the server has no such TLS. */
  readonly certificate?: ServerCertificate | undefined;
  /** Form of all responses; absent: that of `svc run`. */
  readonly form?: ResponseForm | undefined;
  readonly log: ServiceLog;
  /** Time and random numbers; absent: the machine's. */
  readonly clock?: ServiceClock | undefined;
  readonly random?: RandomSource | undefined;
  readonly numbers: ShardNumbers;
  readonly budgets: RequestBudgets;
  /** Index of this shard, from 0. */
  readonly index: number;
  /** Answers queries of views; absent if the service has none. */
  readonly views?: ServedViews | undefined;
  /** Verifies access tokens; absent: routes that ask for one are closed. */
  readonly tokens?: RequestTokens | undefined;
  /** Buckets of the module's limits, and what is called when they are full; absent: this guest has its own. */
  readonly limits?: ServedLimits | undefined;
  /** Other services, which handlers call; absent: they call none. */
  readonly services?: ServedServices | undefined;
  /** Values that handlers read; absent: the guest cannot have a configuration. */
  readonly configuration?: CurrentConfiguration | undefined;
  /** Creates the HTTP server. The caller loads its code: a shard does so while the journal is being opened. */
  readonly createServer: typeof createHttpServer;
  /** Routes requests and calls between the shards of a service; absent if there is one shard. */
  readonly route?: (parts: RoutedParts) => ShardRouting;
}

type RoutedParts = Pick<
  Parameters<typeof shardRouting>[0],
  'guest' | 'engine' | 'clock' | 'random' | 'eventLoop' | 'views' | 'services' | 'configuration'
>;

export type ServedLimits = Pick<RequestLimitsOptions, 'shared' | 'onCrowded'>;

export interface ServedViews extends QueriedViews {
  close(): void;
}

export interface ServedServices extends CalledServices {
  close(): Promise<void>;
}

export class ServedGuest {
  readonly engine: EntityEngine;
  /** Answers the questions of the introspection endpoints. */
  readonly answers: ShardAnswers;
  /** Options for a further server of this guest, such as one without a socket. */
  readonly http: Omit<HttpServerOptions, 'callerOf'>;
  readonly #guest: Guest;
  readonly #log: ServiceLog;
  readonly #firings: SharedSeries<FiringEnding>;
  /** Undefined if the guest has no consumers. */
  readonly #handleEvent: HandleEvent | undefined;
  readonly #server: HttpServer;
  readonly #views: ServedViews | undefined;
  readonly #services: ServedServices | undefined;
  /** Returns a text without the secrets of the configuration. */
  readonly #shown: (text: string) => string;
  readonly #endIntervals: readonly (() => void)[];
  /** Time at which the grace of the stop is over, on the clock of `performance.now()`. */
  #graceEndMs = 0;
  #isClosing = false;

  constructor(options: ServedGuestOptions) {
    const { guest, log, numbers, budgets, index, views, services, createServer } = options;
    const { http: settings, 'http.cors': cors } = options.sections;
    const { clock: given, random = systemRandom() } = options;
    const clock = given ?? systemClock;
    const eventLoop = new EventLoopBudget(given && loopClock(given));
    const configuration = guest.descriptor.configuration && options.configuration;
    this.#shown = (text) => configuration?.withoutSecrets(text) ?? text;
    const recorder = new SpanRing(numbers, index, { shown: this.#shown });
    const shown = this.#shown;
    this.engine = servedEngine(options, { clock, random, eventLoop, recorder, shown });
    const { engine } = this;
    const parts = { guest, engine, clock, random, eventLoop, views, services, configuration };
    this.#views = views;
    this.#services = services;
    this.#guest = guest;
    this.#log = log;
    this.#firings = numbers.firings;
    const routing = options.route?.(parts);
    const callable: CallableEngine = routing?.router ?? this.engine;
    const { answerTimeoutMs } = options.sections.consumers;
    this.#handleEvent = eventHandler({
      ...parts,
      engine: callable,
      answerTimeoutMs,
      after: given && ((...wait) => given.after(...wait)),
      budgets,
      spans: { recorder, random, handlerTable: numbers.handlerTable },
    });
    this.answers = new ShardAnswers({
      ring: recorder,
      engine: callable,
      descriptor: guest.descriptor,
      random,
    });
    const routes = new RouteTable(guest.descriptor);
    const remark = index === 0 ? corsRemark(cors, routes) : undefined;
    if (remark !== undefined) log.write('warn', remark);
    this.http = {
      routes,
      settings,
      form: options.form,
      cors,
      random,
      handle: routing?.handle ?? requestHandler(parts),
      readsBodies: guest.endpoints.readsBodies,
      budgets,
      tokens: options.tokens,
      limits: servedLimits(options, routes),
      hasPosition: views !== undefined,
      observer: {
        recorder,
        counts: numbers.http,
        firstRouteIndex: numbers.handlerTable.firstRoute,
      },
      log: log.http,
    };
    this.#server = createServer({ ...this.http, ...identification(options) });
    const samples = new NumberSamples(numbers, {
      engine: this.engine,
      guest,
      server: this.#server,
      budgets,
    });
    samples.take();
    this.#endIntervals = [
      // The engine has no timers of its own.
      interval(PASSIVATE_MS, () => void this.engine.passivate(), given),
      interval(SAMPLE_MS, () => samples.take()),
    ];
  }

  /**
   * Listens, and resolves with the address. Rejects with SVC_PORT_IN_USE and SVC_ADDRESS_UNAVAILABLE, which name the
   * flags of `svc run` unless `words` name others.
   */
  listen(address: HttpAddress, words?: ListenWords): Promise<HttpAddress> {
    return this.#server.listen(address, words);
  }

  /** Executes a firing, and counts how it ends. Never rejects. */
  fire(firing: Firing): Promise<FiringAnswer> {
    return firedCommand(this.engine, firing, this.#firings);
  }

  /**
   * Lets a consumer handle an event. Never rejects. From the beginning of `close`, no event is handled, and one that is under
   * way is delivered again, unless its consumer is done.
   */
  async deliver(delivery: Delivery): Promise<DeliveryAnswer> {
    const { consumer: id, event } = delivery;
    const consumer = this.#guest.descriptor.consumers?.find((one) => one.id === id);
    // While a module is being replaced, an event may be on its way that only the other module handles.
    const handleEvent = this.#handleEvent;
    const isHandled = consumer?.sources.includes(event.entity.component) === true;
    if (handleEvent === undefined || !isHandled || this.#isClosing) return DELIVERY_AWAY;
    const answer = await deliverEvent(this.#untilClosing(handleEvent), delivery, this.#log);
    return shownAnswer(answer, this.#shown);
  }

  /** Rejects with SVC_STOPPING instead of an outcome that the closing of engine and guest may have caused. */
  #untilClosing(handleEvent: HandleEvent): HandleEvent {
    const check = (): void => {
      if (this.#isClosing) throw new SvcError('SVC_STOPPING', 'The module was closed.');
    };
    return async (...delivery) => {
      try {
        const answer = await handleEvent(...delivery);
        if (answer.kind !== 'done') check();
        return answer;
      } catch (failure) {
        check();
        throw failure;
      }
    };
  }

  /** Takes calls of other services at a further socket. Rejects with SVC_ADDRESS_UNAVAILABLE. */
  listenOn(fd: number): Promise<void> {
    return this.#server.listenOn(fd);
  }

  /** Refuses further requests, finishes those in flight, and cuts the rest after `graceMs` milliseconds. */
  stop(graceMs: number): Promise<{ readonly hasCut: boolean }> {
    this.#graceEndMs = performance.now() + graceMs;
    return this.#server.stop(graceMs);
  }

  /**
   * Closes the engine. Called when no request can arrive any more. Until the grace of `stop` is over, entities may
   * still fold events: for calls that wait for their entity, and to check the states of entities that leave memory.
   */
  async close(): Promise<void> {
    this.#isClosing = true;
    for (const end of this.#endIntervals) end();
    const leftMs = Math.max(0, this.#graceEndMs - performance.now());
    if (leftMs === 0) this.engine.cancel();
    const timer = setTimeout(() => this.engine.cancel(), leftMs);
    await this.engine.close();
    clearTimeout(timer);
    this.#views?.close();
    await this.#services?.close();
  }
}

/** Returns the answer without secrets: the journal keeps its reason, and tools print it. */
function shownAnswer(
  { outcome, failure }: DeliveryAnswer,
  shown: (text: string) => string,
): DeliveryAnswer {
  return {
    outcome: 'reason' in outcome ? { ...outcome, reason: shown(outcome.reason) } : outcome,
    ...(failure === undefined ? {} : { failure: shown(failure) }),
  };
}

/** Returns how the callers of connections are identified, and the TLS of the connections. */
function identification({
  deployed,
  tls,
  certificate,
}: ServedGuestOptions): Pick<HttpServerOptions, 'callerOf' | 'project' | 'tls' | 'certificate'> {
  if (tls !== undefined)
    return { callerOf: (socket) => tls.callerOf(socket), project: tls.project, tls };
  return {
    certificate,
    callerOf: deployed ? () => INTERNET : (socket) => callerOfAddress(socket.remoteAddress),
  };
}

function servedEngine(
  { guest, journal, leases, deployed, sections, log }: ServedGuestOptions,
  own: {
    readonly clock: Clock;
    readonly random: RandomSource;
    readonly eventLoop: EventLoopBudget;
    readonly recorder: SpanRing;
    readonly shown: (text: string) => string;
  },
): EntityEngine {
  return createEngine({
    guest,
    journal,
    leases,
    digest: systemDigest,
    ...own,
    limits: deployed ? sections.engine : developerLimits(sections.engine),
    timers: sections.timers,
    faultLog: log.entityFaults,
    deadTimerLog: log.deadTimers,
  });
}

function servedLimits(
  { clock, sections, limits }: ServedGuestOptions,
  routes: RouteTable,
): RequestLimits | undefined {
  return RequestLimits.of(routes.limits, {
    bucketsMax: sections.http.limitBucketsMax,
    nowMs: clock ? () => clock.monotonicMs() : machineMs,
    ...limits,
  });
}

/** Returns the caller of a request without a socket. */
export function inProcessCaller(deployed: boolean): Caller {
  return deployed ? INTERNET : LOCAL;
}
