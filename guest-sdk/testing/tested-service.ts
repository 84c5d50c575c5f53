// TestedService: everything behind the endpoints of a module under test: the runtime's engine on a journal in memory, fakes
// in place of components, timers, consumers and views.
/* oxlint-disable typescript/unbound-method -- these methods only mark where a stack begins, and are not called */
import {
  type Awaitable,
  ENGINE_LIMITS_DEFAULT,
  type EntityEngine,
  type Guest,
  GuestFault,
  MemoryJournal,
  Occurrences,
  type Refusal,
  type Reply,
  SvcError,
  createEngine,
  type CurrentConfiguration,
  developerLimits,
  eventHandler,
  systemDigest,
} from '@svc/host/tools';
import { EndpointConsumers, type HandledEvent } from './endpoint-consumers.ts';
import { EndpointTimers, type FiredTimer } from './endpoint-timers.ts';
import { EndpointViews } from './endpoint-views.ts';
import { type FakeComponent, type SentCall, callFake } from './fake-component.ts';
import { type FakeService, FakeServices } from './fake-service.ts';
import { GuestAccount } from './guest-account.ts';
import type { ModuleUnderTest } from './module-under-test.ts';
import { checkReplay } from './replay-check.ts';
import type { SetClock, SetRandomSource } from './test-inputs.ts';
import { type StackStart, TestFailure, shown } from './test-failure.ts';
import { eventsSinceDeletion } from './test-journal.ts';
import { WatchedEntities } from './watched-entities.ts';

export interface TestedServiceOptions {
  readonly module: ModuleUnderTest;
  /** Component id → fake. */
  readonly fakes: ReadonlyMap<string, FakeComponent>;
  /** Name of a service → function in its place. */
  readonly services: ReadonlyMap<string, FakeService>;
  /** Values that handlers read. */
  readonly configuration: CurrentConfiguration;
  readonly clock: SetClock;
  readonly random: SetRandomSource;
}

/** Time in which a consumer has to answer, in milliseconds. */
const ANSWER_TIMEOUT_MS = 30_000;

export class TestedService {
  readonly journal = new MemoryJournal();
  readonly account: GuestAccount;
  readonly guest: Guest;
  /** Undefined if the module has none. */
  readonly views: EndpointViews | undefined;
  /** The engine and the fakes, as handlers and consumers call them. */
  readonly callable: Pick<EntityEngine, 'call' | 'readEvents' | 'changeTimers'>;
  readonly services: FakeServices;
  readonly faults: string[] = [];
  readonly #options: TestedServiceOptions;
  readonly #entities: WatchedEntities;
  readonly #engine: EntityEngine;
  readonly #timers: EndpointTimers;
  /** Undefined if the module has none. */
  readonly #consumers: EndpointConsumers | undefined;
  #broken: unknown;

  constructor(options: TestedServiceOptions) {
    const { module, clock, random } = options;
    this.#options = options;
    this.account = new GuestAccount(module.folder);
    this.guest = module.start(this.account.log);
    this.services = new FakeServices(options.services, (error) => this.break(error));
    this.#entities = new WatchedEntities(this.guest);
    this.#engine = createEngine({
      guest: { descriptor: module.descriptor, entities: this.#entities },
      journal: this.journal,
      clock,
      random,
      digest: systemDigest,
      eventLoop: { yield: () => new Promise((resolve) => setImmediate(resolve)) },
      limits: developerLimits(ENGINE_LIMITS_DEFAULT),
      faultLog: (_entity, _handler, fault) => {
        if (fault instanceof SvcError) this.break(fault);
      },
    });
    this.#timers = new EndpointTimers({
      journal: this.journal,
      engine: this.#engine,
      clock,
      occurrences: new Occurrences(),
      callFake: (component, sent) => this.#callFake(component, sent),
    });
    this.callable = {
      call: (...call) => this.#call(...call),
      readEvents: (...range) => this.#readEvents(...range),
      changeTimers: (...change) => this.#engine.changeTimers(...change),
    };
    this.views = this.#openViews();
    this.#consumers = this.#openConsumers();
  }

  /** Notes an error that fails the test, whatever the handler answers. The first one counts. */
  break(error: unknown): void {
    this.#broken ??= error;
  }

  /** Returns the error that fails the test, once. */
  takeBroken(): unknown {
    const broken = this.#broken;
    this.#broken = undefined;
    return broken;
  }

  /** Lets `ms` milliseconds pass, and fires the timers that become due. */
  async advance(ms: number, stackStart: StackStart): Promise<readonly FiredTimer[]> {
    const fired = await this.#timers.advance(ms, stackStart);
    this.faults.push(...fired.flatMap((timer) => faultOf(timer) ?? []));
    return fired;
  }

  /** Delivers the stored events to the consumers. */
  async drain(stackStart: StackStart): Promise<readonly HandledEvent[]> {
    if (this.#consumers === undefined)
      throw new TestFailure(`${this.#options.module.name} has no consumers.`, stackStart);
    const handled = await this.#consumers.drain(stackStart);
    this.faults.push(...handled.flatMap((event) => parkedAt(event) ?? []));
    const broken = this.takeBroken();
    if (broken !== undefined) throw broken;
    return handled;
  }

  /** Compares every entity in memory with its events, and folds the views in other orders. */
  async check(stackStart: StackStart): Promise<void> {
    for (const { ref, state } of this.#entities.states()) {
      const events = await eventsSinceDeletion(this.journal, ref);
      checkReplay(this.#options.module, ref, events, state, stackStart);
    }
    await this.views?.checkOrders(stackStart);
  }

  async close(): Promise<void> {
    await this.views?.close();
    await this.#engine.close();
    await this.guest.close();
  }

  #openViews(): EndpointViews | undefined {
    const { module } = this.#options;
    if (this.guest.views === undefined) return undefined;
    const { guest, journal } = this;
    const stopped = (reason: string): void => void this.faults.push(reason);
    return new EndpointViews({ module, guest, journal, stopped });
  }

  #openConsumers(): EndpointConsumers | undefined {
    const { module, clock, configuration } = this.#options;
    const handle = eventHandler({
      guest: this.guest,
      engine: this.callable,
      views: this.views?.queried,
      services: this.services,
      configuration,
      answerTimeoutMs: ANSWER_TIMEOUT_MS,
    });
    if (handle === undefined) return undefined;
    return new EndpointConsumers({
      consumers: module.descriptor.consumers ?? [],
      journal: this.journal,
      handle,
      clock,
      passUntil: async (timeMs, stackStart) => {
        await this.advance(timeMs - clock.nowMs(), stackStart);
      },
    });
  }

  #call(...call: Parameters<EntityEngine['call']>): Awaitable<Reply | Refusal> {
    const [{ component, id }, name, input, metadata, idempotencyKey] = call;
    const sent = { id, name, input, metadata, idempotencyKey };
    const answer = this.#callFake(component, sent);
    return answer === undefined
      ? this.#engine.call(...call)
      : answer.catch((error: unknown) => {
          // An error of the kit is a failure of the call; any other error that a fake throws is one of the test.
          if (!(error instanceof SvcError) && !(error instanceof GuestFault)) this.break(error);
          throw error;
        });
  }

  /** Calls the fake of a component; undefined if it has none. */
  #callFake(component: string, sent: SentCall): Promise<Reply | Refusal> | undefined {
    const fake = this.#options.fakes.get(component);
    return fake && callFake(fake, sent);
  }

  #readEvents(...range: Parameters<EntityEngine['readEvents']>) {
    const [{ component, id }] = range;
    if (!this.#options.fakes.has(component)) return this.#engine.readEvents(...range);
    const failure = new TestFailure(
      `A handler read the events of ${component} '${shown(id)}', and a fake has none. ` +
        'Leave the component out of `components`, and give it events with .given(…).',
      this.#readEvents,
    );
    this.break(failure);
    throw failure;
  }
}

function faultOf({ name, component, id, command, fault }: FiredTimer): string | undefined {
  if (fault === undefined) return undefined;
  return `timer '${shown(name)}', ${component} '${shown(id)}' ${command}: ${shown(fault)}`;
}

function parkedAt(event: HandledEvent): string | undefined {
  const { consumer, component, id, seq, outcome, reason = '' } = event;
  if (outcome !== 'parked') return undefined;
  return `consumer '${consumer}', event ${seq} of ${component} '${shown(id)}': ${shown(reason)}`;
}
