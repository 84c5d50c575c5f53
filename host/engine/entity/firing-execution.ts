// FiringExecution carries out the command of a due timer: it looks the timer up, and lets the guest decide the command if
// the occurrence is still the timer's. The command's append also removes or re-arms the timer, even if the command is
// refused, so its effect happens once, and no stored reply is needed. One object serves all entities of an engine, and
// keeps no state of any entity.
//
// Invariants
// F1  A firing is decided only while no append of its entity is under way, and no other call of the entity runs until the
//     append of the firing has settled (LiveEntity). So a command of the entity that has cancelled the timer before is on
//     disk when the timer is looked up, and if the append finds the timer changed, no other call has seen its effect.
// F2  A firing whose timer is gone calls no guest.
import { SvcError } from '@svc/kit/svc-error';
import { newTraceParent, traceParentText } from '@svc/kit/trace-context';
import type { Awaitable, Metadata } from '../../model/call.ts';
import { type Firing, isWaitingFor } from '../firing.ts';
import type { RandomSource } from '../needs/clock.ts';
import type { GuestEntity } from '../needs/guest.ts';
import type { Journal } from '../needs/journal.ts';
import type { Recorder } from '../needs/recorder.ts';
import type { StoredTimer } from '../needs/timers.ts';
import type { Remainder } from './call-completion.ts';
import type { CommandExecution } from './command-execution.ts';
import type { EntityCall } from './entity-call.ts';
import type { EntityState } from './entity-state.ts';

export interface FiringNeeds {
  readonly journal: Pick<Journal, 'timer'>;
  readonly random: RandomSource;
  readonly recorder: Recorder;
}

export class FiringExecution {
  readonly #needs: FiringNeeds;
  readonly #commands: CommandExecution;

  constructor(needs: FiringNeeds, commands: CommandExecution) {
    this.#needs = needs;
    this.#commands = commands;
  }

  /** Carries the command of the timer out, or fails it with SVC_TIMER_GONE. `guest`: the guest of `state`. */
  run(state: EntityState, guest: GuestEntity, call: EntityCall, firing: Firing): Remainder {
    state.use();
    let stored: Awaitable<StoredTimer | undefined>;
    try {
      stored = this.#needs.journal.timer(firing.number);
    } catch (failure) {
      call.fail(failure);
      return undefined;
    }
    if (!(stored instanceof Promise)) return this.#lookedUp(state, guest, call, firing, stored);
    return stored.then(
      (later) => {
        if (!guest.lost) return this.#lookedUp(state, guest, call, firing, later);
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
    firing: Firing,
    timer: StoredTimer | undefined,
  ): Remainder {
    if (!isWaitingFor(timer, firing)) {
      call.fail(timerGone());
      return undefined;
    }
    const { random, recorder } = this.#needs;
    call.input = timer.input;
    call.metadata = metadataOf(timer, firing, random);
    call.startsTrace = timer.traceParent === undefined;
    call.recordedBy(recorder, call.handlerIndex, state.ref.id);
    return this.#commands.run(state, guest, call);
  }
}

/** Returns the metadata of a firing. Its trace is that of the call that has set the timer, or else a new one. */
function metadataOf(
  { traceParent, dueMs }: StoredTimer,
  { missed }: Firing,
  random: RandomSource,
): Metadata {
  return [
    ['traceparent', traceParent ?? traceParentText(newTraceParent(random))],
    ['timer-due-ms', String(dueMs)],
    ['timer-missed', String(missed)],
  ];
}

function timerGone(): SvcError {
  return new SvcError(
    'SVC_TIMER_GONE',
    'The timer was cancelled, replaced or fired before its command was executed. Nothing needs to be done.',
  );
}
