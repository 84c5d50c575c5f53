// HttpNumbers: of a shard's HTTP server, how many requests of each route were answered with which status, and how long
// that took from the arrival of their headers. In shared memory, whose size is the module's: statuses that have no place
// of their own share one.
import {
  SECONDS_BOUNDS,
  SharedHistogram,
  type HistogramCounts,
} from '../../model/shared-histogram.ts';

/** Those that the runtime answers, and those that modules commonly do. */
const STATUSES: readonly number[] = [
  200, 201, 202, 203, 204, 205, 206, 301, 302, 303, 304, 307, 308, 400, 401, 402, 403, 404, 405,
  406, 408, 409, 410, 411, 412, 413, 414, 415, 417, 422, 423, 425, 426, 428, 429, 431, 451, 500,
  501, 502, 503, 504,
];
const OTHER = STATUSES.length;
const ROW = STATUSES.length + 1;
const STATUS_MAX = 599;
const MS_PER_S = 1_000;
/** By status, where it is counted in a row. */
const PLACES = Uint8Array.from({ length: STATUS_MAX + 1 }, (_, status) => {
  const at = STATUSES.indexOf(status);
  return at === -1 ? OTHER : at;
});

export interface SharedHttpNumbers {
  readonly answers: SharedArrayBuffer;
  readonly seconds: SharedArrayBuffer;
}

export interface AnswerCount {
  /** Its index; -1: there was no such route. */
  readonly route: number;
  /** '200', or 'other'. */
  readonly status: string;
  readonly count: number;
}

export interface RouteLabels {
  readonly method: string;
  /** The whole template. */
  readonly route: string;
}

export class HttpNumbers {
  readonly #answers: Float64Array;
  readonly #seconds: SharedHistogram;

  /** `routes`: how many the module has. `shared`: what the other thread's was made with. */
  constructor(routes: number, shared?: Partial<SharedHttpNumbers>) {
    this.#answers = new Float64Array(
      shared?.answers ?? new SharedArrayBuffer((routes + 1) * ROW * Float64Array.BYTES_PER_ELEMENT),
    );
    this.#seconds = new SharedHistogram(SECONDS_BOUNDS, shared?.seconds);
  }

  /** For the other thread. */
  get shared(): SharedHttpNumbers {
    return { answers: this.#answers.buffer as SharedArrayBuffer, seconds: this.#seconds.shared };
  }

  /** `route`: its index; -1: none. */
  answered(route: number, status: number, durationMs: number): void {
    this.#answers[(route + 1) * ROW + (PLACES[status] ?? OTHER)]! += 1;
    this.#seconds.add(durationMs / MS_PER_S);
  }

  /** Those that were answered at all. */
  answers(): AnswerCount[] {
    const found: AnswerCount[] = [];
    for (let at = 0; at < this.#answers.length; at++) {
      const count = this.#answers[at]!;
      if (count === 0) continue;
      const status = STATUSES[at % ROW]?.toString() ?? 'other';
      found.push({ route: Math.floor(at / ROW) - 1, status, count });
    }
    return found;
  }

  get seconds(): HistogramCounts {
    return this.#seconds.read();
  }
}
