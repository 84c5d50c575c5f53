// CallExecution runs a call on the state of its entity, until the call is answered, has failed, or waits for the disk. Queries
// run here, commands in CommandExecution, and commands with an idempotency key in IdempotentExecution. One object serves all
// entities of an engine, and keeps no state of any entity.
//
// Invariant: a promise is created only if the guest or the journal answers later.
import type { Awaitable } from '@svc/model/call';
import type { EngineLimits } from '../engine-limits.ts';
import type { RandomSource } from '../needs/clock.ts';
import type { GuestEntity } from '@svc/model/guest';
import type { Journal } from '../needs/journal.ts';
import { CallCompletion, type CompletionNeeds, type Remainder } from './call-completion.ts';
import { CommandExecution, type CommandNeeds } from './command-execution.ts';
import type { EntityCall, Outcome } from './entity-call.ts';
import type { EntityState } from './entity-state.ts';
import { type IdempotencyNeeds, IdempotentExecution } from './idempotent-execution.ts';

export interface ExecutionNeeds extends CompletionNeeds, CommandNeeds, IdempotencyNeeds {
  readonly journal: Journal;
  readonly limits: EngineLimits;
}

export class CallExecution {
  readonly #random: RandomSource;
  readonly #completion: CallCompletion;
  readonly #commands: CommandExecution;
  readonly #idempotent: IdempotentExecution;

  constructor(needs: ExecutionNeeds) {
    this.#random = needs.random;
    this.#completion = new CallCompletion(needs);
    this.#commands = new CommandExecution(needs, this.#completion);
    this.#idempotent = new IdempotentExecution(needs, this.#completion, this.#commands);
  }

  /**
   * Runs the call; if the state is lost meanwhile, queues the call again or fails it. `guest`: the guest of `state`.
   * Returns the rest of a call that has to wait.
   */
  run(state: EntityState, guest: GuestEntity, call: EntityCall): Remainder {
    if (call.kind === 'query') return this.#query(state, guest, call);
    const { idempotency } = call;
    return idempotency === undefined
      ? this.#commands.run(state, guest, call)
      : this.#idempotent.run(state, guest, call, idempotency);
  }

  #query(state: EntityState, guest: GuestEntity, call: EntityCall): Remainder {
    if (state.calls.mustWait(call) && this.#completion.failIfOverloaded(state, call))
      return undefined;
    let answer: Awaitable<Outcome>;
    try {
      answer = guest.query(call.context(state.use(), this.#random), call.name, call.input);
    } catch (fault) {
      return this.#completion.fault(state, call, fault);
    }
    if (!(answer instanceof Promise)) return this.#answered(state, call, answer);
    return answer.then(
      (outcome) => this.#answered(state, call, outcome),
      (fault: unknown) => this.#completion.fault(state, call, fault),
    );
  }

  #answered(state: EntityState, call: EntityCall, outcome: Outcome): undefined {
    this.#completion.guestAnswered(state);
    this.#completion.answer(state, call, outcome);
  }
}
