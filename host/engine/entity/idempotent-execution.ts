// IdempotentExecution carries out a command with an idempotency key once: it looks the reply to the key up before the command
// is decided, and answers a repeated command with that reply. One object serves all entities of an engine, and keeps no
// state of any entity.
//
// Invariants
// K1  A command whose key has a reply is not decided, whether the reply is on disk or still waits for the disk, until
//     the retention of the reply is over. The reply to a key of an event has no retention: it is used as long as it is
//     stored, which is until the event is settled. A refusal of such a key is not used in a later round.
// K2  While the first reply waits for the disk, so does a repeated command. It fails if the append of the first one
//     fails.
import type { Awaitable } from '@svc/model/call';
import type { EngineLimits } from '../engine-limits.ts';
import type { Clock } from '../needs/clock.ts';
import type { GuestEntity } from '@svc/model/guest';
import type { Journal, StoredReply } from '../needs/journal.ts';
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
    let stored: Awaitable<StoredReply | undefined>;
    try {
      stored = call.lookup?.isCurrent
        ? call.lookup.reply
        : this.#needs.journal.answer(state.ref, key.key);
    } catch (failure) {
      call.fail(failure);
      return undefined;
    }
    if (!(stored instanceof Promise)) return this.#lookedUp(state, guest, call, key, stored);
    return stored.then(
      (later) => {
        // Nothing is decided yet, so the command runs on the state that is loaded next.
        if (state.lostAppend === undefined && !guest.lost)
          return this.#lookedUp(state, guest, call, key, later);
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
    stored: StoredReply | undefined,
  ): Remainder {
    const { clock, limits } = this.#needs;
    return stored !== undefined &&
      isRepeated(key, stored, clock.nowMs(), limits.idempotencyRetentionMs)
      ? this.#completion.answer(state, call, repeatedOutcome(key, stored))
      : this.#commands.run(state, guest, call);
  }
}
