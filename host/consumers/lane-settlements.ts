// LaneSettlements writes how far a consumer is: the position up to which all its events are settled, and the lanes that have changed.
//
// Invariants
// - One settlement is written at a time, at most one in `settleMs`.
// - After a settlement that has failed no other one is written until the stored lanes were read: it may be stored all the same, and an
//   operator may have changed a lane since.
import type { ConsumerWriter, StoredConsumer } from '../engine/needs/consumers.ts';
import type { Position } from '../engine/needs/feed.ts';
import type { MonotonicClock } from '../engine/needs/clock.ts';
import type { ConsumerSettings } from './consumer-settings.ts';
import type { Lanes } from './lanes.ts';

/** Pause after a failure, in milliseconds. */
const FAILED_MS = 1_000;

export interface LaneSettlementsNeeds {
  readonly consumer: Pick<StoredConsumer, 'id' | 'start'>;
  readonly writer: ConsumerWriter;
  readonly clock: MonotonicClock;
  readonly settings: Pick<ConsumerSettings, 'settleMs'>;
  readonly onFailure: (error: unknown) => void;
}

export class LaneSettlements {
  readonly #needs: LaneSettlementsNeeds;
  readonly #lanes: Lanes;
  /** The position that was stored last. */
  #stored: Position;
  /** When the next settlement may be written, by the monotonic clock. */
  #nextMs = -Infinity;
  /** The settlement that is being written. */
  #writing: Promise<void> | undefined;
  #isUnsure = false;
  /** Those who wait for the next settlement. */
  readonly #waiting: PromiseWithResolvers<void>[] = [];

  /** `stored`: the position that is stored. */
  constructor(needs: LaneSettlementsNeeds, lanes: Lanes, stored: Position) {
    this.#needs = needs;
    this.#lanes = lanes;
    this.#stored = stored;
  }

  /** Whether the lanes have to be read before the next settlement. */
  get isUnsure(): boolean {
    return this.#isUnsure;
  }

  get isWriting(): boolean {
    return this.#writing !== undefined;
  }

  /** When the next settlement may be written, by the monotonic clock. */
  get nextMs(): number {
    return this.#nextMs;
  }

  /** Stores where a new consumer begins. Rejects as the writer does. */
  async begin(position: Position): Promise<void> {
    const { consumer, writer, clock, settings } = this.#needs;
    await writer.settleConsumer(consumer, { position, lanes: [], rejoined: [] });
    this.#nextMs = clock.monotonicMs() + settings.settleMs;
  }

  /** Notes the position that is stored. */
  isAt(position: Position): void {
    this.#stored = position;
  }

  /** Lets `read` read the stored lanes, after all settlements. Rejects as `read` and the writer do. */
  async confirm(read: () => Promise<void>): Promise<void> {
    const { consumer, writer } = this.#needs;
    if (this.#isUnsure) await writer.concluded?.(consumer.id);
    await read();
    this.#isUnsure = false;
  }

  /** Whether there is something to store. `position`: the one up to which all events are settled now. */
  areDue(position: Position): boolean {
    return this.#lanes.hasChanged || position !== this.#stored;
  }

  /** Resolves with the next settlement. Rejects with SvcError if it cannot be written. */
  next(): Promise<void> {
    const waiting = Promise.withResolvers<void>();
    this.#waiting.push(waiting);
    return waiting.promise;
  }

  /** Rejects what `next` has returned. */
  reject(error: unknown): void {
    for (const { reject } of this.#waiting.splice(0)) reject(error);
  }

  /** Resolves when nothing is being written. */
  async finished(): Promise<void> {
    await this.#writing;
  }

  /** Writes the position and the changed lanes. Never rejects. */
  write(position: Position): Promise<void> {
    const { consumer, writer, clock, settings, onFailure } = this.#needs;
    const changed = this.#lanes.takeChanged();
    const rows = [...changed.values()].map((lane) => ({ entity: lane.entity, row: lane.row() }));
    const lanes = rows.flatMap(({ row }) => row ?? []);
    const rejoined = rows.flatMap(({ entity, row }) => (row === undefined ? [entity] : []));
    this.#nextMs = clock.monotonicMs() + settings.settleMs;
    const waiting = this.#waiting.splice(0);
    this.#writing = writer.settleConsumer(consumer, { position, lanes, rejoined }).then(
      () => {
        this.#stored = position;
        this.#lanes.written(changed);
        this.#writing = undefined;
        for (const { resolve } of waiting) resolve();
      },
      (error: unknown) => {
        for (const { reject } of waiting) reject(error);
        this.#lanes.restoreChanged(changed);
        this.#isUnsure = true;
        this.#nextMs = clock.monotonicMs() + FAILED_MS;
        this.#writing = undefined;
        onFailure(error);
      },
    );
    return this.#writing;
  }
}
