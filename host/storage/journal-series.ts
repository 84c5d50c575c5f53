// JournalSeries: what the journal's writer counts in memory that it shares with the thread that opened the journal: how
// long appends take, how many are stored together, and how much there is. It asks nothing of the writer to be read.
import {
  COUNT_BOUNDS,
  type HistogramCounts,
  SECONDS_BOUNDS,
  SharedHistogram,
} from '../model/shared-histogram.ts';
import { SharedSeries } from '../model/shared-series.ts';

const NUMBERS = ['records', 'bytes'] as const;
const MS_PER_S = 1_000;

/** What the two threads share. */
export interface SharedJournalSeries {
  readonly appendSeconds: SharedArrayBuffer;
  readonly groupSize: SharedArrayBuffer;
  readonly numbers: SharedArrayBuffer;
}

export class JournalSeries {
  readonly #appendSeconds: SharedHistogram;
  readonly #groupSize: SharedHistogram;
  readonly #numbers: SharedSeries<(typeof NUMBERS)[number]>;

  /** `shared`: what the other thread's was made with. */
  constructor(shared?: SharedJournalSeries) {
    this.#appendSeconds = new SharedHistogram(SECONDS_BOUNDS, shared?.appendSeconds);
    this.#groupSize = new SharedHistogram(COUNT_BOUNDS, shared?.groupSize);
    this.#numbers = new SharedSeries(NUMBERS, shared?.numbers);
  }

  /** For the other thread. */
  get shared(): SharedJournalSeries {
    return {
      appendSeconds: this.#appendSeconds.shared,
      groupSize: this.#groupSize.shared,
      numbers: this.#numbers.shared,
    };
  }

  /** A group of appends is on disk, or was refused. */
  stored(appends: number, records: number, tookMs: number): void {
    this.#appendSeconds.add(tookMs / MS_PER_S);
    this.#groupSize.add(appends);
    this.#numbers.add('records', records);
  }

  measured(bytes: number): void {
    this.#numbers.set('bytes', bytes);
  }

  read(): {
    readonly appendSeconds: HistogramCounts;
    readonly groupSize: HistogramCounts;
    /** Stored since the process started. */
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
