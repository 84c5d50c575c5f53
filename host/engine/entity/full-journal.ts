// FullJournal: what an engine knows of a journal that takes no more, because it or the disk is full. An entity
// whose events or answer were refused is folded anew, which is dear; so for a while a command that would store
// as much is turned down before its events are folded, and its entity stays as it is. What is smaller, and may
// still fit, is tried. A command with an idempotency key whose reply is computed from the state after its events
// is not: how much it would store is known only after they are folded.
import type { Effect, Refusal } from '../../model/call.ts';
import type { SvcError } from '@svc/kit/svc-error';
import type { Clock } from '../needs/clock.ts';
import type { EntityCall } from './entity-call.ts';
import { answerBytes, appendBytes } from './unsettled-bytes.ts';

/** After this, one is tried again. */
const PAUSE_MS = 1_000;

export class FullJournal {
  readonly #clock: Clock;
  #failure: SvcError | undefined;
  #sinceMs = 0;
  /** Of the smallest append that was refused. */
  #bytes = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** An append of so many bytes has failed, for this reason or another. */
  failed(bytes: number, failure: SvcError): void {
    if (failure.code !== 'SVC_JOURNAL_FULL' && failure.code !== 'SVC_DISK_FULL') return;
    this.#bytes = this.#failure === undefined ? bytes : Math.min(bytes, this.#bytes);
    this.#failure = failure;
    this.#sinceMs = this.#clock.nowMs();
  }

  /** Why it is not to be tried; undefined when it is. */
  refusalOf(call: EntityCall, decision: Effect | Refusal): SvcError | undefined {
    if (this.#failure === undefined) return undefined;
    const passedMs = this.#clock.nowMs() - this.#sinceMs;
    // A clock that was set back must not make the pause longer.
    if (passedMs < 0 || passedMs >= PAUSE_MS) this.#failure = undefined;
    let bytes = answerBytes(call, decision);
    if (decision.kind === 'effect') {
      if (decision.reply === undefined && call.idempotency !== undefined) return this.#failure;
      bytes += appendBytes(decision.events, decision.actions.length);
    }
    return bytes < this.#bytes ? undefined : this.#failure;
  }
}
