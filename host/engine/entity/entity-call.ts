// EntityCall is one command or query on its way through an entity, and the answer to its caller.
//
// Invariants
// C1  A call is answered or fails exactly once, and is then recorded, except a firing whose timer is gone: it has changed nothing,
//     and is nobody's failure.
// C2  A promise is created only when the caller asks for an answer that is not there yet, because a promise per call is
//     costly.
import assert from 'node:assert';
import type { Awaitable, CallContext, Metadata, Refusal, Reply } from '@svc/model/call';
import { outcomeOfAnswer, outcomeOfFailure } from '@svc/model/span-outcome';
import {
  childMetadata,
  childTraceParent,
  type TraceParent,
  traceParentOf,
} from '@svc/kit/trace-context';
import { SvcError } from '@svc/kit/svc-error';
import { traceStateOf } from '@svc/kit/trace-state';
import type { Firing } from '../firing.ts';
import type { RandomSource } from '../needs/clock.ts';
import type { ReplyAhead } from '../needs/journal.ts';
import { type EndedCall, NO_RECORDER, type Recorder } from '../needs/recorder.ts';
import type { TimerWrites } from '../needs/timers.ts';
import type { CommandKey } from './command-key.ts';

export type HandlerKind = 'command' | 'query';
export type Outcome = Reply | Refusal;

/** A call without an answer yet: it is not decided, or a write has to settle before it is answered. */
export interface PendingCall {
  /**
   * The speculative result: the answer unless a write fails. Undefined if the call is not decided yet, or another shard
   * executes it.
   */
  readonly speculative: Outcome | undefined;
  /** The confirmed answer. Rejects with GuestFault or SvcError. */
  readonly answer: Promise<Outcome>;
}

/** The lookup of a command's idempotency key that may begin before the command runs (key-lookups.ts). */
export interface KeyLookup {
  /** Whether `reply` may be used: no reply to the key can have been stored since the lookup began. */
  readonly isCurrent: boolean;
  /** The value that `Journal.lookAhead` resolves with. */
  readonly reply: Awaitable<ReplyAhead>;
  /** Begins again if the lookup is not current any more. Call it while no append of the entity is under way. */
  renew(): void;
  callEnded(): void;
}

export class EntityCall implements EndedCall {
  readonly kind: HandlerKind;
  readonly name: string;
  readonly input: string;
  readonly metadata: Metadata;
  /** The firing of a timer that the command belongs to; undefined for every other call. */
  firing: Firing | undefined = undefined;
  /** Whether the metadata was made for this call, so that its trace has no span before. */
  startsTrace = false;
  /** The changes of timers that are stored by the append of the call. */
  timers: TimerWrites | undefined = undefined;
  /** The idempotency key of a command that is carried out once. */
  readonly idempotency: CommandKey | undefined;
  /** While the call waits for an append to settle: the outcome to be answered. Undefined before. */
  heldOutcome: Outcome | undefined = undefined;
  /** Whether an append of the call itself has to settle before the call is answered. */
  heldForOwnAppend = false;
  /** Memory that this append takes until it has settled, roughly, in bytes. */
  appendBytes = 0;
  /** Undefined without an idempotency key, and if the journal looks no keys up ahead. */
  lookup: KeyLookup | undefined = undefined;
  fuel = 0;
  handlerIndex = 0;
  entityId = '';
  startMs = 0;
  trace: TraceParent | undefined = undefined;
  parentId: bigint | undefined = undefined;
  traceState: string | undefined = undefined;
  eventsPersisted = 0;
  #recorder: Recorder = NO_RECORDER;
  #state: 'open' | 'answered' | 'failed' = 'open';
  #outcome: Outcome | undefined = undefined;
  #failure: unknown = undefined;
  #resolve: ((outcome: Outcome) => void) | undefined = undefined;
  #reject: ((failure: unknown) => void) | undefined = undefined;

  constructor(
    kind: HandlerKind,
    name: string,
    input: string,
    metadata: Metadata,
    idempotency?: CommandKey,
  ) {
    this.kind = kind;
    this.name = name;
    this.input = input;
    this.metadata = metadata;
    this.idempotency = idempotency;
  }

  /** Starts measuring. `handlerIndex`: index of the handler (model/handler-table.ts). */
  recordedBy(recorder: Recorder, handlerIndex: number, entityId: string): void {
    this.#recorder = recorder;
    this.handlerIndex = handlerIndex;
    this.entityId = entityId;
    this.startMs = recorder.nowMs();
  }

  /** Creates the context that the handler receives besides the input. The handler's fuel is added to this call. */
  context(nowMs: number, random: RandomSource): CallContext {
    const seed = random.next64();
    const parent = traceParentOf(this.metadata);
    if (parent !== undefined) {
      this.trace = childTraceParent(parent, random);
      this.parentId = this.startsTrace ? undefined : parent.spanId;
      this.traceState = traceStateOf(this.metadata);
    }
    return { nowMs, seed, metadata: childMetadata(this.metadata, this.trace), spent: this };
  }

  /** Answers the caller. */
  answer(outcome: Outcome): void {
    assert(this.#state === 'open');
    this.#state = 'answered';
    this.lookup?.callEnded();
    const refusal = outcome.kind === 'refusal' ? outcome : undefined;
    this.#recorder.called(this, this.#recorder.nowMs(), outcomeOfAnswer(outcome), refusal);
    this.#outcome = outcome;
    this.#resolve?.(outcome);
  }

  /** Fails the call: the caller gets GuestFault or SvcError. */
  fail(failure: unknown): void {
    assert(this.#state === 'open');
    this.#state = 'failed';
    this.lookup?.callEnded();
    this.eventsPersisted = 0;
    if (this.firing === undefined || !isGone(failure))
      this.#recorder.called(this, this.#recorder.nowMs(), outcomeOfFailure(failure), failure);
    this.#failure = failure;
    this.#reject?.(failure);
  }

  /** Returns the outcome, or the pending call with its speculative result. Throws the failure. Call it once. */
  speculativeResult(): Outcome | PendingCall {
    const answer = this.result();
    return answer instanceof Promise ? { speculative: this.heldOutcome, answer } : answer;
  }

  /** Returns the outcome, throws the failure, or returns a promise of either. Call it once. */
  result(): Awaitable<Outcome> {
    if (this.#state === 'failed') throw this.#failure;
    if (this.#outcome !== undefined) return this.#outcome;
    return new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }
}

/** Whether the timer of a firing was cancelled, replaced or fired by somebody else. */
function isGone(failure: unknown): boolean {
  return failure instanceof SvcError && failure.code === 'SVC_TIMER_GONE';
}
