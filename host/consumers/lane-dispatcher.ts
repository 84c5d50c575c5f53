// LaneDispatcher delivers the events of a feed to one consumer. The events of an entity are a lane: in order, one at a time.
// Lanes are independent: one that waits or is parked has a row of its own, and no other lane waits for it.
//
// Invariants
// D1  At most `inFlight` lanes run, and each delivers one event at a time.
// D2  At most `aheadMax` events are read ahead of the position up to which all are settled. Nothing is delivered while more
//     than `parkedMax` lanes are parked, and nothing is read while more than twice as many wait, parked ones included.
// D3  The position that is stored is never past an event that is not settled, unless its lane is stored with it. After a
//     crash, an event may be delivered again, with those of its entity that follow it; none is skipped.
// D4  What an operator has changed of a parked lane is followed, if need be after failures: after a settlement that has failed, the
//     lanes are read before the next one, which would write over it.
import { SvcError } from '@svc/kit/svc-error';
import type { ConsumerWriter, StoredConsumer, StoredLane } from '../engine/needs/consumers.ts';
import type { Feed, FeedPage, FeedRecord, Position } from '../engine/needs/feed.ts';
import type { Sleeper } from '../timers/dispatcher.ts';
import { full, stalled } from './consumer-stalled.ts';
import { deliveredEvent } from './delivery.ts';
import { FeedCursor } from './feed-cursor.ts';
import { laneDamaged } from '../engine/needs/lane-damaged.ts';
import type { Lane } from './lane.ts';
import { LaneOrders, type LaneOrdersNeeds } from './lane-orders.ts';
import { LaneRun, type LaneRunDependencies, PAUSE_MS_MAX } from './lane-run.ts';
import { LaneSettlements } from './lane-settlements.ts';
import { Lanes } from './lanes.ts';
import { ReadAhead, type ReadPage, unitsOf } from './read-ahead.ts';
import { storedLanes } from './stored-lanes.ts';

/** Records of a page of the feed at most. The position moves by whole pages. */
const PAGE = 100;
/** Parts of `aheadMax` that are read as pages, at least: the events after a settled page do not wait for those of the next. */
const PAGES_AHEAD_MIN = 4;
/** Lanes with a row with which a consumer still reads, in multiples of `parkedMax`. */
const STORED_PER_PARKED = 2;
/** Longest sleep, and pause after a failure, in milliseconds. */
const LOOK_MS = 1_000;
const STOPPED = 'The consumer has stopped before this was stored. Try again.';

export interface LaneDispatcherDependencies extends LaneRunDependencies, LaneOrdersNeeds {
  readonly consumer: Pick<StoredConsumer, 'id' | 'start'>;
  readonly feed: Pick<Feed, 'start' | 'end' | 'read' | 'advancedPast'>;
  readonly writer: ConsumerWriter;
  readonly sleeper: Sleeper;
}

export class LaneDispatcher {
  readonly #needs: LaneDispatcherDependencies;
  readonly #lanes = new Lanes();
  readonly #laneRun: LaneRun;
  /** Carries out what operators ask. */
  readonly orders: LaneOrders;
  #ahead: ReadAhead;
  readonly #cursor: FeedCursor;
  readonly #settlements: LaneSettlements;
  #running = 0;
  /** Whether too many lanes are parked. */
  #isStalled = false;
  /** Whether too many lanes wait. */
  #isFull = false;
  #isOpen = false;
  /** Whether it is being read where the consumer is, which may take long. */
  #isOpening = false;
  /** Whether operators may have changed stored lanes since they were read. */
  #isToRenew = false;
  /** The lanes are being read. */
  #renewing: Promise<void> | undefined;
  /** When the lanes may be read again, by the monotonic clock. */
  #renewAtMs = -Infinity;
  #isStopping = false;
  #rounds: Promise<void> | undefined;

  constructor(needs: LaneDispatcherDependencies) {
    this.#needs = needs;
    this.#laneRun = new LaneRun(needs, this.#lanes, () => !this.#isStopping && !this.#isStalled);
    this.orders = new LaneOrders(needs, this.#lanes, this.#laneRun);
    this.#cursor = new FeedCursor({
      ...needs,
      pauseMs: LOOK_MS,
      monotonicMs: () => needs.clock.monotonicMs(),
      onPage: (page) => this.#took(page),
      onChange: () => needs.sleeper.interrupt(),
    });
    this.#settlements = new LaneSettlements(needs, this.#lanes, needs.feed.start);
    this.#ahead = new ReadAhead(needs.feed.start);
  }

  /** Whether it is known which lanes are parked. */
  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** The number of lanes that run. */
  get running(): number {
    return this.#running;
  }

  /** The number of lanes in memory. */
  get lanes(): number {
    return this.#lanes.size;
  }

  /** The position before which all events are settled, or wait in a lane. */
  get position(): Position {
    return this.#ahead.position;
  }

  /** The number of lanes whose first event is tried again. */
  get retrying(): number {
    return this.#lanes.stored - this.#lanes.parked;
  }

  /** The number of parked lanes. */
  get parked(): number {
    return this.#lanes.parked;
  }

  /** Events that were read and are after the settled position. */
  get ahead(): number {
    return this.#ahead.events;
  }

  /** SVC_CONSUMER_STALLED while more lanes are parked, or wait, than allowed. */
  get failure(): SvcError | undefined {
    if (this.#isStalled) return this.#stalled();
    return this.#isFull ? this.#full() : undefined;
  }

  start(): void {
    this.#rounds ??= this.#run();
  }

  /**
   * Delivers no further event, waits for those in flight, at most `graceMs`, and stores what is settled, unless the lanes cannot be read
   * after a settlement that has failed. Returns the number of lanes that still run; their events are delivered again after the next start.
   */
  async stop(graceMs: number): Promise<number> {
    const { clock, sleeper } = this.#needs;
    // The present sleep may end late: while the event loop is blocked, its interruption waits too.
    const endMs = clock.monotonicMs() + graceMs;
    this.#isStopping = true;
    this.#cursor.close();
    sleeper.interrupt();
    if (!this.#isOpening) await this.#rounds;
    while (this.#isOpening || this.#running > 0) {
      const leftMs = endMs - clock.monotonicMs();
      if (leftMs <= 0) break;
      // oxlint-disable-next-line no-await-in-loop -- it waits until the consumer is open and deliveries have ended
      await sleeper.sleep(Math.min(leftMs, LOOK_MS));
    }
    await this.#settlements.finished();
    await this.#renewing;
    if (this.#settlements.isUnsure) await this.#renewLanes();
    this.#ahead.advance();
    // Otherwise the events are delivered again after the next start.
    if (this.#hasUnsettled && !this.#settlements.isUnsure) await this.#settle();
    this.#settlements.reject(new SvcError('SVC_SHARD_UNAVAILABLE', STOPPED));
    return this.#running;
  }

  /** Resolves when what `orders` have just changed is on disk. Rejects with SvcError if it cannot be written. */
  settled(): Promise<void> {
    return this.#settlements.next();
  }

  /**
   * Follows what operators have changed of the stored lanes, by another process: soon, once the consumer is open and the lanes can be
   * read.
   */
  renew(): void {
    this.#isToRenew = true;
    this.#needs.sleeper.interrupt();
  }

  /** Never rejects. */
  async #renewLanes(): Promise<void> {
    const { clock, sleeper, onFailure } = this.#needs;
    this.#isToRenew = false;
    try {
      await this.#settlements.confirm(() => this.orders.renew());
    } catch (error) {
      this.#isToRenew = true;
      this.#renewAtMs = clock.monotonicMs() + LOOK_MS;
      if (this.#settlements.isUnsure) this.#settlements.reject(error);
      onFailure(error);
    }
    this.#renewing = undefined;
    sleeper.interrupt();
  }

  async #run(): Promise<void> {
    const { sleeper } = this.#needs;
    while (!this.#isStopping && !this.#isOpen) {
      // oxlint-disable-next-line no-await-in-loop -- an attempt follows the other
      await this.#open();
      // Only one caller at a time may sleep.
      if (this.#isStopping) return sleeper.interrupt();
      // oxlint-disable-next-line no-await-in-loop -- an attempt follows the other
      if (!this.#isOpen) await sleeper.sleep(LOOK_MS);
    }
    // oxlint-disable-next-line no-await-in-loop -- a round follows the other
    while (!this.#isStopping) await sleeper.sleep(this.#round());
  }

  /** Reads where the consumer is, and stores the beginning of a new one. Never rejects. */
  async #open(): Promise<void> {
    const { consumer, feed, reader, onFailure } = this.#needs;
    this.#isOpening = true;
    this.#isToRenew = false;
    try {
      let position = (await reader.consumer(consumer.id))?.position;
      if (this.#isStopping) return;
      if (position === undefined) {
        position = consumer.start === 'now' ? feed.end() : feed.start;
        // Before the first event is read, so that `now` is the same moment after every crash.
        await this.#settlements.begin(position);
      } else {
        const lanes = await storedLanes(reader, consumer.id);
        if (this.#isStopping) return;
        this.#restore(lanes);
      }
      this.#cursor.begin(position);
      this.#settlements.isAt(position);
      this.#ahead = new ReadAhead(position);
      this.#isOpen = true;
    } catch (error) {
      if (!this.#isStopping) onFailure(error);
    } finally {
      this.#isOpening = false;
    }
  }

  #restore(lanes: readonly StoredLane[]): void {
    const { consumer, clock, onFailure } = this.#needs;
    for (const lane of lanes) {
      if (lane.isDamaged) onFailure(laneDamaged(consumer.id, lane.entity));
      const restMs = Math.min((lane.nextMs ?? 0) - clock.nowMs(), PAUSE_MS_MAX);
      this.#lanes.restore(lane, restMs <= 0 ? -Infinity : clock.monotonicMs() + restMs);
      this.orders.noteSkipped(lane);
    }
  }

  /** Does what can be done, and returns how long to sleep, in milliseconds. */
  #round(): number {
    const monotonicMs = this.#needs.clock.monotonicMs();
    this.#lanes.wake(monotonicMs);
    this.#noteStalled();
    if (this.#canRead(monotonicMs)) this.#read();
    this.#startAll();
    this.#ahead.advance();
    if (this.#mayRenew && monotonicMs >= this.#renewAtMs) this.#renewing = this.#renewLanes();
    if (this.#maySettle && monotonicMs >= this.#settlements.nextMs) void this.#settle();
    return this.#restMs(monotonicMs);
  }

  #restMs(monotonicMs: number): number {
    if (this.#canRead(monotonicMs)) return 0;
    let untilMs = monotonicMs + LOOK_MS;
    if (this.#mayRenew) untilMs = Math.min(untilMs, this.#renewAtMs);
    if (this.#maySettle) untilMs = Math.min(untilMs, this.#settlements.nextMs);
    if (this.#mayStart) untilMs = Math.min(untilMs, this.#lanes.nextWakeMs);
    const { readAtMs } = this.#cursor;
    if (readAtMs > monotonicMs) untilMs = Math.min(untilMs, readAtMs);
    return Math.max(0, untilMs - monotonicMs);
  }

  #canRead(monotonicMs: number): boolean {
    const { settings } = this.#needs;
    return (
      // At the end, one more read shows that the feed is past the records of rejoined lanes.
      (!this.#cursor.isAtEnd || this.#lanes.hasRejoined) &&
      this.#cursor.canRead(monotonicMs) &&
      !this.#isStalled &&
      !this.#isFull &&
      this.#ahead.events + this.#pageMax <= settings.aheadMax &&
      this.#ahead.units < settings.aheadUnitsMax
    );
  }

  get #pageMax(): number {
    return Math.min(PAGE, Math.ceil(this.#needs.settings.aheadMax / PAGES_AHEAD_MIN));
  }

  #read(): void {
    // A lane that joins while the page is being read may have records after it.
    const rejoined = this.#lanes.rejoined();
    this.#cursor.read(this.#pageMax, () => this.#lanes.passedAll(rejoined));
  }

  #took({ records, position }: FeedPage): void {
    const page = this.#ahead.add(position, records.length, unitsOf(records));
    for (const record of records) this.#pass(record, page);
  }

  /** Takes a record from the feed: its lane holds it, or it is settled, or waits in the journal. */
  #pass({ entity, record }: FeedRecord, page: ReadPage): void {
    const { seq } = record;
    const lane = this.#lanes.passing(entity, seq);
    if (record.kind === 'event' && !lane.isStored && seq >= lane.firstSeq) {
      lane.held.push({ event: deliveredEvent(entity, record), page });
      page.held++;
    }
    this.#lanes.passed(lane);
  }

  get #mayStart(): boolean {
    return !this.#isStalled && this.#running < this.#needs.settings.inFlight;
  }

  #startAll(): void {
    while (this.#mayStart) {
      const lane = this.#lanes.take();
      if (lane === undefined) return;
      this.#running++;
      void this.#runLane(lane);
    }
  }

  async #runLane(lane: Lane): Promise<void> {
    await this.#laneRun.run(lane);
    this.#running--;
    this.#lanes.put(lane);
    this.#noteStalled();
    this.#needs.sleeper.interrupt();
  }

  #noteStalled(): void {
    const { onFailure, settings } = this.#needs;
    const isStalled = this.#lanes.parked > settings.parkedMax;
    if (isStalled && !this.#isStalled) onFailure(this.#stalled());
    this.#isStalled = isStalled;
    const isFull = this.#lanes.stored > settings.parkedMax * STORED_PER_PARKED;
    if (isFull && !this.#isFull && !isStalled) onFailure(this.#full());
    this.#isFull = isFull;
  }

  #stalled(): SvcError {
    const { consumer, settings } = this.#needs;
    return stalled(consumer.id, this.#lanes.parked, settings.parkedMax);
  }

  #full(): SvcError {
    const { consumer, settings } = this.#needs;
    return full(consumer.id, this.#lanes.stored, settings.parkedMax * STORED_PER_PARKED);
  }

  get #hasUnsettled(): boolean {
    return this.#settlements.areDue(this.#ahead.position);
  }

  /** A renewal waits for a settlement: lanes that are parked here may be about to be stored. */
  get #mayRenew(): boolean {
    return this.#isToRenew && this.#renewing === undefined && !this.#settlements.isWriting;
  }

  get #maySettle(): boolean {
    const { isWriting, isUnsure } = this.#settlements;
    return !isWriting && !isUnsure && this.#renewing === undefined && this.#hasUnsettled;
  }

  /** Never rejects. */
  async #settle(): Promise<void> {
    await this.#settlements.write(this.#ahead.position);
    if (this.#settlements.isUnsure) this.#isToRenew = true;
    this.#needs.sleeper.interrupt();
  }
}
