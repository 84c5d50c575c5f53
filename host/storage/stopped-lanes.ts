// StoppedLanes are the lanes of a journal that has one user, who changes them.
import type { EntityRef } from '@svc/model/entity';
import {
  type ConsumerWriter,
  RETRIED_AT_ONCE_MAX,
  type StoredConsumer,
  type StoredLane,
} from '../engine/needs/consumers.ts';
import { systemClock } from '../system.ts';
import type { LaneAdministration } from './lane-administration.ts';
import { retriedLane, type SkippedEvent, skippedLane, unknownConsumer } from './lane-changes.ts';
import type { ConsumerInspection } from './work-inspection.ts';

/** A lane of which nobody knows at which event it is parked. */
const DAMAGED = {
  seq: 0,
  attempts: 0,
  round: 0,
  nextMs: undefined,
  reason: undefined,
  isDamaged: true,
} as const;

export class StoppedLanes implements LaneAdministration {
  readonly #inspection: ConsumerInspection;
  readonly #writer: ConsumerWriter;

  constructor(inspection: ConsumerInspection, writer: ConsumerWriter) {
    this.#inspection = inspection;
    this.#writer = writer;
  }

  retryLane(consumer: string, entity: EntityRef): Promise<boolean> {
    return this.#change(consumer, entity);
  }

  async retryLanes(consumer: string): Promise<boolean> {
    const stored = await this.#stored(consumer);
    const lanes: StoredLane[] = [];
    for await (const lane of this.#inspection.parked(consumer))
      if (lanes.push(lane) === RETRIED_AT_ONCE_MAX) break;
    const nextMs = systemClock.nowMs();
    return this.#store(
      stored,
      lanes.flatMap((lane) => retriedLane(consumer, lane, nextMs) ?? []),
    );
  }

  skipInLane(consumer: string, entity: EntityRef, seq: number, reason: string): Promise<boolean> {
    return this.#change(consumer, entity, { seq, reason });
  }

  async #change(consumer: string, entity: EntityRef, skipped?: SkippedEvent): Promise<boolean> {
    const stored = await this.#stored(consumer);
    const { lanes, damaged } = await this.#inspection.lanes(consumer, { entity }, 0, 1);
    const nextMs = systemClock.nowMs();
    const [lane = damaged.length > 0 ? { ...DAMAGED, entity } : undefined] = lanes;
    if (lane === undefined) return false;
    const next =
      skipped === undefined
        ? retriedLane(consumer, lane, nextMs)
        : skippedLane(lane, skipped, nextMs);
    return this.#store(stored, next === undefined ? [] : [next]);
  }

  async #store(
    { id, start, position }: StoredConsumer,
    lanes: readonly StoredLane[],
  ): Promise<boolean> {
    if (lanes.length === 0) return false;
    await this.#writer.settleConsumer({ id, start }, { position, lanes, rejoined: [] });
    return true;
  }

  /** Rejects with SVC_NOT_IN_JOURNAL. */
  async #stored(consumer: string): Promise<StoredConsumer> {
    const stored = await this.#inspection.stored(consumer);
    if (stored === undefined) throw unknownConsumer(consumer);
    return stored;
  }
}
