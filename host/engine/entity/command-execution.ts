// CommandExecution carries out a command on the state of its entity: the guest decides, its decision is checked, the events are
// folded, and the records are appended. One object serves all entities of an engine, and keeps no state of any entity.
//
// Invariants
// C1  Nothing is appended before the whole effect has passed its checks and its events are folded. Nothing is decided, and nothing
//     appended, under a lease that is not held.
// C2  After a fault while events were folded, the state is dropped: nothing of the command stays.
// C3  A command appends at most once. A command appends nothing if it has no records, changes no timer, has no idempotency
//     key and is no firing. The refusal of a firing because of too many requests appends nothing either.
import { deletesEntity } from '@svc/model/call';
import type { Awaitable, CallContext, Effect, Refusal, Reply } from '@svc/model/call';
import type { EngineLimits } from '../engine-limits.ts';
import type { RandomSource } from '../needs/clock.ts';
import type { GuestEntity } from '@svc/model/guest';
import { applyEffect } from './applied-effect.ts';
import type { CallCompletion, Remainder } from './call-completion.ts';
import type { EntityCall } from './entity-call.ts';
import type { EntityState } from './entity-state.ts';
import type { FullJournal } from './full-journal.ts';
import { effectFault, outcomeFault, storable, timerFault, timersTooLarge } from './guest-answer.ts';
import { recordsOf } from './recorded-effect.ts';
import { type TimerRules, timerWrites } from './timer-rules.ts';
import { appendBytes } from './unsettled-bytes.ts';

export interface CommandNeeds {
  readonly random: RandomSource;
  readonly limits: EngineLimits;
  readonly fullJournal: FullJournal;
  readonly timerRules: TimerRules;
}

export class CommandExecution {
  readonly #needs: CommandNeeds;
  readonly #completion: CallCompletion;

  constructor(needs: CommandNeeds, completion: CallCompletion) {
    this.#needs = needs;
    this.#completion = completion;
  }

  /** Lets the guest decide the command, and carries the decision out. `guest`: the guest of `state`. */
  run(state: EntityState, guest: GuestEntity, call: EntityCall): Remainder {
    if (this.#completion.failIfOverloaded(state, call)) return undefined;
    if (this.#completion.discardIfLost(state, call)) return undefined;
    const context = call.context(state.use(), this.#needs.random);
    let decision: Awaitable<Effect | Refusal>;
    try {
      decision = guest.command(context, call.name, call.input);
    } catch (fault) {
      return this.#completion.fault(state, call, fault);
    }
    if (!(decision instanceof Promise)) return this.#decided(state, guest, call, context, decision);
    return decision.then(
      (later) => this.#decided(state, guest, call, context, later),
      (fault: unknown) => this.#completion.fault(state, call, fault),
    );
  }

  /** Checks the decision of the guest, and refuses the command, fails it, or continues with its events. */
  #decided(
    state: EntityState,
    guest: GuestEntity,
    call: EntityCall,
    context: CallContext,
    decided: Effect | Refusal,
  ): Remainder {
    this.#completion.guestAnswered(state);
    const { limits, fullJournal, timerRules } = this.#needs;
    const timers = decided.kind === 'effect' ? decided.timers : undefined;
    const problem = timers && timerRules.problemOf(timers, context.nowMs);
    const decision = problem?.isTooLarge ? timersTooLarge(problem.text) : storable(decided, limits);
    const isRefusal = decision.kind === 'refusal';
    if (isRefusal && !isStoredRefusal(call, decision))
      return this.#completion.answer(state, call, decision);
    if (this.#completion.discardIfLost(state, call)) return undefined;
    const fault = isRefusal
      ? outcomeFault(decision, limits)
      : problem === undefined
        ? effectFault(decision, state.eventManifest, limits)
        : timerFault(problem.text);
    if (fault !== undefined) return this.#completion.refuse(state, call, fault);
    call.timers = timerWrites(call, isRefusal ? undefined : timers, context);
    const full = fullJournal.refusalOf(call, decision);
    if (full !== undefined) {
      call.fail(full);
      return undefined;
    }
    return isRefusal
      ? state.append(call, decision, [], context.nowMs, 0)
      : this.#apply(state, guest, call, context, decision);
  }

  /** Lets the guest fold the events, and compute the reply from the state after them if the effect has no reply yet. */
  #apply(
    state: EntityState,
    guest: GuestEntity,
    call: EntityCall,
    context: CallContext,
    effect: Effect,
  ): Remainder {
    let reply: Awaitable<Reply>;
    try {
      reply = applyEffect(guest, effect, context, call.name, this.#needs.limits);
    } catch (fault) {
      return this.#completion.fault(state, call, fault);
    }
    if (!(reply instanceof Promise)) return this.#applied(state, call, context, effect, reply);
    return reply.then(
      (later) => this.#applied(state, call, context, effect, later),
      (fault: unknown) => this.#completion.fault(state, call, fault),
    );
  }

  /** Appends the records of the effect, whose events the guest's state includes. */
  #applied(
    state: EntityState,
    call: EntityCall,
    context: CallContext,
    effect: Effect,
    reply: Reply,
  ): undefined {
    if (this.#completion.discardIfLost(state, call)) return;
    const records = recordsOf(effect, context, call, state.seq);
    if (records.length === 0 && call.timers === undefined && call.idempotency === undefined) {
      state.calls.hold(call, reply);
      return;
    }
    const bytes = appendBytes(effect.events, effect.actions.length);
    state.append(call, reply, records, context.nowMs, bytes);
    // The next incarnation begins like any other, with a replay.
    if (deletesEntity(effect)) state.drop();
  }
}

/** Returns whether a refusal is stored: with the key of its command, or as the end of a firing. */
function isStoredRefusal({ idempotency, firing }: EntityCall, { code }: Refusal): boolean {
  return idempotency !== undefined || (firing !== undefined && code !== 'TOO_MANY_REQUESTS');
}
