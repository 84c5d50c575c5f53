// SwitchedRecorder: a shard's recorder that is taken away and given back in turns, so that one thread shows what it
// costs: two of them differ by more, each with machine code of its own. What HTTP counts by route and status goes on.
import { SpanRing } from '../host/shards/recorder/span-ring.ts';

/** Of a turn: requests per second. */
export interface Slice {
  readonly isRecorded: boolean;
  readonly perSecond: number;
}

/** Answers between two looks at the clock. */
const ANSWERS = 64;

export class SwitchedRecorder extends SpanRing {
  #isOn = true;
  #sliceMs = Infinity;
  #told: (slice: Slice) => void = () => {};
  #startMs = 0;
  #answered = 0;

  /** From now on in turns of so many milliseconds, at least, with a recorder first. `told`: when one is over. */
  takeTurns(sliceMs: number, told: (slice: Slice) => void): void {
    this.#sliceMs = sliceMs;
    this.#told = told;
    this.#begin(true);
  }

  /** From now on always. */
  stay(): void {
    this.#sliceMs = Infinity;
    this.#begin(true);
  }

  override nowMs(): number {
    return this.#isOn ? super.nowMs() : 0;
  }

  override called(...ended: Parameters<SpanRing['called']>): void {
    if (this.#isOn) super.called(...ended);
  }

  override served(...ended: Parameters<SpanRing['served']>): void {
    if (this.#isOn) super.served(...ended);
  }

  /** A request was answered. */
  answered(): void {
    if (++this.#answered % ANSWERS !== 0) return;
    const passedMs = performance.now() - this.#startMs;
    if (passedMs < this.#sliceMs) return;
    const perSecond = (this.#answered * 1000) / passedMs;
    this.#told({ isRecorded: this.#isOn, perSecond });
    this.#begin(!this.#isOn);
  }

  #begin(isOn: boolean): void {
    this.#isOn = isOn;
    this.#startMs = performance.now();
    this.#answered = 0;
  }
}
