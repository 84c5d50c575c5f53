// Scheduler: has the attempts of all pending deliveries made, each when it is due. It holds no truth: what it forgets is read again
// from the views.
//
// Invariants
// - A delivery is in memory once: it waits for its time, or for its turn, or is under way.
// - At most `idsMax` deliveries of a subscription are in memory. The others are read when there is room.
// - After `stop` no attempt begins, and those under way have ended.
import type { Clock } from '@svc/kit/clock';
import type { Log } from '@svc/kit/log';
import { type NextAttempt, waitOf } from '../model/attempt-schedule.ts';
import type { AttemptLimits } from './attempt-limits.ts';
import { AttemptQueue } from './attempt-queue.ts';
import type { AttemptOutcome } from './delivery-attempt.ts';
import type { DueDelivery } from './due-delivery.ts';
import { WaitingDeliveries } from './waiting-deliveries.ts';

export interface FirstPending {
  readonly deliveries: readonly (DueDelivery & Pick<NextAttempt, 'dueAtMs'>)[];
  /** Why those of a segment could not be read; absent: all were. */
  readonly failure?: unknown;
}

/** The pending deliveries of all segments. */
export interface PendingDeliveries {
  /** Returns how many deliveries of each subscription are pending. */
  backlogs(): Promise<ReadonlyMap<string, number>>;
  /** Returns those of a subscription that are due first, at most `max`. A segment that cannot be read does not hold up the others. */
  first(subscription: string, max: number): Promise<FirstPending>;
}

export interface SchedulerOptions {
  /** Makes an attempt. It never rejects. */
  readonly attempt: (delivery: DueDelivery) => Promise<AttemptOutcome>;
  readonly pending: PendingDeliveries;
  readonly clock: Clock;
  readonly limits: AttemptLimits;
  readonly log: Log;
}

/** Numbers of deliveries. */
export interface SchedulerCounts {
  readonly underWay: number;
  readonly waiting: number;
  readonly inMemory: number;
  /** Pending deliveries of all subscriptions, in memory or not, as of the last look; undefined before the first one. */
  readonly pending: number | undefined;
}

/** After this time it looks whether something pending is not in memory. */
const LOOK_MS = 10_000;

export class Scheduler {
  readonly #options: SchedulerOptions;
  readonly #queue: AttemptQueue;
  readonly #waiting: WaitingDeliveries;
  /** Undefined before the first look. */
  #pending: number | undefined;
  /** Ids of the deliveries in memory, by their subscriptions. */
  readonly #known = new Map<string, Set<string>>();
  /** Pending deliveries by subscription, as of the last look, and those that were opened since. */
  #backlogs = new Map<string, number>();
  /** Subscriptions of which more are pending than are in memory, and those that are being read. */
  readonly #partial = new Set<string>();
  readonly #reading = new Set<string>();
  readonly #underWay = new Set<Promise<void>>();
  #cancelLook = () => {};
  #isStopping = false;

  constructor(options: SchedulerOptions) {
    this.#options = options;
    this.#queue = new AttemptQueue(options.limits);
    this.#waiting = new WaitingDeliveries(options.clock, (delivery) => this.#due(delivery));
  }

  /** Begins with what is pending. */
  start(): void {
    void this.#look();
  }

  /** Begins no further attempt, and resolves once those under way have ended. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    this.#cancelLook();
    this.#waiting.stop();
    await Promise.all(this.#underWay);
  }

  counts(): SchedulerCounts {
    let inMemory = 0;
    for (const { size } of this.#known.values()) inMemory += size;
    const { underWay } = this.#queue;
    return { underWay, waiting: this.#waiting.size, inMemory, pending: this.#pending };
  }

  /** Whether so many deliveries of a subscription are pending that no further one is. */
  isBacklogFull(subscription: string): boolean {
    return (this.#backlogs.get(subscription) ?? 0) >= this.#options.limits.backlogMax;
  }

  /** Adds a delivery that was opened. */
  opened(delivery: DueDelivery, next: NextAttempt): void {
    const { subscription } = delivery;
    this.#backlogs.set(subscription, (this.#backlogs.get(subscription) ?? 0) + 1);
    this.add(delivery, next);
  }

  /** Adds a delivery that is pending, unless it is in memory, or there is no room. */
  add({ id, segment, tenant, subscription, host }: DueDelivery, next: NextAttempt): void {
    if (this.#isStopping) return;
    const known = this.#knownOf(subscription);
    if (known.has(id)) return;
    if (known.size >= this.#options.limits.idsMax) {
      this.#partial.add(subscription);
      return;
    }
    known.add(id);
    const { run, number } = next;
    this.#schedule({ id, segment, tenant, subscription, host, run, number }, next);
  }

  #schedule(delivery: DueDelivery, next: NextAttempt): void {
    const waitMs = waitOf(next, this.#options.clock.nowMs());
    if (waitMs > 0) this.#waiting.add(delivery, waitMs);
    else this.#due(delivery);
  }

  #due(delivery: DueDelivery): void {
    if (this.#isStopping) return;
    this.#queue.add(delivery);
    this.#begin();
  }

  #begin(): void {
    if (this.#isStopping) return;
    for (let next = this.#queue.take(); next !== undefined; next = this.#queue.take()) {
      const made = this.#make(next);
      this.#underWay.add(made);
      void made.finally(() => this.#underWay.delete(made));
    }
  }

  async #make(delivery: DueDelivery): Promise<void> {
    const { next, ...shown } = await this.#options.attempt(delivery);
    this.#queue.release(delivery.id, shown);
    if (next === null) this.#forget(delivery);
    else if (!this.#isStopping) {
      const { run, number } = next;
      this.#schedule({ ...delivery, run, number }, next);
    }
    this.#begin();
  }

  #knownOf(subscription: string): Set<string> {
    let known = this.#known.get(subscription);
    if (known === undefined) {
      known = new Set();
      this.#known.set(subscription, known);
    }
    return known;
  }

  #forget({ id, subscription }: DueDelivery): void {
    const known = this.#knownOf(subscription);
    known.delete(id);
    if (known.size === 0) this.#known.delete(subscription);
    if (this.#partial.has(subscription) && this.#hasRoom(known.size)) void this.#read(subscription);
  }

  /** Rows that are in memory already come first, so a read is worth its cost only if half of the room is free. */
  #hasRoom(known: number): boolean {
    return known <= this.#options.limits.idsMax / 2;
  }

  /** Reads what is pending and not in memory, and looks again later. */
  async #look(): Promise<void> {
    const { pending, clock, log } = this.#options;
    try {
      this.#backlogs = new Map(await pending.backlogs());
      this.#pending = this.#backlogs.values().reduce((sum, count) => sum + count, 0);
      for (const [subscription, count] of this.#backlogs) {
        const known = this.#known.get(subscription)?.size ?? 0;
        // oxlint-disable-next-line no-await-in-loop -- the views answer one query after the other anyway
        if (known < count && this.#hasRoom(known)) await this.#read(subscription);
      }
    } catch (error) {
      log({
        level: 'warn',
        message: 'pending deliveries cannot be read; it is tried again',
        fields: { error: String(error) },
      });
    }
    if (!this.#isStopping) this.#cancelLook = clock.after(LOOK_MS, () => void this.#look());
  }

  async #read(subscription: string): Promise<void> {
    if (this.#isStopping || this.#reading.has(subscription)) return;
    const { idsMax } = this.#options.limits;
    this.#reading.add(subscription);
    try {
      const { deliveries, failure } = await this.#options.pending.first(subscription, idsMax);
      if (failure !== undefined) this.#unread(failure);
      if (deliveries.length < idsMax) this.#partial.delete(subscription);
      else this.#partial.add(subscription);
      for (const delivery of deliveries) this.add(delivery, delivery);
    } catch (error) {
      this.#unread(error);
    } finally {
      this.#reading.delete(subscription);
    }
  }

  /** Logs why deliveries were not read; the next look finds them. */
  #unread(failure: unknown): void {
    this.#options.log({
      level: 'warn',
      message: 'pending deliveries of a subscription cannot be read; it is tried again',
      fields: { error: String(failure) },
    });
  }
}
