// EntityUnderTest: one entity of a module in its own sandbox, with the history and the time that the test sets. It
// executes a command like the runtime (decide, fold, store), but synchronously.
/* oxlint-disable typescript/unbound-method -- these methods only mark where a stack begins, and are not called */
import type { EntityDescriptor } from '@svc/contract';
import {
  ENGINE_LIMITS_DEFAULT,
  type CallContext,
  type Effect,
  type EntityRef,
  type Guest,
  type GuestEntity,
  type Metadata,
  type Refusal,
  type Reply,
  type StoredEvent,
  deletesEntity,
  effectFault,
  entityIdProblem,
  outcomeFault,
  replyTo,
  storable,
  timerFault,
  timersTooLarge,
} from '@svc/host/tools';
import { CallOutcome } from './call-outcome.ts';
import { EntityExpectations } from './entity-expectations.ts';
import { EntityTimers } from './entity-timers.ts';
import { type DueFiring, checkFiringCount, firingMetadata, later } from './firings.ts';
import { GuestAccount } from './guest-account.ts';
import { jsonText, parsed } from './json-value.ts';
import { type ModuleUnderTest, expectModule } from './module-under-test.ts';
import { checkReplay } from './replay-check.ts';
import { storedEvent } from './stored-events.ts';
import { whatThereIs } from './mistyped-name.ts';
import { SetRandomSource, SetClock, type Time, metadataOf } from './test-inputs.ts';
import { atOnce } from './synchronous.ts';
import { type StackStart, TestFailure, expectEqual, shown, typesOf } from './test-failure.ts';
import { atTestEnd } from './test-end.ts';

/** Creates the entity `id` of a component, without any history. At the end of the test its events are replayed. */
export function testEntity(
  module: ModuleUnderTest,
  component: string,
  id: string,
): EntityUnderTest {
  expectModule(module, testEntity);
  const descriptor = module.component(component, testEntity);
  const problem = typeof id === 'string' ? entityIdProblem(id) : 'must be a string';
  if (problem !== undefined) throw new TestFailure(`The entity id ${problem}.`, testEntity);
  const entity = new EntityUnderTest(module, descriptor, { component, id });
  atTestEnd(() => entity.thenReplays(), testEntity);
  return entity;
}

/** Matches an event's number in a module's message: always 1 for given events, which the kit folds one by one. */
const EVENT_NUMBER = /^event \d+ of \d+: /;

interface SentCommand {
  readonly command: string;
  /** JSON text. */
  readonly input: string;
  readonly context: CallContext;
  /** Undefined: the test has sent the command. */
  readonly firing: DueFiring | undefined;
  readonly stackStart: StackStart;
}

export class EntityUnderTest extends EntityExpectations {
  readonly #module: ModuleUnderTest;
  readonly #descriptor: EntityDescriptor;
  readonly #ref: EntityRef;
  readonly #account: GuestAccount;
  readonly #guest: Guest;
  readonly #clock = new SetClock();
  readonly #random = new SetRandomSource();
  readonly #timers: EntityTimers;
  #metadata: Metadata = [];
  #entity: GuestEntity | undefined;
  /** Events since the last deletion: given ones, and those that commands persisted. */
  #history: StoredEvent[] = [];

  /** Tests call `testEntity` instead. */
  constructor(module: ModuleUnderTest, descriptor: EntityDescriptor, ref: EntityRef) {
    super();
    this.#module = module;
    this.#descriptor = descriptor;
    this.#ref = ref;
    this.#timers = new EntityTimers(ref, module.descriptor);
    this.#account = new GuestAccount(module.folder);
    this.#guest = module.start(this.#account.log);
  }

  /** Sets the time of the following calls. It does not advance by itself. */
  at(time: Time): this {
    this.#clock.set(time);
    return this;
  }

  /** Sets the seed of the next call; each later call has a seed greater by one. */
  seed(seed: number | bigint): this {
    this.#random.set(seed);
    return this;
  }

  /** Sets the metadata of the following calls. */
  metadata(metadata: Readonly<Record<string, string | readonly string[]>>): this {
    this.#metadata = metadataOf(metadata);
    return this;
  }

  /** Adds earlier events: objects with their `type`, or JSON text. */
  given(events: readonly (object | string)[]): this {
    this.#account.begin();
    for (const [index, event] of events.entries()) {
      const which = `given: event ${index + 1} of ${events.length}`;
      const stored = storedEvent(event, this.#descriptor.event.manifest);
      if (typeof stored === 'string') throw this.#failure(`${which} ${stored}`, this.given);
      const problem = this.#folded([stored], which, this.given);
      if (problem !== undefined)
        throw this.#failure(
          `${which} does not decode: ${shown(problem.replace(EVENT_NUMBER, ''))}\n  ${shown(stored.json)}`,
          this.given,
        );
      this.#history.push(stored);
    }
    return this;
  }

  /** Sends a command, and folds the events that it persists. */
  when(command: string, input?: unknown): this {
    const stackStart = this.when;
    const context = this.#begin('command', command, input, stackStart);
    this.fired = undefined;
    this.#send({ command, input: jsonText(input), context, firing: undefined, stackStart });
    return this;
  }

  /**
   * Lets `ms` milliseconds pass. The entity's timers that become due are fired in the order of their due times, each at
   * its time. Expectations after it are about the last command that a timer has sent.
   */
  advance(ms: number): this {
    const stackStart = this.advance;
    const untilMs = later(this.#clock.nowMs(), ms, stackStart);
    const fired: string[] = [];
    this.last = undefined;
    this.fired = fired;
    for (;;) {
      const firing = this.#timers.next(this.#clock.nowMs(), untilMs);
      if (firing === undefined) break;
      fired.push(firing.timer.name);
      checkFiringCount(fired.length, firing.timer, stackStart);
      this.#clock.set(Math.max(this.#clock.nowMs(), firing.timer.nextMs!));
      this.#fire(firing, stackStart);
    }
    this.#clock.set(untilMs);
    return this;
  }

  /** Sends a query. */
  query(query: string, input?: unknown): this {
    const context = this.#begin('query', query, input, this.query);
    this.fired = undefined;
    const text = jsonText(input);
    const entity = this.#live(this.query);
    const heading = this.#heading('query', query, text);
    const answer = this.#watched(heading, `query '${query}'`, this.query, () =>
      atOnce(entity.query(context, query, text)),
    );
    const fault = outcomeFault(answer, ENGINE_LIMITS_DEFAULT);
    if (fault !== undefined) throw this.#faulted(heading, fault, this.query);
    this.last = this.#outcome('query', heading, answer);
    return this;
  }

  /**
   * Expects that folding the events since the last deletion in a new instance gives the current state. Tests need not
   * call this method: it is checked at the end of each test.
   */
  thenReplays(): this {
    const state = this.#entity?.lost === false ? atOnce(this.#entity.snapshot()) : undefined;
    checkReplay(this.#module, this.#ref, this.#history, state, this.thenReplays);
    return this;
  }

  /** Returns the current state in its stored form. */
  state<T = unknown>(): T {
    return parsed(this.#encoded(this.#name, this.state)) as T;
  }

  get #name(): string {
    return `${this.#ref.component} '${shown(this.#ref.id)}'`;
  }

  #fire(firing: DueFiring, stackStart: StackStart): void {
    const { name, target, command, input } = firing.timer;
    if (target.component !== this.#ref.component || target.id !== this.#ref.id)
      throw this.#failure(
        `${this.#name}: the timer '${shown(name)}' sends '${command}' to ${target.component} '${shown(target.id)}', ` +
          'and this test has only one entity. Use testEndpoints, whose advance fires the timers of all entities.',
        stackStart,
      );
    const context = this.#begin('command', command, undefined, stackStart);
    const metadata = [...context.metadata, ...firingMetadata(firing)];
    this.#send({ command, input, context: { ...context, metadata }, firing, stackStart });
  }

  /** Carries a command out, and ends the firing that has sent it. */
  #send(sent: SentCommand): void {
    const { command, input, context, firing, stackStart } = sent;
    const entity = this.#live(stackStart);
    const sender = firing === undefined ? '' : `, sent by the timer '${shown(firing.timer.name)}'`;
    const heading = `${this.#heading('command', command, input)}${sender}`;
    const decided = this.#watched(heading, `command '${command}'`, stackStart, () =>
      atOnce(entity.command(context, command, input)),
    );
    const problem = this.#timers.problemOf(decided, context.nowMs);
    if (problem?.isTooLarge === false)
      throw this.#faulted(heading, timerFault(problem.text), stackStart);
    const decision =
      problem === undefined
        ? storable(decided, ENGINE_LIMITS_DEFAULT)
        : timersTooLarge(problem.text);
    if (decision.kind === 'refusal' && firing !== undefined)
      this.#timers.refused(firing, decision.code, context.nowMs);
    const answer = decision.kind === 'effect' ? this.#persist(decision, heading, sent) : decision;
    this.last = this.#outcome('command', heading, answer);
  }

  #heading(kind: 'command' | 'query', name: string, input: string): string {
    const given = input === 'null' ? '' : ` ${shown(input)}`;
    return `${this.#name}, ${kind} '${name}'${given}, after ${typesOf(this.#history)}`;
  }

  /** Checks the name and the input of a call, and returns its context. */
  #begin(
    kind: 'command' | 'query',
    name: string,
    input: unknown,
    stackStart: StackStart,
  ): CallContext {
    this.#account.begin();
    const { commands, queries } = this.#descriptor;
    const isCommand = kind === 'command';
    const handlers = isCommand ? commands : queries;
    const handler = handlers.find((one) => one.name === name);
    if (handler === undefined) {
      const isOther = (isCommand ? queries : commands).some((one) => one.name === name);
      const names = handlers.map((one) => one.name);
      throw this.#failure(
        isOther
          ? `${this.#name}: '${name}' is ${isCommand ? 'a query, ask it with .query' : 'a command, send it with .when'}('${name}', …)`
          : `${this.#name} has no ${kind} '${name}'.${whatThereIs(name, names)}`,
        stackStart,
      );
    }
    if (input !== undefined && handler.input === undefined)
      throw this.#failure(`${this.#name}: ${kind} '${name}' takes no input`, stackStart);
    const { nowMs, seed } = { nowMs: this.#clock.nowMs(), seed: this.#random.next64() };
    return { nowMs, seed, metadata: this.#metadata };
  }

  /** Runs a handler, and fails if it changes the state. */
  #watched<T>(heading: string, handler: string, stackStart: StackStart, call: () => T): T {
    const before = this.#encoded(`${heading}\nBefore it`, stackStart);
    let answer: T;
    try {
      answer = call();
    } catch (fault) {
      throw this.#faulted(heading, fault, stackStart);
    }
    const after = this.#encoded(`${heading}\nAfter it`, stackStart);
    if (before !== after) {
      this.#drop();
      const message =
        `${heading}\n${handler} changed the state it was given; only apply may. ` +
        `Work on a copy, and return the change as an event.${this.#account.logged()}`;
      expectEqual(parsed(after), parsed(before), message, stackStart);
      // The texts are compared too: equal values may differ in the order of a map's keys.
      expectEqual(after, before, message, stackStart);
    }
    return answer;
  }

  #encoded(heading: string, stackStart: StackStart): string {
    const entity = this.#live(stackStart);
    try {
      return atOnce(entity.snapshot());
    } catch (fault) {
      throw this.#faulted(`${heading} the state has no JSON form`, fault, stackStart);
    }
  }

  /**
   * Folds and stores the events of a command, changes its timers, and executes its deletion. Returns the effect with its
   * reply.
   */
  #persist(effect: Effect, heading: string, sent: SentCommand): Effect {
    const { context, firing, stackStart } = sent;
    const { manifest } = this.#descriptor.event;
    const fault = effectFault(effect, manifest, ENGINE_LIMITS_DEFAULT);
    if (fault !== undefined) throw this.#faulted(heading, fault, stackStart);
    const problem = this.#folded(effect.events, heading, stackStart);
    if (problem !== undefined)
      throw this.#failure(
        `${heading}\nIt persists an event that does not decode: ${shown(problem)}`,
        stackStart,
      );
    const reply = this.#replyTo(effect, heading, sent);
    const failure = this.#timers.store(effect, context.nowMs, firing);
    if (failure !== undefined) throw this.#faulted(heading, failure, stackStart);
    this.#history.push(...effect.events);
    if (deletesEntity(effect)) {
      this.#drop();
      this.#history = [];
    }
    return { ...effect, reply };
  }

  /** Returns the reply as JSON text. Fails if computing it from the state after the events changes the state. */
  #replyTo(effect: Effect, heading: string, { command, context, stackStart }: SentCommand): string {
    if (effect.reply !== undefined) return effect.reply;
    const entity = this.#live(stackStart);
    const { json } = this.#watched(heading, `the reply of command '${command}'`, stackStart, () =>
      atOnce(replyTo(entity, effect, context, command, ENGINE_LIMITS_DEFAULT)),
    );
    return json;
  }

  /** Folds events. Returns the module's message if an event does not decode; otherwise undefined. */
  #folded(
    events: readonly StoredEvent[],
    what: string,
    stackStart: StackStart,
  ): string | undefined {
    if (events.length === 0) return undefined;
    const entity = this.#live(stackStart);
    try {
      return atOnce(entity.apply(events, undefined));
    } catch (fault) {
      throw this.#faulted(`${what}\nFolding it (${typesOf(events)}) failed`, fault, stackStart);
    }
  }

  /** Returns the entity; opens it, and folds its history, if it is not open or was lost in a fault. */
  #live(stackStart: StackStart): GuestEntity {
    if (this.#entity?.lost === true) this.#drop();
    if (this.#entity !== undefined) return this.#entity;
    try {
      const entity = atOnce(this.#guest.entities.open(this.#ref, undefined));
      this.#entity = entity;
      if (this.#history.length > 0) atOnce(entity.apply(this.#history, undefined));
      return entity;
    } catch (fault) {
      throw this.#faulted(`${this.#name}: its empty state cannot be made`, fault, stackStart);
    }
  }

  #drop(): void {
    this.#entity?.close();
    this.#entity = undefined;
  }

  #outcome(
    kind: 'command' | 'query',
    heading: string,
    answer: Effect | Reply | Refusal,
  ): CallOutcome {
    return new CallOutcome(kind, heading, answer, this.#account.logged());
  }

  protected withoutCall(stackStart: StackStart): TestFailure {
    const reason =
      this.fired === undefined
        ? 'nothing was sent yet. Send a command with .when(…) or ask with .query(…) first.'
        : 'no timer was due in the time that has passed.';
    return this.#failure(`${this.#name}: ${reason}`, stackStart);
  }

  protected withoutAdvance(stackStart: StackStart): TestFailure {
    return this.#failure(`${this.#name}: let time pass with .advance(ms) first.`, stackStart);
  }

  /**
   * Discards the instance after a fault, so that the next call replays the history. Returns the failure of the test.
   */
  #faulted(heading: string, fault: unknown, stackStart: StackStart): TestFailure {
    this.#drop();
    return new TestFailure(
      `${heading}\n${this.#account.reason(fault)}${this.#account.logged()}`,
      stackStart,
    );
  }

  #failure(message: string, stackStart: StackStart): TestFailure {
    return new TestFailure(`${message}${this.#account.logged()}`, stackStart);
  }
}
