// IdempotentExecution carries out a command with an idempotency key once: it looks the reply to the key up before the command
// is decided, and answers a repeated command with that reply. One object serves all entities of an engine, and keeps no
// state of any entity.
//
// Invariants
// K1  A command whose key has a reply is not decided, whether the reply is on disk or still waits for the disk, until
//     the retention of the reply is over. The reply to a key of an event has no retention: it is used as long as it is
//     stored, which is until the event is settled. A refusal of such a key is not used in a later round.
//     A reply that is repeated is answered as any other: only while the lease of the entity is held.
// K2  While the first reply waits for the disk, so does a repeated command. It fails if the append of the first one
//     fails.
import type { Awaitable } from '@svc/model/call';
import type { EngineLimits } from '../engine-limits.ts';
import type { Clock } from '../needs/clock.ts';
import type { GuestEntity } from '@svc/model/guest';
import { type Journal, LEFT_TO_ANSWER, type ReplyAhead } from '../needs/journal.ts';
import type { CallCompletion, Remainder } from './call-completion.ts';
import type { CommandExecution } from './command-execution.ts';
import type { CommandKey } from './command-key.ts';
import type { EntityCall } from './entity-call.ts';
import type { EntityState } from './entity-state.ts';
import { isRepeated, repeatedOutcome } from './idempotency.ts';

export interface IdempotencyNeeds {
  readonly journal: Journal;
  readonly clock: Clock;
  readonly limits: Pick<EngineLimits, 'idempotencyRetentionMs'>;
}

export class IdempotentExecution {
  readonly #needs: IdempotencyNeeds;
  readonly #completion: CallCompletion;
  readonly #commands: CommandExecution;

  constructor(needs: IdempotencyNeeds, completion: CallCompletion, commands: CommandExecution) {
    this.#needs = needs;
    this.#completion = completion;
    this.#commands = commands;
  }

  /** Repeats the reply to `key`, or carries the command out if there is none. `guest`: the guest of `state`. */
  run(state: EntityState, guest: GuestEntity, call: EntityCall, key: CommandKey): Remainder {
    state.use();
    // A refusal of an earlier round that still waits for the disk is repeated: no second command of its key may be under way.
    const speculative = state.calls.speculative(key.key);
    if (speculative !== undefined)
      return this.#completion.answer(state, call, repeatedOutcome(key, speculative));
    let found: Awaitable<ReplyAhead>;
    try {
      found = call.lookup?.isCurrent
        ? call.lookup.reply
        : this.#needs.journal.answer(state.ref, key.key);
    } catch (failure) {
      call.fail(failure);
      return undefined;
    }
    if (!(found instanceof Promise)) return this.#lookedUp(state, guest, call, key, found);
    return found.then(
      (later) => {
        if (state.lostAppend === undefined && !guest.lost)
          return this.#lookedUp(state, guest, call, key, later);
        // Nothing is decided yet, so the command runs on the state that is loaded next.
        state.calls.requeue(call);
        return undefined;
      },
      (failure: unknown) => call.fail(failure),
    );
  }

  #lookedUp(
    state: EntityState,
    guest: GuestEntity,
    call: EntityCall,
    key: CommandKey,
    found: ReplyAhead,
  ): Remainder {
    // The lookup is not current any more, so that the journal is asked.
    if (found === LEFT_TO_ANSWER) return this.run(state, guest, call, key);
    const { clock, limits } = this.#needs;
    return found !== undefined &&
      isRepeated(key, found, clock.nowMs(), limits.idempotencyRetentionMs)
      ? this.#completion.answer(state, call, repeatedOutcome(key, found))
      : this.#commands.run(state, guest, call);
  }
}
