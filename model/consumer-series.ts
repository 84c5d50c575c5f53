// ConsumerSeries: the metrics of one consumer, in memory that the thread which delivers events shares with the main thread.
import { SharedSeries } from './shared-series.ts';

const NUMBERS = ['lag-records', 'retrying', 'parked', 'stalled'] as const;

export interface ConsumerCounts {
  /** Records of the journal after the position up to which all events are settled or wait in a lane. */
  readonly lagRecords: number;
  /** Entities with an event that is tried again. */
  readonly retrying: number;
  /** Entities with an event that is parked. */
  readonly parked: number;
  /** Whether the consumer has stopped, because too many entities are parked. */
  readonly isStalled: boolean;
}

/** Memory of a consumer's counts, by the consumer's id. */
export type SharedConsumers = Readonly<Record<string, SharedArrayBuffer>>;

export class ConsumerSeries {
  readonly #numbers: SharedSeries<(typeof NUMBERS)[number]>;

  /** `shared`: memory of the other thread's ConsumerSeries; without it, new memory is allocated. */
  constructor(shared?: SharedArrayBuffer) {
    this.#numbers = new SharedSeries(NUMBERS, shared);
  }

  /** Memory to create the other thread's ConsumerSeries with. */
  get shared(): SharedArrayBuffer {
    return this.#numbers.shared;
  }

  counted({ lagRecords, retrying, parked, isStalled }: ConsumerCounts): void {
    this.#numbers.set('lag-records', lagRecords);
    this.#numbers.set('retrying', retrying);
    this.#numbers.set('parked', parked);
    this.#numbers.set('stalled', Number(isStalled));
  }

  /** Returns the counts as they were taken last. */
  read(): ConsumerCounts {
    return {
      lagRecords: this.#numbers.get('lag-records'),
      retrying: this.#numbers.get('retrying'),
      parked: this.#numbers.get('parked'),
      isStalled: this.#numbers.get('stalled') === 1,
    };
  }
}
