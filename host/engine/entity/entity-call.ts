// EntityCall: one command or query on its way through an entity, and the answer to its caller. It
// becomes a promise only when the answer is not there yet: a promise per call is dear.
import assert from 'node:assert';
import type { Awaitable, Metadata, Refusal, Reply } from '../../model/call.ts';
import type { CommandKey } from './command-key.ts';

export type HandlerKind = 'command' | 'query';
export type Outcome = Reply | Refusal;

/** A call whose answer is not due yet. */
export interface CallAhead {
  /** What will be answered unless a write fails; undefined when that is not known. */
  readonly foreseen: Outcome | undefined;
  /** Asked for once. Rejects with GuestFault or SvcError. */
  readonly answer: Promise<Outcome>;
}

export class EntityCall {
  readonly kind: HandlerKind;
  readonly name: string;
  readonly input: string;
  readonly metadata: Metadata;
  /** Of a command that is to be done once. */
  readonly idempotency: CommandKey | undefined;
  /** While it is held: what is to be answered, and whether an append of its own must settle first. */
  heldOutcome: Outcome | undefined = undefined;
  heldForOwnAppend = false;
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

  answer(outcome: Outcome): void {
    assert(this.#state === 'open');
    this.#state = 'answered';
    this.#outcome = outcome;
    this.#resolve?.(outcome);
  }

  fail(failure: unknown): void {
    assert(this.#state === 'open');
    this.#state = 'failed';
    this.#failure = failure;
    this.#reject?.(failure);
  }

  /** The outcome, thrown failure, or what is known of it before it is due. To be asked once. */
  resultAhead(): Outcome | CallAhead {
    const answer = this.result();
    return answer instanceof Promise ? { foreseen: this.heldOutcome, answer } : answer;
  }

  /** The outcome, thrown failure, or a promise of either. To be asked once. */
  result(): Awaitable<Outcome> {
    if (this.#state === 'failed') throw this.#failure;
    if (this.#outcome !== undefined) return this.#outcome;
    return new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }
}
