// Segments: the journals of datasets and deliveries, one for every five days. A journal is appended to alone, so what is too old
// goes with its whole segment, and the disk gets its bytes back.
//
// Invariants
// G1  Datasets are reported to the newest segment, also when the clock was set back: the sequence numbers of a dataset have one order.
// G2  A segment is opened once. It is removed when the last of its deliveries has left the log.
// G3  Nothing is removed by a clock that cannot be trusted: the wall clock and the monotonic one have to agree for an hour before.
import type { Service } from '@svc/host';
import type { Clock } from '@svc/kit/clock';
import type { Log } from '@svc/kit/log';
import { SvcError } from '@svc/kit/svc-error';
import { RUN_ENDS_MS } from '../model/attempt-schedule.ts';
import { SEGMENT_MS, segmentOf } from '../model/ids.ts';

export interface Segment {
  /** Number of five days since 1970. */
  readonly number: number;
  readonly service: Service;
}

/** Where segments are stored. */
export interface SegmentStore {
  /** Returns the numbers of the segments that there are. */
  list(): Promise<readonly number[]>;
  /** Opens a segment, or makes it. */
  open(number: number): Promise<Service>;
  /** Removes a segment that is not open. A removal that was cut off is finished by `list` at the latest. */
  remove(number: number): Promise<void>;
}

export interface SegmentsOptions {
  readonly store: SegmentStore;
  readonly clock: Clock;
  readonly log: Log;
}

const HOUR_MS = 3_600_000;
/** By how much the two clocks may differ in an hour. */
const DRIFT_MAX_MS = 60_000;

export class Segments {
  readonly #options: SegmentsOptions;
  readonly #open = new Map<number, Promise<Segment>>();
  /** Those that are open, the newest first. */
  #newestFirst: readonly Segment[] = [];
  /** Those that are removed, or could not be yet. */
  readonly #expired = new Map<number, Segment>();
  readonly #failure = Promise.withResolvers<SvcError>();
  #cancelSweep = () => {};
  #isStopping = false;

  constructor(options: SegmentsOptions) {
    this.#options = options;
  }

  /** Opens the segments that there are. Rejects as `createService` does. */
  async start(): Promise<void> {
    const { store, clock, log } = this.#options;
    const numbers = await store.list();
    const now = segmentOf(clock.nowMs());
    const ahead = numbers.filter((number) => number > now);
    if (ahead.length > 0)
      log({
        level: 'warn',
        message:
          'the clock is behind deliveries that are stored: what is reported joins them, and is kept until they are removed',
        fields: { segments: ahead.join(', '), now },
      });
    const opened = await Promise.allSettled(numbers.map((number) => this.#opened(number)));
    const failed = opened.find(({ status }) => status === 'rejected');
    if (failed !== undefined) {
      await this.stop(0);
      throw (failed as PromiseRejectedResult).reason;
    }
    this.#sweepLater();
  }

  /** Resolves when a journal cannot be written any more, and the program should end. */
  get failure(): Promise<SvcError> {
    return this.#failure.promise;
  }

  get newestFirst(): readonly Segment[] {
    return this.#newestFirst;
  }

  /** Returns a segment that is open; undefined: it was removed, or has never been there. */
  find(number: number): Segment | undefined {
    return this.#newestFirst.find((segment) => segment.number === number);
  }

  /** Resolves with a segment once it is open, for what happens meanwhile; with undefined as `find` does. */
  async opening(number: number): Promise<Segment | undefined> {
    return await this.#open.get(number)?.catch(() => undefined);
  }

  /** Returns the segment of what happens at a time, in milliseconds since 1970. Rejects as `createService` does. */
  async at(timeMs: number): Promise<Segment> {
    const [newest] = this.#newestFirst;
    const number = segmentOf(timeMs);
    return newest !== undefined && newest.number >= number ? newest : await this.#opened(number);
  }

  async stop(graceMs?: number): Promise<void> {
    this.#isStopping = true;
    this.#cancelSweep();
    // One that could not be opened is not there.
    await Promise.allSettled(this.#open.values());
    await Promise.all(this.#newestFirst.map(({ service }) => service.stop(graceMs)));
  }

  /** Removes the segments whose deliveries have all left the log. */
  async removeExpired(): Promise<void> {
    const nowMs = this.#options.clock.nowMs();
    for (const segment of this.#newestFirst) {
      const { number } = segment;
      if (nowMs < (number + 1) * SEGMENT_MS + RUN_ENDS_MS) continue;
      this.#open.delete(number);
      this.#newestFirst = this.#newestFirst.filter((each) => each.number !== number);
      this.#expired.set(number, segment);
    }
    // oxlint-disable-next-line no-await-in-loop -- one at a time is soon enough
    for (const segment of this.#expired.values()) await this.#remove(segment);
  }

  /** A segment that cannot be removed leaves the others alone. */
  async #remove({ number, service }: Segment): Promise<void> {
    const { store, log } = this.#options;
    const fields = { segment: number };
    try {
      await service.stop();
      await store.remove(number);
      this.#expired.delete(number);
      log({ level: 'info', message: 'deliveries were removed', fields });
    } catch (error) {
      log({
        level: 'error',
        message: 'old deliveries cannot be removed; it is tried again in an hour',
        fields: { ...fields, error: String(error) },
      });
    }
  }

  #opened(number: number): Promise<Segment> {
    if (this.#isStopping)
      return Promise.reject(new SvcError('SVC_STOPPING', 'The webhook service is stopping.'));
    const known = this.#open.get(number);
    if (known !== undefined) return known;
    const opening = this.#openedAnew(number);
    this.#open.set(number, opening);
    // The next one who wants it tries again.
    opening.catch(() => this.#open.delete(number));
    return opening;
  }

  async #openedAnew(number: number): Promise<Segment> {
    const service = await this.#options.store.open(number);
    const segment = { number, service };
    void service.failure.then((error) => this.#failure.resolve(error));
    this.#newestFirst = [...this.#newestFirst, segment].toSorted((a, b) => b.number - a.number);
    return segment;
  }

  #sweepLater(): void {
    const { clock } = this.#options;
    const [sinceMs, sinceMonotonicMs] = [clock.nowMs(), clock.monotonicMs()];
    this.#cancelSweep = clock.after(HOUR_MS, () => {
      const passedMs = clock.nowMs() - sinceMs;
      const driftMs = Math.abs(passedMs - (clock.monotonicMs() - sinceMonotonicMs));
      const swept = driftMs > DRIFT_MAX_MS ? Promise.resolve() : this.removeExpired();
      void swept.finally(() => {
        if (!this.#isStopping) this.#sweepLater();
      });
    });
  }
}
