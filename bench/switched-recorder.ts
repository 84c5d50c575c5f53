// SwitchedRecorder: a shard's recorder that is switched off in every second turn, so that a comparison runs in one
// thread: two threads differ by more than the cost of recording, because each has its own machine code. The HTTP
// counters by route and status are never switched off.
import { SpanRing } from '../host/shards/recorder/span-ring.ts';

/** A turn and its requests per second. */
export interface Slice {
  readonly isRecorded: boolean;
  readonly perSecond: number;
}

/** Number of answers between two checks of the time. */
const ANSWERS_PER_CHECK = 64;

export class SwitchedRecorder extends SpanRing {
  #isOn = true;
  #sliceMs = Infinity;
  #report: (slice: Slice) => void = () => {};
  #startMs = 0;
  #answered = 0;

  /** Starts turns of at least this many milliseconds, the first with the recorder. `report`: called after each turn. */
  takeTurns(sliceMs: number, report: (slice: Slice) => void): void {
    this.#sliceMs = sliceMs;
    this.#report = report;
    this.#begin(true);
  }

  /** Ends the turns; everything is recorded again. */
  stay(): void {
    this.#sliceMs = Infinity;
    this.#begin(true);
  }

  /** Returns 0 while the recorder is off, because reading the time is a part of the cost of recording. */
  override nowMs(): number {
    return this.#isOn ? super.nowMs() : 0;
  }

  override called(...ended: Parameters<SpanRing['called']>): void {
    if (this.#isOn) super.called(...ended);
  }

  override served(...ended: Parameters<SpanRing['served']>): void {
    if (this.#isOn) super.served(...ended);
  }

  /** Counts an answered request. */
  answered(): void {
    if (++this.#answered % ANSWERS_PER_CHECK !== 0) return;
    const passedMs = performance.now() - this.#startMs;
    if (passedMs < this.#sliceMs) return;
    const perSecond = (this.#answered * 1000) / passedMs;
    this.#report({ isRecorded: this.#isOn, perSecond });
    this.#begin(!this.#isOn);
  }

  #begin(isOn: boolean): void {
    this.#isOn = isOn;
    this.#startMs = performance.now();
    this.#answered = 0;
  }
}
