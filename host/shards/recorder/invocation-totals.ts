// InvocationTotals counts all invocations since the process started by kind and outcome, their durations and their
// fuel. Unlike the counts of the span window these only grow, so rates can be computed from them. They are in shared
// memory, so they outlive the thread that counts.
import type { InvocationKind } from '@svc/contract';
import {
  type HistogramCounts,
  SECONDS_BOUNDS,
  SharedHistogram,
  summedHistograms,
} from '@svc/model/shared-histogram';
import { SPAN_OUTCOMES, type SpanOutcome } from '@svc/model/span-outcome';

/** Indexed by the number of the kind. */
export const INVOCATION_KINDS: readonly InvocationKind[] = [
  'endpoint',
  'command',
  'query',
  'firing',
  'consumer',
];
const OUTCOMES = SPAN_OUTCOMES.length;
/** Columns of a row: the counts by outcome, then the fuel. */
const ROW = OUTCOMES + 1;
const MS_PER_S = 1_000;

export interface SharedTotals {
  readonly numbers: SharedArrayBuffer;
  readonly seconds: readonly SharedArrayBuffer[];
}

export interface KindTotals {
  readonly kind: InvocationKind;
  /** Counts by outcome, in the order of SPAN_OUTCOMES. */
  readonly counts: readonly number[];
  readonly fuel: number;
  readonly seconds: HistogramCounts;
}

export class InvocationTotals {
  readonly #numbers: Float64Array;
  readonly #seconds: readonly SharedHistogram[];

  /** `shared`: the memory of another thread's totals; absent: new memory. */
  constructor(shared?: SharedTotals) {
    this.#numbers = new Float64Array(
      shared?.numbers ??
        new SharedArrayBuffer(INVOCATION_KINDS.length * ROW * Float64Array.BYTES_PER_ELEMENT),
    );
    this.#seconds = INVOCATION_KINDS.map(
      (_, kind) => new SharedHistogram(SECONDS_BOUNDS, shared?.seconds[kind]),
    );
  }

  /** The memory, for another thread. */
  get shared(): SharedTotals {
    return {
      numbers: this.#numbers.buffer as SharedArrayBuffer,
      seconds: this.#seconds.map(({ shared }) => shared),
    };
  }

  /** Counts an invocation. `kind`: index in INVOCATION_KINDS. */
  add(kind: number, outcome: SpanOutcome, durationMs: number, fuel: number): void {
    const at = kind * ROW;
    this.#numbers[at + outcome]! += 1;
    this.#numbers[at + OUTCOMES]! += fuel;
    this.#seconds[kind]!.add(durationMs / MS_PER_S);
  }

  /** Returns the totals, a row for each of INVOCATION_KINDS. */
  read(): KindTotals[] {
    return INVOCATION_KINDS.map((kind, index) => {
      const at = index * ROW;
      return {
        kind,
        counts: [...this.#numbers.subarray(at, at + OUTCOMES)],
        fuel: this.#numbers[at + OUTCOMES]!,
        seconds: this.#seconds[index]!.read(),
      };
    });
  }
}

/** Returns the sums over all shards. */
export function summedTotals(all: readonly InvocationTotals[]): KindTotals[] {
  const read = all.map((totals) => totals.read());
  return INVOCATION_KINDS.map((kind, index) => {
    const rows = read.map((rowsOfOne) => rowsOfOne[index]!);
    return {
      kind,
      counts: SPAN_OUTCOMES.map((_, at) => rows.reduce((sum, row) => sum + row.counts[at]!, 0)),
      fuel: rows.reduce((sum, row) => sum + row.fuel, 0),
      seconds: summedHistograms(
        SECONDS_BOUNDS,
        rows.map(({ seconds }) => seconds),
      ),
    };
  });
}
