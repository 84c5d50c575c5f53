// BlockCoverage: which blocks of the host's code a run has reached, and how often, as V8 counts them. Knows
// what was reached before, so that an input which reaches more can be told from one that does not.
import { type Profiler, Session } from 'node:inspector';

export class BlockCoverage {
  readonly #session = new Session();
  readonly #of: string;
  readonly #seen = new Set<string>();

  /** `of`: a part of the path of the files that count. */
  constructor(of: string) {
    this.#of = of;
    this.#session.connect();
    this.#post('Profiler.enable');
    this.#post('Profiler.startPreciseCoverage', { callCount: true, detailed: true });
  }

  get size(): number {
    return this.#seen.size;
  }

  /** How much was reached since it was asked last that never was before. */
  takeNew(): number {
    const before = this.#seen.size;
    const { result } = this.#post(
      'Profiler.takePreciseCoverage',
    ) as Profiler.TakePreciseCoverageReturnType;
    for (const { url, functions } of result)
      if (url.includes(this.#of))
        for (const { ranges } of functions)
          for (const { startOffset, endOffset, count } of ranges)
            this.#seen.add(`${url}:${startOffset}-${endOffset}:${magnitude(count)}`);
    return this.#seen.size - before;
  }

  close(): void {
    this.#session.disconnect();
  }

  /** The inspector of one's own thread answers before it returns. */
  #post(method: string, parameters: object = {}): unknown {
    let answer: unknown;
    let failure: Error | null = null;
    this.#session.post(method, parameters, (error, result) => {
      failure = error;
      answer = result;
    });
    if (failure !== null) throw failure as Error;
    return answer;
  }
}

/** 0, 1, 2, 3, then by powers of two: a loop that turns 40 times is the same as one that turns 50 times. */
function magnitude(count: number): number {
  return count < 4 ? count : Math.floor(Math.log2(count)) + 2;
}
