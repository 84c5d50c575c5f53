// Deliveries: everything between the report of a dataset and the answer of a receiver: segments, fan-out, attempts, and the log. It knows
// subscriptions only by what `subscriptions` says of them.
import type { Components, Service } from '@svc/host';
import type { Clock } from '@svc/kit/clock';
import type { Log } from '@svc/kit/log';
import { ATTEMPT_LIMITS_DEFAULT, type AttemptLimits } from './attempts/attempt-limits.ts';
import { type AttemptedSubscription, DeliveryAttempt } from './attempts/delivery-attempt.ts';
import { hostOf } from './attempts/due-delivery.ts';
import { Scheduler, type SchedulerCounts } from './attempts/scheduler.ts';
import { SegmentPending } from './attempts/segment-pending.ts';
import { fanOut, type MatchedEvent, type Recipient } from './consumers/fan-out.ts';
import { type Failure, noticeFailures } from './consumers/notice-failures.ts';
import { retryParkedEvents } from './consumers/parked-events.ts';
import { DeliveryLog } from './log/delivery-log.ts';
import { EventBodies } from './log/event-bodies.ts';
import { LogCursors } from './log/log-cursors.ts';
import { dataset } from './model/dataset.ts';
import { delivery } from './model/delivery.ts';
import { segmentOf } from './model/ids.ts';
import { notice } from './model/notice.ts';
import { INTAKE_LIMITS_DEFAULT, type IntakeLimits } from './segments/delivery-budgets.ts';
import { Intake } from './segments/intake.ts';
import { segmentCounts, type SegmentCounts } from './segments/segment-counts.ts';
import { Segments, type SegmentStore } from './segments/segments.ts';
import type { AttemptResult } from './sending/sender.ts';
import { backlogView } from './views/backlog-view.ts';
import { dueView } from './views/due-view.ts';
import { logView } from './views/log-view.ts';

/** The subscriptions of tenants, as they are at the time of the question. */
export interface DeliverySubscriptions {
  find(tenant: string, id: string): Promise<AttemptedSubscription | undefined>;
  matching(tenant: string, event: MatchedEvent): Promise<readonly Recipient[]>;
  /** Returns how many steps `matching` may take for searches in the name. */
  searchSteps(tenant: string, event: MatchedEvent): Promise<number>;
  grantFailing(tenant: string, failure: Failure): Promise<boolean>;
  /** Returns when the tenant was removed last, in milliseconds since 1970; undefined: never. */
  removedAtMs(tenant: string): Promise<number | undefined>;
}

export interface DeliveryLimits extends AttemptLimits, IntakeLimits {
  /** Bodies of events that are kept in memory. */
  readonly bodiesBytesMax: number;
}

export const DELIVERY_LIMITS_DEFAULT: DeliveryLimits = {
  ...ATTEMPT_LIMITS_DEFAULT,
  ...INTAKE_LIMITS_DEFAULT,
  bodiesBytesMax: 33_554_432,
};

/** Where segments are, and what opens one with its components. */
export type DeliveryStore = Omit<SegmentStore, 'open'> & {
  open(number: number, components: Components): Promise<Service>;
};

export interface DeliveriesParts {
  readonly subscriptions: DeliverySubscriptions;
  readonly sender: ConstructorParameters<typeof DeliveryAttempt>[0]['sender'];
  readonly store: DeliveryStore;
  readonly masterKey: Uint8Array;
  readonly clock: Clock;
  readonly limits: DeliveryLimits;
  readonly log: Log;
  /** Receives the result of each attempt. */
  readonly attempted?: (result: AttemptResult) => void;
}

/** Time between two log entries of a segment about events that cannot be handled. */
const REPORT_PAUSE_MS = 60_000;

export class Deliveries {
  readonly intake: Intake;
  readonly log: DeliveryLog;
  readonly #segments: Segments;
  readonly #scheduler: Scheduler;
  #isStopping = false;

  /** Rejects as `createService` does. */
  static async start(parts: DeliveriesParts): Promise<Deliveries> {
    const deliveries = new Deliveries(parts);
    await deliveries.#segments.start();
    deliveries.#scheduler.start();
    return deliveries;
  }

  private constructor(parts: DeliveriesParts) {
    const { subscriptions, sender, store, clock, limits, log, attempted = () => {} } = parts;
    const bodies = new EventBodies(limits.bodiesBytesMax);
    this.#segments = new Segments({
      store: {
        list: () => store.list(),
        remove: (number) => store.remove(number),
        open: async (number) => {
          const service = await store.open(number, this.#componentsOf(number, parts, bodies));
          void retryParkedEvents(service, { segment: number, clock, log });
          return service;
        },
      },
      clock,
      log,
    });
    const attempt = new DeliveryAttempt({
      segments: this.#segments,
      find: (tenant, id) => subscriptions.find(tenant, id),
      bodies,
      sender,
      clock,
      log,
      ended: attempted,
    });
    this.#scheduler = new Scheduler({
      attempt: (due) => attempt.make(due),
      pending: new SegmentPending(this.#segments),
      clock,
      limits,
      log,
    });
    this.intake = new Intake({
      segments: this.#segments,
      searchSteps: (tenant, event) => subscriptions.searchSteps(tenant, event),
      countMatching: async (tenant, event) => (await subscriptions.matching(tenant, event)).length,
      clock,
      limits,
    });
    this.log = new DeliveryLog({
      segments: this.#segments,
      subscriptions,
      bodies,
      cursors: new LogCursors(parts.masterKey),
      clock,
      due: ({ number: segment }, id, { about, url }, next) => {
        const { tenant, subscription } = about;
        const whose = { id, segment, tenant, subscription, host: hostOf(url) };
        this.#scheduler.add({ ...whose, ...next }, next);
      },
    });
  }

  /** Resolves when a journal cannot be written any more, and the program should end. */
  get failure(): Segments['failure'] {
    return this.#segments.failure;
  }

  counts(): SchedulerCounts {
    return this.#scheduler.counts();
  }

  segmentCounts(): SegmentCounts {
    return segmentCounts(this.#segments.newestFirst);
  }

  /** Begins no further attempt, waits for those under way, and stops the segments. */
  async stop(graceMs?: number): Promise<void> {
    this.#isStopping = true;
    await this.#scheduler.stop();
    await this.#segments.stop(graceMs);
  }

  #componentsOf(
    segment: number,
    { subscriptions, clock, log }: DeliveriesParts,
    bodies: EventBodies,
  ): Components {
    let quietUntilMs = -Infinity;
    const failed = (reason: string): void => {
      if (this.#isStopping || clock.monotonicMs() < quietUntilMs) return;
      quietUntilMs = clock.monotonicMs() + REPORT_PAUSE_MS;
      log({
        level: 'warn',
        message: 'an event could not be handled; it is tried again until it can be',
        fields: { segment, reason },
      });
    };
    return {
      entities: [dataset, delivery, notice],
      views: [logView, dueView, backlogView],
      consumers: [
        fanOut({
          segment,
          matching: (tenant, event) => subscriptions.matching(tenant, event),
          isBacklogFull: (subscription) => this.#scheduler.isBacklogFull(subscription),
          opened: ({ id, about, url, body }, next) => {
            const { tenant, subscription, eventId } = about;
            bodies.keep(segment, eventId, body);
            const whose = { id, segment, tenant, subscription, host: hostOf(url) };
            this.#scheduler.opened({ ...whose, ...next }, next);
          },
          failed,
        }),
        noticeFailures({
          grant: (tenant, failure) => subscriptions.grantFailing(tenant, failure),
          // The same failure has its notice in the same segment each time.
          segmentAt: async (timeMs) =>
            (await this.#segments.opening(segmentOf(timeMs))) ?? (await this.#segments.at(timeMs)),
          failed,
        }),
      ],
      version: '1',
    };
  }
}
