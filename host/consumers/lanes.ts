// Lanes are the lanes of a consumer that hold events or are stored, and those that can run next.
//
// Invariants
// L1  A lane is running, or in exactly one of the sets: ready, resting, parked, or rejoined.
// L2  A lane without a row that is in no set and does not run is forgotten: all its records that the feed has read are
//     settled, and no others.
// L3  The reason why a lane waits is in memory only until it is in the row of the lane.
import type { StoredLane } from '../engine/needs/consumers.ts';
import type { EntityRef } from '@svc/model/entity';
import { Lane, keyOf } from './lane.ts';

/** Resting lanes above which they are looked at less often. */
const RESTING_MANY = 1_000;
/** Time between two looks at many resting lanes, in milliseconds. */
const LOOK_MS = 100;

export class Lanes {
  readonly #lanes = new Map<string, Lane>();
  /** In the order in which they run. */
  readonly #ready = new Set<Lane>();
  readonly #resting = new Set<Lane>();
  readonly #parked = new Set<Lane>();
  /** Lanes without events, whose settled records the feed may still read. */
  readonly #rejoined = new Set<Lane>();
  /** Lanes whose row is to be stored, or removed; indexed by entity. */
  #changed = new Map<string, Lane>();
  #stored = 0;
  #nextWakeMs = Infinity;

  /** The number of lanes in memory. */
  get size(): number {
    return this.#lanes.size;
  }

  get parked(): number {
    return this.#parked.size;
  }

  /** The number of lanes with a row. */
  get stored(): number {
    return this.#stored;
  }

  get hasRejoined(): boolean {
    return this.#rejoined.size > 0;
  }

  get hasChanged(): boolean {
    return this.#changed.size > 0;
  }

  /** When the first resting lane is ready, by the monotonic clock, or soon before. */
  get nextWakeMs(): number {
    return this.#nextWakeMs;
  }

  /** Adds a lane that was stored. `wakeMs`: when its next attempt may be made, by the monotonic clock. */
  restore({ entity, seq, ...wait }: StoredLane, wakeMs: number): void {
    const lane = new Lane(entity, seq);
    lane.wait = wait;
    lane.wakeMs = wakeMs;
    this.#lanes.set(lane.key, lane);
    this.#stored++;
    this.put(lane);
  }

  get(entity: EntityRef): Lane | undefined {
    return this.#lanes.get(keyOf(entity));
  }

  /** Returns the lane of a record that the feed has read. */
  passing(entity: EntityRef, seq: number): Lane {
    let lane = this.get(entity);
    if (lane === undefined) {
      lane = new Lane(entity, seq);
      this.#lanes.set(lane.key, lane);
      this.#rejoined.add(lane);
    }
    lane.passedSeq = Math.max(seq, lane.passedSeq ?? 0);
    return lane;
  }

  /** Puts a rejoined lane where it belongs, after the feed has read a record of it. */
  passed(lane: Lane): void {
    if (this.#rejoined.delete(lane)) this.put(lane);
  }

  /** Returns the lane that runs next, and takes it out of its set; undefined: none can run. */
  take(): Lane | undefined {
    const [lane] = this.#ready;
    if (lane !== undefined) this.#ready.delete(lane);
    return lane;
  }

  /** Puts a lane that does not run into its set, or forgets it. */
  put(lane: Lane): void {
    if (lane.isParked) this.#parked.add(lane);
    else if (!lane.isStored && lane.held.length === 0) {
      if (lane.isPassed) this.#lanes.delete(lane.key);
      else this.#rejoined.add(lane);
    } else if (lane.wakeMs === -Infinity) this.#ready.add(lane);
    else {
      this.#resting.add(lane);
      this.#nextWakeMs = Math.min(this.#nextWakeMs, lane.wakeMs);
    }
  }

  /** Makes resting lanes ready whose time has come. */
  wake(monotonicMs: number): void {
    if (monotonicMs < this.#nextWakeMs) return;
    let earliestMs = Infinity;
    for (const lane of this.#resting)
      if (lane.wakeMs <= monotonicMs) {
        this.#resting.delete(lane);
        lane.wakeMs = -Infinity;
        this.#ready.add(lane);
      } else earliestMs = Math.min(earliestMs, lane.wakeMs);
    const isMany = this.#resting.size > RESTING_MANY;
    this.#nextWakeMs = isMany ? Math.max(earliestMs, monotonicMs + LOOK_MS) : earliestMs;
  }

  /** Returns the lanes that have been parked for the longest time, at most `limit`, without damaged ones. */
  firstParked(limit: number): readonly Lane[] {
    const parked = this.#parked.values();
    return [...parked.filter((lane) => !lane.isDamaged).take(limit)];
  }

  /** Lets a parked lane run. */
  unpark(lane: Lane): void {
    this.#parked.delete(lane);
    this.put(lane);
  }

  /** Sets the row of a lane; undefined: it has none. */
  setWait(lane: Lane, wait: Lane['wait']): void {
    this.#stored += Number(wait !== undefined) - Number(lane.isStored);
    lane.wait = wait;
    this.#changed.set(lane.key, lane);
  }

  /** Returns the rejoined lanes. */
  rejoined(): readonly Lane[] {
    return [...this.#rejoined];
  }

  /** Forgets lanes that were rejoined when a read of the feed began that has found no further record. */
  passedAll(rejoined: readonly Lane[]): void {
    for (const lane of rejoined) if (this.#rejoined.delete(lane)) this.#lanes.delete(lane.key);
  }

  /** Returns the lanes whose rows have changed since the last call. */
  takeChanged(): ReadonlyMap<string, Lane> {
    const changed = this.#changed;
    this.#changed = new Map();
    return changed;
  }

  /** Removes from memory the reasons that are now in the rows of lanes, unless these have changed again. */
  written(changed: ReadonlyMap<string, Lane>): void {
    for (const [key, lane] of changed)
      if (lane.wait?.reason !== undefined && !this.#changed.has(key))
        lane.wait = { ...lane.wait, reason: undefined };
  }

  /** Notes that the row of a lane is stored as it is, although it is not known which settlement has stored it. */
  noteWritten(lane: Lane): void {
    this.#changed.delete(lane.key);
    this.written(new Map([[lane.key, lane]]));
  }

  /** Takes back changes that could not be stored, or may have been. */
  restoreChanged(changed: ReadonlyMap<string, Lane>): void {
    this.#changed = new Map([...changed, ...this.#changed]);
  }
}
