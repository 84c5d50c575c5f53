// SwitchedRecorder: a shard's recorder that is taken away and given back in turns, so that one thread shows what it
// costs: two of them differ by more, each with machine code of its own. What HTTP counts by route and status goes on.
import type { EndedCall, EndedRequest, Recorder } from '../host/engine/needs/recorder.ts';
import type { HttpCounts } from '../host/http/exchange.ts';
import type { SpanOutcome } from '../host/model/span-outcome.ts';

/** Of a turn: requests per second. */
export interface Slice {
  readonly isRecorded: boolean;
  readonly perSecond: number;
}

/** Answers between two looks at the clock. */
const ANSWERS = 64;

export class SwitchedRecorder implements Recorder, HttpCounts {
  readonly #recorder: Recorder;
  readonly #counts: HttpCounts;
  #isOn = true;
  #sliceMs = Infinity;
  #told: (slice: Slice) => void = () => {};
  #startMs = 0;
  #answered = 0;

  constructor(recorder: Recorder, counts: HttpCounts) {
    this.#recorder = recorder;
    this.#counts = counts;
  }

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

  nowMs(): number {
    return this.#isOn ? this.#recorder.nowMs() : 0;
  }

  beginMs(): number {
    return this.#isOn ? this.#recorder.beginMs() : 0;
  }

  latestMs(): number {
    return this.#isOn ? this.#recorder.latestMs() : 0;
  }

  called(call: EndedCall, endMs: number, outcome: SpanOutcome, failure: unknown): void {
    if (this.#isOn) this.#recorder.called(call, endMs, outcome, failure);
  }

  served(request: EndedRequest, endMs: number, outcome: SpanOutcome, failure: unknown): void {
    if (this.#isOn) this.#recorder.served(request, endMs, outcome, failure);
  }

  answered(route: number, status: number, durationMs: number): void {
    this.#counts.answered(route, status, durationMs);
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
