// JournalSeries: the journal's metrics, in memory that the writer thread shares with the thread that opened the
// journal: how long groups of appends take, how many appends a group has, how many records were stored, and how large
// the journal is. Reading the metrics does not involve the writer.
import {
  COUNT_BOUNDS,
  type HistogramCounts,
  SECONDS_BOUNDS,
  SharedHistogram,
} from '@svc/model/shared-histogram';
import { SharedSeries } from '@svc/model/shared-series';

const NUMBERS = ['records', 'bytes'] as const;
const MS_PER_S = 1_000;

/** Memory that the two threads share. */
export interface SharedJournalSeries {
  readonly appendSeconds: SharedArrayBuffer;
  readonly groupSize: SharedArrayBuffer;
  readonly numbers: SharedArrayBuffer;
}

export class JournalSeries {
  readonly #appendSeconds: SharedHistogram;
  readonly #groupSize: SharedHistogram;
  readonly #numbers: SharedSeries<(typeof NUMBERS)[number]>;

  /** `shared`: memory of the other thread's JournalSeries; without it, new memory is allocated. */
  constructor(shared?: SharedJournalSeries) {
    this.#appendSeconds = new SharedHistogram(SECONDS_BOUNDS, shared?.appendSeconds);
    this.#groupSize = new SharedHistogram(COUNT_BOUNDS, shared?.groupSize);
    this.#numbers = new SharedSeries(NUMBERS, shared?.numbers);
  }

  /** Memory to create the other thread's JournalSeries with. */
  get shared(): SharedJournalSeries {
    return {
      appendSeconds: this.#appendSeconds.shared,
      groupSize: this.#groupSize.shared,
      numbers: this.#numbers.shared,
    };
  }

  /** Counts a group of appends after it was stored or refused. `tookMs`: its duration in milliseconds. */
  stored(appends: number, records: number, tookMs: number): void {
    this.#appendSeconds.add(tookMs / MS_PER_S);
    this.#groupSize.add(appends);
    this.#numbers.add('records', records);
  }

  /** Sets the current size of the journal in bytes. */
  measured(bytes: number): void {
    this.#numbers.set('bytes', bytes);
  }

  /** Returns the current metrics. */
  read(): {
    readonly appendSeconds: HistogramCounts;
    readonly groupSize: HistogramCounts;
    /** Number of records stored since the process started. */
    readonly events: number;
    readonly bytes: number;
  } {
    return {
      appendSeconds: this.#appendSeconds.read(),
      groupSize: this.#groupSize.read(),
      events: this.#numbers.get('records'),
      bytes: this.#numbers.get('bytes'),
    };
  }
}
