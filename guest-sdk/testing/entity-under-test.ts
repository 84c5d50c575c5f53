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
} from '@svc/host/tools';
import { CallOutcome, type ExpectedRefusal } from './call-outcome.ts';
import { GuestAccount } from './guest-account.ts';
import { jsonText, jsonValue, parsed } from './json-value.ts';
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

export class EntityUnderTest {
  readonly #module: ModuleUnderTest;
  readonly #descriptor: EntityDescriptor;
  readonly #ref: EntityRef;
  readonly #account: GuestAccount;
  readonly #guest: Guest;
  readonly #clock = new SetClock();
  readonly #random = new SetRandomSource();
  #metadata: Metadata = [];
  #entity: GuestEntity | undefined;
  /** Events since the last deletion: given ones, and those that commands persisted. */
  #history: StoredEvent[] = [];
  #last: CallOutcome | undefined;

  /** Tests call `testEntity` instead. */
  constructor(module: ModuleUnderTest, descriptor: EntityDescriptor, ref: EntityRef) {
    this.#module = module;
    this.#descriptor = descriptor;
    this.#ref = ref;
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
    const context = this.#begin('command', command, input, this.when);
    const text = jsonText(input);
    const entity = this.#live(this.when);
    const heading = this.#heading('command', command, text);
    const decided = this.#watched(heading, `command '${command}'`, this.when, () =>
      atOnce(entity.command(context, command, text)),
    );
    const decision = storable(decided, ENGINE_LIMITS_DEFAULT);
    this.#last = this.#outcome(
      'command',
      heading,
      decision.kind === 'effect' ? this.#persist(decision, heading, context, command) : decision,
    );
    return this;
  }

  /** Sends a query. */
  query(query: string, input?: unknown): this {
    const context = this.#begin('query', query, input, this.query);
    const text = jsonText(input);
    const entity = this.#live(this.query);
    const heading = this.#heading('query', query, text);
    const answer = this.#watched(heading, `query '${query}'`, this.query, () =>
      atOnce(entity.query(context, query, text)),
    );
    const fault = outcomeFault(answer, ENGINE_LIMITS_DEFAULT);
    if (fault !== undefined) throw this.#faulted(heading, fault, this.query);
    this.#last = this.#outcome('query', heading, answer);
    return this;
  }

  /** Expects that the last command persisted exactly these events, in this order. */
  thenEvents(events: readonly (object | string)[]): this {
    const outcome = this.#done(this.thenEvents).succeeded(this.thenEvents);
    expectEqual(
      outcome.events(this.thenEvents).map(({ json }) => parsed(json)),
      events.map((event) => (typeof event === 'string' ? parsed(event) : jsonValue(event))),
      outcome.message('persisted other events than expected'),
      this.thenEvents,
    );
    return this;
  }

  /** Expects that the last command persisted nothing; it may have been refused. */
  thenNoEvents(): this {
    const outcome = this.#done(this.thenNoEvents);
    const events = outcome.events(this.thenNoEvents).map(({ json }) => parsed(json));
    expectEqual(events, [], outcome.message('persisted events'), this.thenNoEvents);
    return this;
  }

  /** Expects this reply of the last command or query. */
  thenReply(reply: unknown): this {
    const outcome = this.#done(this.thenReply).succeeded(this.thenReply);
    expectEqual(
      outcome.reply,
      jsonValue(reply) ?? null,
      outcome.message('replied something else than expected'),
      this.thenReply,
    );
    return this;
  }

  /** Expects that the last command or query was refused, with this code and the other given fields. */
  thenRefused(expected: string | ExpectedRefusal): this {
    this.#done(this.thenRefused).expectRefusal(expected, this.thenRefused);
    return this;
  }

  /** Expects that the last command deleted the entity. */
  thenDeleted(): this {
    const outcome = this.#done(this.thenDeleted).succeeded(this.thenDeleted);
    if (!outcome.deletes)
      throw new TestFailure(outcome.message('did not delete the entity'), this.thenDeleted);
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

  /** Returns the reply of the last command or query. */
  reply<T = unknown>(): T {
    return this.#done(this.reply).succeeded(this.reply).reply as T;
  }

  /** Events that the last command persisted. */
  get events(): readonly unknown[] {
    const stackStart = Object.getOwnPropertyDescriptor(EntityUnderTest.prototype, 'events')!.get!;
    return this.#done(stackStart)
      .events(stackStart)
      .map(({ json }) => parsed(json));
  }

  /** Returns the current state in its stored form. */
  state<T = unknown>(): T {
    return parsed(this.#encoded(this.#name, this.state)) as T;
  }

  get #name(): string {
    return `${this.#ref.component} '${shown(this.#ref.id)}'`;
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

  /** Folds and stores the events of a command, and executes its deletion. Returns the effect with its reply. */
  #persist(effect: Effect, heading: string, context: CallContext, command: string): Effect {
    const { manifest } = this.#descriptor.event;
    const fault = effectFault(effect, manifest, ENGINE_LIMITS_DEFAULT);
    if (fault !== undefined) throw this.#faulted(heading, fault, this.when);
    const problem = this.#folded(effect.events, heading, this.when);
    if (problem !== undefined)
      throw this.#failure(
        `${heading}\nIt persists an event that does not decode: ${shown(problem)}`,
        this.when,
      );
    const reply = this.#replyTo(effect, heading, context, command);
    this.#history.push(...effect.events);
    if (deletesEntity(effect)) {
      this.#drop();
      this.#history = [];
    }
    return { ...effect, reply };
  }

  /** Returns the reply as JSON text. Fails if computing it from the state after the events changes the state. */
  #replyTo(effect: Effect, heading: string, context: CallContext, command: string): string {
    if (effect.reply !== undefined) return effect.reply;
    const entity = this.#live(this.when);
    const { json } = this.#watched(heading, `the reply of command '${command}'`, this.when, () =>
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

  #done(stackStart: StackStart): CallOutcome {
    if (this.#last !== undefined) return this.#last;
    throw this.#failure(
      `${this.#name}: nothing was sent yet. Send a command with .when(…) or ask with .query(…) first.`,
      stackStart,
    );
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
