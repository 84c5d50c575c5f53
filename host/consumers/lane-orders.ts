// LaneOrders carry out what operators ask of the lanes of a consumer: to deliver parked events again, or to go on without them.
// An operator may also change the stored row of a parked lane, in a journal that several processes write; `renew` follows that.
//
// Invariant: the row of a parked lane is written by nobody but operators, so that a row that is not parked any more is their doing.
import type { EntityRef } from '@svc/model/entity';
import type { ConsumerReader, StoredLane } from '../engine/needs/consumers.ts';
import { laneDamaged } from '../engine/needs/lane-damaged.ts';
import type { Lane } from './lane.ts';
import type { LaneRun, LaneRunDependencies } from './lane-run.ts';
import type { Lanes } from './lanes.ts';
import { isSkippedBefore, storedLanes } from './stored-lanes.ts';

export interface LaneOrdersNeeds {
  readonly consumer: { readonly id: string };
  readonly reader: ConsumerReader;
  /** Receives each event that an operator has skipped, now or before the start, and why. */
  readonly onOperatorSkip: LaneRunDependencies['onSkip'];
  readonly sleeper: { interrupt(): void };
}

export class LaneOrders {
  readonly #needs: LaneOrdersNeeds;
  readonly #lanes: Lanes;
  readonly #laneRun: LaneRun;

  constructor(needs: LaneOrdersNeeds, lanes: Lanes, laneRun: LaneRun) {
    this.#needs = needs;
    this.#lanes = lanes;
    this.#laneRun = laneRun;
  }

  /** Delivers the event again at which a lane is parked. Returns whether it was. Throws SVC_JOURNAL_CORRUPT for a damaged lane. */
  retry(entity: EntityRef): boolean {
    const lane = this.#lanes.get(entity);
    if (lane?.isParked !== true) return false;
    if (lane.isDamaged) throw laneDamaged(this.#needs.consumer.id, entity);
    this.#unpark(lane, lane.wait!.round);
    return true;
  }

  /** Does what `retry` does for the lanes that have been parked for the longest time, at most `limit`. Returns whether there were any. */
  retryFirst(limit: number): boolean {
    const lanes = this.#lanes.firstParked(limit);
    for (const lane of lanes) this.#unpark(lane, lane.wait!.round);
    return lanes.length > 0;
  }

  /**
   * Settles the event `seq` without handling it, if a lane is parked there; and those that follow it, if the consumer no longer
   * handles them. Returns whether the lane was parked there.
   */
  skip(entity: EntityRef, seq: number, reason: string): boolean {
    const lane = this.#lanes.get(entity);
    if (lane?.isParkedAt(seq) !== true) return false;
    this.#needs.onOperatorSkip(entity, seq, reason);
    lane.firstSeq = seq + 1;
    this.#unpark(lane);
    this.#laneRun.endUnhandled(lane);
    return true;
  }

  /** Notes the skip that a lane names which was just read, so that the log has it. */
  noteSkipped(stored: StoredLane): void {
    if (!isSkippedBefore(stored)) return;
    const { entity, seq, reason, ...wait } = stored;
    this.#needs.onOperatorSkip(entity, seq - 1, reason!);
    const lane = this.#lanes.get(entity)!;
    this.#lanes.setWait(lane, { ...wait, reason: undefined });
    this.#laneRun.endUnhandled(lane);
  }

  /**
   * Reads the lanes, and lets those run that are parked here and no more in the journal. A lane that was parked since its row was
   * written stays parked. Rejects as the reader does. No settlement may be under way.
   */
  async renew(): Promise<void> {
    const { consumer, reader } = this.#needs;
    if (this.#lanes.parked === 0) return;
    for (const stored of await storedLanes(reader, consumer.id)) {
      const lane = this.#lanes.get(stored.entity);
      if (isSkippedBefore(stored)) this.skip(stored.entity, stored.seq - 1, stored.reason!);
      else if (lane?.isParkedBy(stored) !== true) continue;
      else if (stored.nextMs === undefined) this.#lanes.noteWritten(lane);
      else if (stored.attempts === 0 && !lane.isDamaged) this.#unpark(lane, stored.round);
    }
  }

  #unpark(lane: Lane, round = 0): void {
    this.#lanes.setWait(lane, this.#laneRun.waitingNow(round));
    this.#lanes.unpark(lane);
    this.#needs.sleeper.interrupt();
  }
}
