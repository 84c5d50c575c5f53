// FullJournal remembers that the journal has refused an append, because it or the disk is full. An entity whose append
// was refused has to be replayed, which is costly. So for a while a command that would store at least as much fails
// before its events are folded, and its entity stays in memory. A smaller append may still fit, and is tried. A command
// with an idempotency key whose reply is computed from the state after its events fails in any case, because the size
// of its append is known only after the events are folded.
import type { Effect, Refusal } from '@svc/model/call';
import type { SvcError } from '@svc/kit/svc-error';
import type { MonotonicClock } from '../needs/clock.ts';
import type { EntityCall } from './entity-call.ts';
import { besideBytes, appendBytes } from './unsettled-bytes.ts';

/** After this many milliseconds an append of any size is tried again. */
const PAUSE_MS = 1_000;

export class FullJournal {
  readonly #clock: MonotonicClock;
  #failure: SvcError | undefined;
  #sinceMs = 0;
  /** Bytes of the smallest append that was refused since `#failure` was last undefined. */
  #bytes = 0;

  constructor(clock: MonotonicClock) {
    this.#clock = clock;
  }

  /** Called when an append of `bytes` has failed. Ignores failures for other reasons than a full journal or disk. */
  failed(bytes: number, failure: SvcError): void {
    if (failure.code !== 'SVC_JOURNAL_FULL' && failure.code !== 'SVC_DISK_FULL') return;
    this.#bytes = this.#failure === undefined ? bytes : Math.min(bytes, this.#bytes);
    this.#failure = failure;
    this.#sinceMs = this.#clock.monotonicMs();
  }

  /** Returns the failure of a command that would not fit; undefined if the command is to be tried. */
  refusalOf(call: EntityCall, decision: Effect | Refusal): SvcError | undefined {
    if (this.#failure === undefined) return undefined;
    if (this.#clock.monotonicMs() - this.#sinceMs >= PAUSE_MS) this.#failure = undefined;
    let bytes = besideBytes(call, decision);
    if (decision.kind === 'effect') {
      if (decision.reply === undefined && call.idempotency !== undefined) return this.#failure;
      bytes += appendBytes(decision.events, decision.actions.length);
    }
    return bytes < this.#bytes ? undefined : this.#failure;
  }
}
