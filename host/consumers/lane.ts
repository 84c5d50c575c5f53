// Lane: the events of one entity for one consumer, which are handled in order, one at a time. A lane is in one of two modes:
// its events are held in memory as the feed has read them ("following"), or they wait in the journal, and a row of the lane
// is stored ("stored").
import type { StoredLane } from '../engine/needs/consumers.ts';
import type { EntityRef } from '@svc/model/entity';
import type { DeliveredEvent } from './delivery.ts';
import type { ReadPage } from './read-ahead.ts';

export interface HeldEvent {
  readonly event: DeliveredEvent;
  readonly page: ReadPage;
}

export class Lane {
  readonly entity: EntityRef;
  readonly key: string;
  /** Number of the first record of the entity that is not settled. */
  firstSeq: number;
  /** Number of the last record of the entity that the feed has read; undefined: it has read none since the start. */
  passedSeq: number | undefined = undefined;
  /** The events that are not settled, if the lane is following. */
  held: HeldEvent[] = [];
  /** The attempts of the first event that have failed, and what follows, with the reason as in Lanes; undefined: the lane is following. */
  wait: Omit<StoredLane, 'entity' | 'seq'> | undefined = undefined;
  /** When the next attempt may be made, by the monotonic clock. */
  wakeMs = -Infinity;
  /** How often in a row the runtime could not deliver the first event. */
  unavailable = 0;

  constructor(entity: EntityRef, firstSeq: number) {
    this.entity = entity;
    this.key = keyOf(entity);
    this.firstSeq = firstSeq;
  }

  get isStored(): boolean {
    return this.wait !== undefined;
  }

  get isParked(): boolean {
    return this.wait !== undefined && this.wait.nextMs === undefined;
  }

  /** Whether the lane is parked at an event that is not known. */
  get isDamaged(): boolean {
    return this.wait?.isDamaged === true;
  }

  /** Whether the lane is parked at the event `seq`, which is any event if it is not known which. */
  isParkedAt(seq: number): boolean {
    return this.isParked && (this.isDamaged || this.firstSeq === seq);
  }

  /** Whether the feed has read all records that are settled; false also if that is not known. */
  get isPassed(): boolean {
    return this.passedSeq !== undefined && this.passedSeq >= this.firstSeq - 1;
  }

  /**
   * Whether the feed has read no record that is not settled, so that those that follow come from the feed. False if the first
   * of them was tried: its attempts are in the row.
   */
  get isCaughtUp(): boolean {
    return this.passedSeq !== undefined && this.passedSeq < this.firstSeq && !this.#isTried;
  }

  /** Whether an attempt of the first event counts, or has ended by a verdict. */
  get #isTried(): boolean {
    const { attempts = 0, round = 0 } = this.wait ?? {};
    return attempts > 0 || round > 0;
  }

  /** Whether the lane is parked, and a stored row is of that attempt, or what an operator has made of it. */
  isParkedBy({ seq, round }: StoredLane): boolean {
    return this.isParked && this.firstSeq === seq && this.wait!.round === round;
  }

  /** Removes the held events from memory, since they wait in the journal. */
  release(): void {
    this.firstSeq = this.held[0]?.event.seq ?? this.firstSeq;
    for (const { page } of this.held) page.held--;
    this.held = [];
  }

  row(): StoredLane | undefined {
    return this.wait && { entity: this.entity, seq: this.firstSeq, ...this.wait };
  }
}

/** The id of a component has no line break. */
export function keyOf({ component, id }: EntityRef): string {
  return `${component}\n${id}`;
}
