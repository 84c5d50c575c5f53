// EntityExpectations: what a test expects of the last command or query of an entity.
/* oxlint-disable typescript/unbound-method -- these methods only mark where a stack begins, and are not called */
import type { CallOutcome, ExpectedRefusal } from './call-outcome.ts';
import { type ExpectedTimerChange, expectTimers } from './expected-timers.ts';
import { jsonValue, parsed } from './json-value.ts';
import { type StackStart, TestFailure, expectEqual } from './test-failure.ts';

export abstract class EntityExpectations {
  /** Undefined: no command or query was sent. */
  protected last: CallOutcome | undefined;
  /** Names of the timers that the last `advance` has fired; undefined: the last call was another one. */
  protected fired: readonly string[] | undefined;

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

  /**
   * Expects that the last command made exactly these changes of timers, in this order: `[{ set: 'expire', afterMs: 900_000
   * }]`, `[{ cancel: 'expire' }]`, or `[]`. Of a timer that is set, only the given fields are compared.
   */
  thenTimers(changes: readonly ExpectedTimerChange[]): this {
    const outcome = this.#done(this.thenTimers).succeeded(this.thenTimers);
    expectTimers(
      outcome.timers(this.thenTimers),
      changes,
      outcome.message('changed other timers than expected'),
      this.thenTimers,
    );
    return this;
  }

  /** Expects that exactly the timers with these names have fired in the last `advance`, in this order. */
  thenFired(names: readonly string[]): this {
    const { fired } = this;
    if (fired === undefined) throw this.withoutAdvance(this.thenFired);
    expectEqual(fired, names, 'Other timers have fired than expected.', this.thenFired);
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

  /** Returns the reply of the last command or query. */
  reply<T = unknown>(): T {
    return this.#done(this.reply).succeeded(this.reply).reply as T;
  }

  /** Events that the last command persisted. */
  get events(): readonly unknown[] {
    const stackStart = Object.getOwnPropertyDescriptor(
      EntityExpectations.prototype,
      'events',
    )!.get!;
    return this.#done(stackStart)
      .events(stackStart)
      .map(({ json }) => parsed(json));
  }

  /** Creates the failure of an expectation about a call when there was none. */
  protected abstract withoutCall(stackStart: StackStart): TestFailure;

  /** Creates the failure of an expectation about the passing of time when the last call was another one. */
  protected abstract withoutAdvance(stackStart: StackStart): TestFailure;

  #done(stackStart: StackStart): CallOutcome {
    if (this.last !== undefined) return this.last;
    throw this.withoutCall(stackStart);
  }
}
