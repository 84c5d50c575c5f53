// HttpNumbers counts the responses of a shard's HTTP server by route and status, and their durations from the arrival
// of the request's headers. The counts are in shared memory, whose size depends on the number of the module's routes;
// statuses without a column of their own share one.
import { SECONDS_BOUNDS, SharedHistogram, type HistogramCounts } from '@svc/model/shared-histogram';

/** Statuses that have a column: those of the runtime, and common ones of modules. */
const STATUSES: readonly number[] = [
  200, 201, 202, 203, 204, 205, 206, 301, 302, 303, 304, 307, 308, 400, 401, 402, 403, 404, 405,
  406, 408, 409, 410, 411, 412, 413, 414, 415, 417, 422, 423, 425, 426, 428, 429, 431, 451, 500,
  501, 502, 503, 504,
];
/** Column of all other statuses. */
const OTHER = STATUSES.length;
/** Number of columns of a row. */
const ROW = STATUSES.length + 1;
const STATUS_MAX = 599;
const MS_PER_S = 1_000;
/** Indexed by status: its column in a row. */
const COLUMNS = Uint8Array.from({ length: STATUS_MAX + 1 }, (_, status) => {
  const at = STATUSES.indexOf(status);
  return at === -1 ? OTHER : at;
});

export interface SharedHttpNumbers {
  readonly answers: SharedArrayBuffer;
  readonly seconds: SharedArrayBuffer;
}

export interface AnswerCount {
  /** Index of the route; -1 for requests that match no route. */
  readonly route: number;
  /** The status, such as '200', or 'other'. */
  readonly status: string;
  readonly count: number;
}

export interface RouteLabels {
  readonly method: string;
  /** The whole path template. */
  readonly route: string;
}

export class HttpNumbers {
  readonly #answers: Float64Array;
  readonly #seconds: SharedHistogram;

  /**
   * `routes`: number of the module's routes. `shared`: the memory of another thread's HttpNumbers; absent: new
   * memory.
   */
  constructor(routes: number, shared?: Partial<SharedHttpNumbers>) {
    this.#answers = new Float64Array(
      shared?.answers ?? new SharedArrayBuffer((routes + 1) * ROW * Float64Array.BYTES_PER_ELEMENT),
    );
    this.#seconds = new SharedHistogram(SECONDS_BOUNDS, shared?.seconds);
  }

  /** The memory, for another thread. */
  get shared(): SharedHttpNumbers {
    return { answers: this.#answers.buffer as SharedArrayBuffer, seconds: this.#seconds.shared };
  }

  /** Counts a response. `route`: index of the route, or -1 for none. */
  answered(route: number, status: number, durationMs: number): void {
    this.#answers[(route + 1) * ROW + (COLUMNS[status] ?? OTHER)]! += 1;
    this.#seconds.add(durationMs / MS_PER_S);
  }

  /** Returns the counts that are not 0. */
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
