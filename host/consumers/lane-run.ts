// LaneRun executes one turn of a lane: the next event that is held, or a page of those that wait in the journal.
//
// Invariants
// R1  An event is delivered only after all earlier events of its entity are settled.
// R2  A lane whose attempt has failed has a row, and its events are not held any longer. So has a lane whose first event the
//     runtime could not deliver repeatedly, as long as these are few: a failure of the whole runtime fills no table.
// R3  The round of an event grows only when an attempt has ended by a verdict, or has parked the event. So an attempt that repeats
//     one without a verdict has the same round, or after a crash an earlier one, and gets the same refusals.
import { retryPauseMs } from '../engine/retry-pause.ts';
import type { Journal } from '../engine/needs/journal.ts';
import type { Clock, RandomSource } from '../engine/needs/clock.ts';
import type { EntityRef } from '@svc/model/entity';
import type { ConsumerSettings } from './consumer-settings.ts';
import {
  type Deliver,
  type DeliveredEvent,
  deliveredEvent,
  type DeliveryOutcome,
} from './delivery.ts';
import type { Lane } from './lane.ts';
import type { Lanes } from './lanes.ts';

/** Records that a turn reads from the journal at most. */
const CATCH_UP_PAGE = 16;
/** Longest pause that a consumer can ask for, in milliseconds: 366 days. */
export const PAUSE_MS_MAX = 366 * 86_400_000;
/** UTF-16 units of a stored reason. */
const REASON_UNITS_MAX = 1_000;
const UNHANDLED_HELP =
  'Retry the event with a module that handles it, or skip it: then those that follow it are skipped too.';
/** Deliveries of an event in a row that the runtime could not make, after which the lane gets a row. */
const UNAVAILABLE_MAX = 2;
/** Lanes that have a row for no other reason. */
const SET_ASIDE_MAX = 1_000;

export interface LaneRunDependencies {
  /** Components whose events the consumer gets. */
  readonly components: ReadonlySet<string>;
  readonly journal: Pick<Journal, 'read'>;
  readonly clock: Clock;
  readonly random: RandomSource;
  readonly settings: ConsumerSettings;
  readonly deliver: Deliver;
  /** Receives each event that is settled without having been handled, and why. */
  readonly onSkip: (entity: EntityRef, seq: number, reason: string) => void;
  /** Receives each event at which a lane is parked, and why. */
  readonly onPark: (entity: EntityRef, seq: number, reason: string) => void;
  /** Receives failures to read the journal, and rejections of `deliver`. */
  readonly onFailure: (error: unknown) => void;
}

export class LaneRun {
  readonly #needs: LaneRunDependencies;
  readonly #lanes: Lanes;
  /** Whether another event may be delivered now. */
  readonly #mayGoOn: () => boolean;
  /** Lanes that have a row because the runtime could not deliver their first event. */
  readonly #setAside = new Set<Lane>();

  constructor(needs: LaneRunDependencies, lanes: Lanes, mayGoOn: () => boolean) {
    this.#needs = needs;
    this.#lanes = lanes;
    this.#mayGoOn = mayGoOn;
  }

  /** Never rejects. */
  async run(lane: Lane): Promise<void> {
    try {
      const [next] = lane.held;
      if (lane.isStored) await this.#catchUp(lane);
      else if (next !== undefined) await this.#attempt(lane, next.event);
    } catch (error) {
      this.#needs.onFailure(error);
      this.#pause(lane);
    }
  }

  /** Ends a lane whose event was skipped, if the consumer does not handle those that follow it. */
  endUnhandled(lane: Lane): void {
    if (!this.#isHandled(lane)) this.#lanes.setWait(lane, undefined);
  }

  /** Whether the consumer handles the events of a lane. A lane of another module may have events that it does not handle. */
  #isHandled({ entity }: Lane): boolean {
    return this.#needs.components.has(entity.component);
  }

  async #catchUp(lane: Lane): Promise<void> {
    if (lane.isCaughtUp) return this.#lanes.setWait(lane, undefined);
    const { entity, firstSeq } = lane;
    const records = await this.#needs.journal.read(entity, firstSeq - 1, CATCH_UP_PAGE);
    // Nothing is on disk that the feed has not read, or will read.
    if (records.length === 0 && lane.passedSeq === undefined) this.#lanes.setWait(lane, undefined);
    for (const record of records) {
      if (lane.isCaughtUp || !this.#mayGoOn()) return;
      if (record.kind === 'deleted') this.#settle(lane);
      else if (!this.#isHandled(lane)) return this.#parkUnhandled(lane);
      else {
        const event = deliveredEvent(entity, record);
        // oxlint-disable-next-line no-await-in-loop -- an event follows the one before it
        if (!(await this.#attempt(lane, event))) return;
      }
    }
  }

  /** Delivers the first event of a lane, and returns whether it is settled. */
  async #attempt(lane: Lane, event: DeliveredEvent): Promise<boolean> {
    const attempt = (lane.wait?.attempts ?? 0) + 1;
    const outcome = await this.#needs.deliver(event, attempt, lane.wait?.round ?? 0);
    if (outcome.kind === 'unavailable') {
      this.#pause(lane);
      return false;
    }
    lane.unavailable = 0;
    this.#setAside.delete(lane);
    if (outcome.kind === 'done' || outcome.kind === 'skip') {
      if (outcome.kind === 'skip') this.#needs.onSkip(event.entity, event.seq, outcome.reason);
      this.#settle(lane, event.seq);
      return true;
    }
    this.#fail(lane, attempt, outcome);
    return false;
  }

  /** Settles the first record of a lane. */
  #settle(lane: Lane, seq = lane.firstSeq): void {
    lane.firstSeq = seq + 1;
    if (lane.isStored) this.#lanes.setWait(lane, this.waitingNow());
    else lane.held.shift()!.page.held--;
  }

  #fail(
    lane: Lane,
    attempts: number,
    outcome: Extract<DeliveryOutcome, { readonly kind: 'retry' | 'interrupted' | 'park' }>,
  ): void {
    const { clock, random, settings } = this.#needs;
    lane.release();
    const reason = outcome.reason.slice(0, REASON_UNITS_MAX).toWellFormed();
    const isParked = outcome.kind === 'park' || attempts >= settings.attemptsMax;
    const round = (lane.wait?.round ?? 0) + Number(isParked || outcome.kind === 'retry');
    if (isParked) {
      this.#needs.onPark(lane.entity, lane.firstSeq, reason);
      return this.#lanes.setWait(lane, { attempts, round, nextMs: undefined, reason });
    }
    const askedMs = outcome.kind === 'retry' ? outcome.afterMs : undefined;
    const pauseMs = Math.min(askedMs ?? retryPauseMs(attempts, settings, random), PAUSE_MS_MAX);
    lane.wakeMs = clock.monotonicMs() + pauseMs;
    this.#lanes.setWait(lane, { attempts, round, nextMs: clock.nowMs() + pauseMs, reason });
  }

  /** Parks a lane whose events the consumer no longer handles, without an attempt, so that an operator decides about them. */
  #parkUnhandled(lane: Lane): void {
    const { attempts, round } = lane.wait!;
    const reason = `The consumer no longer handles events of component '${lane.entity.component}'. ${UNHANDLED_HELP}`;
    this.#needs.onPark(lane.entity, lane.firstSeq, reason);
    this.#lanes.setWait(lane, { attempts, round, nextMs: undefined, reason });
  }

  /** Lets a lane rest, because the runtime could not do its part. */
  #pause(lane: Lane): void {
    const { clock, settings } = this.#needs;
    const { unavailablePauseMs, unavailablePauseMaxMs } = settings;
    lane.unavailable++;
    const pauseMs = unavailablePauseMs * 2 ** (lane.unavailable - 1);
    lane.wakeMs = clock.monotonicMs() + Math.min(pauseMs, unavailablePauseMaxMs);
    if (lane.unavailable >= UNAVAILABLE_MAX) this.#putAside(lane);
  }

  /** Gives a lane a row, so that the position does not wait for its events. */
  #putAside(lane: Lane): void {
    if (lane.isStored || this.#setAside.size >= SET_ASIDE_MAX) return;
    this.#setAside.add(lane);
    lane.release();
    this.#lanes.setWait(lane, this.waitingNow());
  }

  /** Returns the row of a lane that may be tried at once, as often as any. `round`: 0 if its first event has not been tried. */
  waitingNow(round = 0): NonNullable<Lane['wait']> {
    return { attempts: 0, round, nextMs: this.#needs.clock.nowMs(), reason: undefined };
  }
}
