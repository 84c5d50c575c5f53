// EndpointsUnderTest: a module's endpoints in isolation: the runtime's HTTP server without a socket, and its engine
// on a journal in memory, or fakes in place of components.
/* oxlint-disable typescript/unbound-method -- these methods only mark where a stack begins, and are not called */
/* oxlint-disable typescript/no-explicit-any -- a test that is wrong about JSON finds out when it runs */
import {
  type Awaitable,
  CORS_SETTINGS_DEFAULT,
  type CorsSettings,
  ENGINE_LIMITS_DEFAULT,
  type EndpointResponse,
  type EntityEngine,
  type EntityRef,
  type Guest,
  GuestFault,
  InProcessHttp,
  MemoryJournal,
  Occurrences,
  type Refusal,
  type Reply,
  RouteTable,
  type StoredEvent,
  SvcError,
  createEngine,
  developerLimits,
  requestHandler,
  systemDigest,
} from '@svc/host/tools';
import { DeclaredStatuses, UndeclaredStatus } from './declared-statuses.ts';
import { EndpointAnswer } from './endpoint-answer.ts';
import { EndpointTimers, type FiredTimer } from './endpoint-timers.ts';
import { type FakeComponent, type SentCall, callFake } from './fake-component.ts';
import { GuestAccount } from './guest-account.ts';
import { parsed } from './json-value.ts';
import { type ModuleUnderTest, expectModule } from './module-under-test.ts';
import { checkReplay } from './replay-check.ts';
import {
  type CallerName,
  PROJECT,
  type RequestOptions,
  callerOf,
  contentOf,
  withQuery,
} from './request-options.ts';
import { storedEvent } from './stored-events.ts';
import { SetRandomSource, SetClock, type Time } from './test-inputs.ts';
import { atTestEnd, atTestFailure } from './test-end.ts';
import { type StackStart, TestFailure, restacked, shown } from './test-failure.ts';
import { WatchedEntities } from './watched-entities.ts';

export interface EndpointsOptions {
  /** Component id → fake. Other components are the module's own. */
  readonly components?: Readonly<Record<string, FakeComponent>>;
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
  const endpoints = new EndpointsUnderTest(module, options);
  atTestEnd(() => endpoints.close(), testEndpoints);
  atTestFailure(() => endpoints.faults);
  return endpoints;
}

export class EndpointsUnderTest {
  readonly #module: ModuleUnderTest;
  readonly #fakes: ReadonlyMap<string, FakeComponent>;
  readonly #caller: CallerName;
  readonly #clock = new SetClock();
  readonly #random = new SetRandomSource();
  readonly #account: GuestAccount;
  readonly #occurrences = new Occurrences();
  readonly #journal = new MemoryJournal();
  readonly #guest: Guest;
  readonly #entities: WatchedEntities;
  readonly #engine: EntityEngine;
  readonly #timers: EndpointTimers;
  readonly #http: InProcessHttp;
  /** Error id that the caller received → logged failure. */
  readonly #failures = new Map<string, string>();
  readonly #faults: string[] = [];
  /** The error that fails the test, whatever the handler answers. */
  #broken: unknown;
  #underWay: Promise<unknown>[] = [];

  /** Tests call `testEndpoints` instead. */
  constructor(module: ModuleUnderTest, options: EndpointsOptions) {
    this.#module = module;
    this.#fakes = new Map(Object.entries(options.components ?? {}));
    this.#caller = options.caller ?? 'internet';
    if (options.nowMs !== undefined) this.#clock.set(options.nowMs);
    if (options.seed !== undefined) this.#random.set(options.seed);
    this.#account = new GuestAccount(module.folder);
    this.#guest = module.start(this.#account.log);
    this.#entities = new WatchedEntities(this.#guest);
    this.#engine = createEngine({
      guest: { descriptor: module.descriptor, entities: this.#entities },
      journal: this.#journal,
      clock: this.#clock,
      random: this.#random,
      digest: systemDigest,
      eventLoop: { yield: () => new Promise((resolve) => setImmediate(resolve)) },
      limits: developerLimits(ENGINE_LIMITS_DEFAULT),
      faultLog: (_entity, _handler, fault) => {
        if (fault instanceof SvcError) this.#broken ??= fault;
      },
    });
    this.#timers = new EndpointTimers({
      journal: this.#journal,
      engine: this.#engine,
      clock: this.#clock,
      occurrences: this.#occurrences,
      callFake: (component, sent) => this.#callFake(component, sent),
    });
    const statuses = new DeclaredStatuses(module.descriptor);
    const handle = requestHandler({
      guest: this.#guest,
      engine: {
        call: (...call) => this.#call(...call),
        readEvents: (...range) => this.#readEvents(...range),
        changeTimers: (...change) => this.#engine.changeTimers(...change),
      },
      clock: this.#clock,
      random: this.#random,
    });
    this.#http = new InProcessHttp({
      routes: new RouteTable(module.descriptor),
      handle: (request, ...rest) => {
        const check = (outcome: EndpointResponse | Refusal) => {
          this.#broken ??= statuses.problem(request.route, outcome);
          return outcome;
        };
        const outcome = handle(request, ...rest);
        return outcome instanceof Promise ? outcome.then(check) : check(outcome);
      },
      random: this.#random,
      project: PROJECT,
      cors: { ...CORS_SETTINGS_DEFAULT, ...options.cors },
      log: {
        warn: ({ errorId, err }) => this.#failures.set(errorId, this.#account.reason(err)),
        error: ({ err }) => (this.#broken ??= err),
      },
    });
  }

  get<Json = any>(path: string, options: RequestOptions = {}): Promise<EndpointAnswer<Json>> {
    return this.#send('GET', path, options, this.get);
  }

  post<Json = any>(
    path: string,
    body?: unknown,
    options: RequestOptions = {},
  ): Promise<EndpointAnswer<Json>> {
    return this.#send('POST', path, { ...options, body }, this.post);
  }

  put<Json = any>(
    path: string,
    body?: unknown,
    options: RequestOptions = {},
  ): Promise<EndpointAnswer<Json>> {
    return this.#send('PUT', path, { ...options, body }, this.put);
  }

  patch<Json = any>(
    path: string,
    body?: unknown,
    options: RequestOptions = {},
  ): Promise<EndpointAnswer<Json>> {
    return this.#send('PATCH', path, { ...options, body }, this.patch);
  }

  delete<Json = any>(path: string, options: RequestOptions = {}): Promise<EndpointAnswer<Json>> {
    return this.#send('DELETE', path, options, this.delete);
  }

  /**
   * Sends a request with any method. `path` may have a query string; characters that an address cannot contain are
   * percent-encoded.
   */
  request<Json = any>(
    method: string,
    path: string,
    options: RequestOptions = {},
  ): Promise<EndpointAnswer<Json>> {
    return this.#send(method, path, options, this.request);
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
  async advance(ms: number): Promise<readonly FiredTimer[]> {
    const site = new TestFailure('', this.advance);
    await Promise.allSettled(this.#underWay);
    try {
      const fired = await this.#timers.advance(ms, this.advance);
      this.#faults.push(...fired.flatMap((timer) => faultOf(timer) ?? []));
      return fired;
    } catch (error) {
      throw error instanceof Error ? restacked(error, site) : error;
    }
  }

  /** Stores events of an entity before its first call. */
  async given(component: string, id: string, events: readonly (object | string)[]): Promise<void> {
    const { event } = this.#module.component(component, this.given);
    const stored = events.map((one, index): StoredEvent => {
      const made = storedEvent(one, event.manifest);
      if (typeof made !== 'string') return made;
      throw new TestFailure(`given: event ${index + 1} of ${events.length} ${made}`, this.given);
    });
    const timeMs = this.#clock.nowMs();
    const seq = (await this.#records({ component, id })).length;
    const records = stored.map((one, index) => {
      return { kind: 'event', seq: seq + index + 1, timeMs, event: one } as const;
    });
    await new Promise<void>((resolve, reject) => {
      this.#journal.append({ component, id }, records, (failure) => {
        if (failure === undefined) resolve();
        else reject(failure);
      });
    });
  }

  /** Returns the events of an entity since its last deletion. */
  async events(component: string, id: string): Promise<readonly unknown[]> {
    this.#module.component(component, this.events);
    return (await this.#eventsSinceDeletion({ component, id })).map(({ json }) => parsed(json));
  }

  /** The logged failures of requests, which callers do not receive, and those of firings. */
  get faults(): readonly string[] {
    return this.#faults;
  }

  /** Waits for the running requests, compares every entity in memory with its events, and stops the guest. */
  async close(): Promise<void> {
    await Promise.allSettled(this.#underWay);
    const states = this.#entities.states();
    try {
      for (const { ref, state } of states)
        checkReplay(this.#module, ref, await this.#eventsSinceDeletion(ref), state, this.close);
    } finally {
      this.#http.close();
      await this.#engine.close();
      await this.#guest.close();
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
    const broken = this.#broken;
    this.#broken = undefined;
    if (broken !== undefined) {
      const reason = this.#reasonOf(broken);
      if (reason === undefined) throw broken;
      failure.message = `${method} ${path}\n${reason}${this.#account.logged()}`;
      throw restacked(failure, failure);
    }
    const text = new TextDecoder().decode(answer.body);
    const errorId = /"errorId":"([0-9a-f]+)"/.exec(text)?.[1];
    const reason = errorId === undefined ? undefined : this.#failures.get(errorId);
    if (reason !== undefined) this.#faults.push(`${method} ${shown(path)}: ${reason}`);
    return new EndpointAnswer<Json>(`${method} ${shown(path)}`, answer, reason);
  }

  #reasonOf(broken: unknown): string | undefined {
    if (broken instanceof UndeclaredStatus) return broken.message;
    return broken instanceof SvcError ? this.#account.reason(broken) : undefined;
  }

  #call(...call: Parameters<EntityEngine['call']>): Awaitable<Reply | Refusal> {
    const [{ component, id }, name, input, metadata, idempotencyKey] = call;
    const sent = { id, name, input, metadata, idempotencyKey };
    const answer = this.#callFake(component, sent);
    return answer === undefined
      ? this.#engine.call(...call)
      : answer.catch((error: unknown) => {
          // An error of the kit is a failure of the call; any other error that a fake throws is one of the test.
          if (!(error instanceof SvcError) && !(error instanceof GuestFault))
            this.#broken ??= error;
          throw error;
        });
  }

  /** Calls the fake of a component; undefined if it has none. */
  #callFake(component: string, sent: SentCall): Promise<Reply | Refusal> | undefined {
    const fake = this.#fakes.get(component);
    return fake && callFake(fake, sent);
  }

  #readEvents(...range: Parameters<EntityEngine['readEvents']>) {
    const [{ component, id }] = range;
    if (!this.#fakes.has(component)) return this.#engine.readEvents(...range);
    this.#broken ??= new TestFailure(
      `A handler read the events of ${component} '${shown(id)}', and a fake has none. ` +
        'Leave the component out of `components`, and give it events with .given(…).',
      this.#readEvents,
    );
    throw this.#broken;
  }

  #records(entity: EntityRef) {
    return this.#journal.read(entity, 0, Number.MAX_SAFE_INTEGER);
  }

  async #eventsSinceDeletion(entity: EntityRef): Promise<readonly StoredEvent[]> {
    const records = await this.#records(entity);
    const deleted = records.findLastIndex(({ kind }) => kind === 'deleted');
    return records
      .slice(deleted + 1)
      .flatMap((record) => (record.kind === 'event' ? [record.event] : []));
  }
}

function faultOf({ name, component, id, command, fault }: FiredTimer): string | undefined {
  if (fault === undefined) return undefined;
  return `timer '${shown(name)}', ${component} '${shown(id)}' ${command}: ${shown(fault)}`;
}
