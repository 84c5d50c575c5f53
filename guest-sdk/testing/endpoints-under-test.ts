// EndpointsUnderTest: a module's endpoints in isolation: the runtime's HTTP server without a socket, and its engine
// on a journal in memory, or fakes in place of components.
/* oxlint-disable typescript/unbound-method -- these methods only mark where a stack begins, and are not called */
/* oxlint-disable typescript/no-explicit-any -- a test that is wrong about JSON finds out when it runs */
import {
  CORS_SETTINGS_DEFAULT,
  COUNT_PREFIX,
  type CorsSettings,
  type EndpointResponse,
  HTTP_SETTINGS_DEFAULT,
  InProcessHttp,
  KEY_QUERY,
  type Refusal,
  RequestLimits,
  RouteTable,
  type StoredEvent,
  SvcError,
  requestHandler,
} from '@svc/host/tools';
import { DeclaredStatuses, UndeclaredStatus } from './declared-statuses.ts';
import { EndpointAnswer } from './endpoint-answer.ts';
import { EndpointRequests } from './endpoint-requests.ts';
import type { HandledEvent } from './endpoint-consumers.ts';
import type { FiredTimer } from './endpoint-timers.ts';
import type { FindOptions, FoundRows, RowCount } from './endpoint-views.ts';
import type { FakeComponent } from './fake-component.ts';
import type { FakeService } from './fake-service.ts';
import { parsed } from './json-value.ts';
import { type ModuleUnderTest, expectModule } from './module-under-test.ts';
import {
  type CallerName,
  PROJECT,
  type RequestOptions,
  callerOf,
  contentOf,
  withQuery,
} from './request-options.ts';
import { checkConfiguration, testedConfiguration } from './tested-configuration.ts';
import { storedEvent } from './stored-events.ts';
import { type TestPrincipal, TestPrincipals } from './test-principals.ts';
import { TestedService } from './tested-service.ts';
import { SetRandomSource, SetClock, type Time } from './test-inputs.ts';
import { atTestEnd, atTestFailure } from './test-end.ts';
import { type StackStart, TestFailure, restacked, shown } from './test-failure.ts';
import { eventsSinceDeletion, storeEvents } from './test-journal.ts';

export interface EndpointsOptions {
  /** Component id → fake. Other components are the module's own. */
  readonly components?: Readonly<Record<string, FakeComponent>>;
  /**
   * Name of a service that the module calls, such as `billing` → function that answers in its place. Any other service cannot
   * be found.
   */
  readonly services?: Readonly<Record<string, FakeService>>;
  /**
   * Values of the module's configuration, by their names: `{ currency: 'EUR' }`. Values with a default may be left out. Without
   * this option, handlers find no value that has to be given.
   */
  readonly configuration?: Readonly<Record<string, unknown>>;
  /** The current time; 2026-01-01T00:00:00Z by default. */
  readonly nowMs?: Time;
  /** The first random number; 1 by default. */
  readonly seed?: number | bigint;
  /** Caller of a request that names none. */
  readonly caller?: CallerName;
  /** The settings `svc.http.cors.*`. Without origins, pages of other origins cannot read an answer. */
  readonly cors?: Partial<CorsSettings>;
}

/** Creates the module's endpoints; no entity has events yet. At the end of the test its entities are replayed. */
export function testEndpoints(
  module: ModuleUnderTest,
  options: EndpointsOptions = {},
): EndpointsUnderTest {
  expectModule(module, testEndpoints);
  for (const id of Object.keys(options.components ?? {})) module.component(id, testEndpoints);
  checkConfiguration(module, options.configuration, testEndpoints);
  const endpoints = new EndpointsUnderTest(module, options);
  atTestEnd(() => endpoints.close(), testEndpoints);
  atTestFailure(() => endpoints.faults);
  return endpoints;
}

export class EndpointsUnderTest extends EndpointRequests {
  readonly #module: ModuleUnderTest;
  readonly #caller: CallerName;
  readonly #clock = new SetClock();
  readonly #random = new SetRandomSource();
  readonly #service: TestedService;
  readonly #http: InProcessHttp;
  readonly #principals = new TestPrincipals();
  /** Error id that the caller received → logged failure. */
  readonly #failures = new Map<string, string>();
  #underWay: Promise<unknown>[] = [];

  /** Tests call `testEndpoints` instead. */
  constructor(module: ModuleUnderTest, options: EndpointsOptions) {
    super((...request) => this.#send(...request));
    this.#module = module;
    this.#caller = options.caller ?? 'internet';
    if (options.nowMs !== undefined) this.#clock.set(options.nowMs);
    if (options.seed !== undefined) this.#random.set(options.seed);
    const fakes = new Map(Object.entries(options.components ?? {}));
    const inputs = { clock: this.#clock, random: this.#random };
    const services = new Map(Object.entries(options.services ?? {}));
    const configuration = testedConfiguration(options.configuration);
    const service = new TestedService({ module, fakes, services, configuration, ...inputs });
    this.#service = service;
    const statuses = new DeclaredStatuses(module.descriptor);
    const handle = requestHandler({
      guest: service.guest,
      engine: service.callable,
      views: service.views?.queried,
      services: service.services,
      configuration,
      ...inputs,
    });
    const routes = new RouteTable(module.descriptor);
    const limits = RequestLimits.of(routes.limits, {
      bucketsMax: HTTP_SETTINGS_DEFAULT.limitBucketsMax,
      nowMs: () => this.#clock.nowMs(),
    });
    this.#http = new InProcessHttp({
      routes,
      limits,
      handle: (request, ...rest) => {
        const check = (outcome: EndpointResponse | Refusal) => {
          service.break(statuses.problem(request.route, outcome));
          return outcome;
        };
        const outcome = handle(request, ...rest);
        return outcome instanceof Promise ? outcome.then(check) : check(outcome);
      },
      random: this.#random,
      project: PROJECT,
      tokens: this.#principals,
      cors: { ...CORS_SETTINGS_DEFAULT, ...options.cors },
      log: {
        warn: ({ errorId, err }) => this.#failures.set(errorId, service.account.reason(err)),
        error: ({ err }) => service.break(err),
      },
    });
  }

  /** Returns the same endpoints as a principal calls them: who it is by its access token, and what it may do. */
  as(principal: TestPrincipal): EndpointRequests {
    const authorization = this.#principals.authorizationOf(principal);
    return new EndpointRequests((method, path, options, stackStart) =>
      this.#send(
        method,
        path,
        { ...options, headers: { authorization, ...options.headers } },
        stackStart,
      ),
    );
  }

  /** Sets the time of the following requests. It does not advance by itself. */
  at(time: Time): this {
    this.#clock.set(time);
    return this;
  }

  /** Sets the next random number; each later one is greater by one. */
  seed(seed: number | bigint): this {
    this.#random.set(seed);
    return this;
  }

  /**
   * Lets `ms` milliseconds pass, once the running requests are answered. Timers that become due are fired in the order of
   * their due times, each at its time. Returns the firings.
   */
  advance(ms: number): Promise<readonly FiredTimer[]> {
    return this.#afterRequests(this.advance, () => this.#service.advance(ms, this.advance));
  }

  /**
   * Delivers the stored events to the consumers of the module, once the running requests are answered, until none is left but
   * those of parked entities. An event that is tried again lets the time pass until then; timers that become due fire. Returns
   * the events that were settled or parked, in this order.
   */
  drain(): Promise<readonly HandledEvent[]> {
    return this.#afterRequests(this.drain, () => this.#service.drain(this.drain));
  }

  /**
   * Finds rows of a view by one of its queries, with all events that are stored. `parameters`: the fields of the query's
   * class.
   */
  find<Row = any>(
    view: string,
    query: string,
    parameters: object = {},
    options: FindOptions = {},
  ): Promise<FoundRows<Row>> {
    return this.#find(view, query, parameters, options, this.find);
  }

  /** Returns the row of a key, with all events that are stored; undefined if there is none. */
  async row<Row = any>(view: string, key: string): Promise<Row | undefined> {
    const { rows } = await this.#find<Row>(view, KEY_QUERY, { key }, {}, this.row);
    return rows[0];
  }

  /** Counts the rows that a query finds, up to 10,000. */
  async count(view: string, query: string, parameters: object = {}): Promise<RowCount> {
    const name = COUNT_PREFIX + query;
    const { rows } = await this.#find<RowCount>(view, name, parameters, {}, this.count);
    return rows[0]!;
  }

  /** Stores events of an entity before its first call. */
  async given(component: string, id: string, events: readonly (object | string)[]): Promise<void> {
    const { event } = this.#module.component(component, this.given);
    const stored = events.map((one, index): StoredEvent => {
      const made = storedEvent(one, event.manifest);
      if (typeof made !== 'string') return made;
      throw new TestFailure(`given: event ${index + 1} of ${events.length} ${made}`, this.given);
    });
    await storeEvents(this.#service.journal, { component, id }, stored, this.#clock.nowMs());
  }

  /** Returns the events of an entity since its last deletion. */
  async events(component: string, id: string): Promise<readonly unknown[]> {
    this.#module.component(component, this.events);
    const stored = await eventsSinceDeletion(this.#service.journal, { component, id });
    return stored.map(({ json }) => parsed(json));
  }

  /** The logged failures of requests, which callers do not receive, and those of firings, consumers and views. */
  get faults(): readonly string[] {
    return this.#service.faults;
  }

  /**
   * Waits for the running requests, compares every entity in memory with its events, folds the views in other orders, and
   * stops the guest.
   */
  close(): Promise<void> {
    return this.#afterRequests(this.close, async () => {
      try {
        await this.#service.check(this.close);
      } finally {
        this.#http.close();
        await this.#service.close();
      }
    });
  }

  #find<Row>(
    view: string,
    query: string,
    parameters: object,
    options: FindOptions,
    stackStart: StackStart,
  ): Promise<FoundRows<Row>> {
    return this.#afterRequests(stackStart, async () => {
      const { views } = this.#service;
      if (views === undefined)
        throw new TestFailure(`${this.#module.name} has no views.`, stackStart);
      return views.find<Row>(view, query, parameters, options, stackStart);
    });
  }

  /** Runs a step of the test once the running requests are answered. The stack of an error begins at `stackStart`. */
  async #afterRequests<T>(stackStart: StackStart, run: () => Promise<T>): Promise<T> {
    const site = new TestFailure('', stackStart);
    await Promise.allSettled(this.#underWay);
    try {
      return await run();
    } catch (error) {
      throw error instanceof Error ? restacked(error, site) : error;
    }
  }

  #send<Json>(
    method: string,
    path: string,
    options: RequestOptions,
    stackStart: StackStart,
  ): Promise<EndpointAnswer<Json>> {
    if (!/^(\/|\*$|https?:)/.test(path))
      throw new TestFailure(`${method} ${shown(path)}: a path begins with a slash.`, stackStart);
    // The error is created here, while the test's own line is on the stack.
    const failure = new TestFailure('', stackStart);
    const answer = this.#request<Json>(method, path, options, failure);
    this.#underWay.push(answer);
    return answer;
  }

  async #request<Json>(
    method: string,
    path: string,
    options: RequestOptions,
    failure: TestFailure,
  ): Promise<EndpointAnswer<Json>> {
    const { headers, body } = contentOf(method, options);
    const answer = await this.#http.request({
      method,
      target: withQuery(path, options.query).replaceAll(/[^\u0021-\u007e]/gu, encodeURIComponent),
      headers,
      body,
      caller: callerOf(options.caller ?? this.#caller),
    });
    const broken = this.#service.takeBroken();
    if (broken !== undefined) {
      const reason = this.#reasonOf(broken);
      if (reason === undefined) throw broken;
      failure.message = `${method} ${path}\n${reason}${this.#service.account.logged()}`;
      throw restacked(failure, failure);
    }
    const text = new TextDecoder().decode(answer.body);
    const errorId = /"errorId":"([0-9a-f]+)"/.exec(text)?.[1];
    const reason = errorId === undefined ? undefined : this.#failures.get(errorId);
    if (reason !== undefined) this.#service.faults.push(`${method} ${shown(path)}: ${reason}`);
    return new EndpointAnswer<Json>(`${method} ${shown(path)}`, answer, reason);
  }

  #reasonOf(broken: unknown): string | undefined {
    if (broken instanceof UndeclaredStatus) return broken.message;
    return broken instanceof SvcError ? this.#service.account.reason(broken) : undefined;
  }
}
