// ServedConsumers run a dispatcher for each consumer of a service, in the thread that creates them: that of `svc run` for
// consumers, or the program's own. They count for the metrics, and carry out what an operator asks for.
//
// Invariant: one consumer that cannot go on, or whose events are parked, holds no other consumer up.
import type { ConsumerDescriptor } from '@svc/contract';
import { EVENT_PARKED, EVENT_SKIPPED } from '../consumers/consumer-log.ts';
import { type ConsumerSettings, settingsOfOne } from '../consumers/consumer-settings.ts';
import { LaneDispatcher } from '../consumers/lane-dispatcher.ts';
import type { RandomSource, ServiceClock } from '../engine/needs/clock.ts';
import {
  type ConsumerReader,
  type ConsumerWriter,
  RETRIED_AT_ONCE_MAX,
} from '../engine/needs/consumers.ts';
import type { Feed } from '../engine/needs/feed.ts';
import type { Journal } from '../engine/needs/journal.ts';
import type { ConsumerSeries } from '@svc/model/consumer-series';
import type { EntityRef } from '@svc/model/entity';
import type { Log } from '@svc/kit/log';
import type { LogLimits } from '@svc/kit/log-limits';
import { entryBytes, LogRate } from '@svc/kit/log-rate';
import { SvcError } from '@svc/kit/svc-error';
import { systemClock, systemRandom } from '../system.ts';
import type { Delivery, DeliveryAnswer } from './event-delivery.ts';
import { FailureReports } from './failure-reports.ts';
import { InterruptibleSleeper } from './interruptible-sleeper.ts';

/** Interval at which the counts are taken, in milliseconds. */
const COUNT_MS = 1_000;

export interface ServedConsumersOptions {
  readonly consumers: readonly ConsumerDescriptor[];
  readonly settings: ConsumerSettings;
  readonly feed: Feed;
  readonly reader: ConsumerReader;
  readonly writer: ConsumerWriter;
  readonly journal: Pick<Journal, 'read'>;
  /** Delivers an event where its entity is. Never rejects. */
  readonly deliver: (delivery: Delivery) => Promise<DeliveryAnswer>;
  /** Returns the counts of a consumer. */
  readonly seriesOf: (consumer: string) => ConsumerSeries;
  readonly log: Log;
  readonly logLimits: LogLimits;
  /** Time and random numbers of the retries; absent: the machine's. */
  readonly clock?: ServiceClock | undefined;
  readonly random?: RandomSource | undefined;
}

interface Served {
  readonly dispatcher: LaneDispatcher;
  readonly series: ConsumerSeries;
}

export class ServedConsumers {
  readonly #options: ServedConsumersOptions;
  readonly #served: ReadonlyMap<string, Served>;
  readonly #log: LogRate;
  #counting: NodeJS.Timeout | undefined;

  constructor(options: ServedConsumersOptions) {
    this.#options = options;
    this.#log = limitedLog(options);
    this.#served = new Map(
      options.consumers.map((consumer) => [
        consumer.id,
        { dispatcher: this.#dispatcher(consumer), series: options.seriesOf(consumer.id) },
      ]),
    );
  }

  start(): void {
    for (const { dispatcher } of this.#served.values()) dispatcher.start();
    this.#count();
    this.#counting = setInterval(() => this.#count(), COUNT_MS).unref();
  }

  /** Delivers no further event, and waits for those in flight, at most `graceMs`. The feed can be closed then. */
  async stop(graceMs: number): Promise<void> {
    clearInterval(this.#counting);
    await Promise.all(
      Array.from(this.#served.values(), ({ dispatcher }) => dispatcher.stop(graceMs)),
    );
    this.#log.report(performance.now());
  }

  /**
   * Delivers the event again at which the events of an entity are parked. Resolves with whether they were parked, once that is on
   * disk. Rejects with SVC_SHARD_UNAVAILABLE before the consumer runs, and with the errors of the journal.
   */
  retry(consumer: string, entity: EntityRef): Promise<boolean> {
    return this.#carryOut(consumer, ({ orders }) => orders.retry(entity));
  }

  /** Does what `retry` does for RETRIED_AT_ONCE_MAX entities at most. Resolves with whether any were parked, and rejects as `retry` does. */
  retrySome(consumer: string): Promise<boolean> {
    return this.#carryOut(consumer, ({ orders }) => orders.retryFirst(RETRIED_AT_ONCE_MAX));
  }

  /**
   * Settles the event `seq` without handling it, if the events of its entity are parked there. Resolves and rejects as `retry`
   * does.
   */
  skip(consumer: string, entity: EntityRef, seq: number, reason: string): Promise<boolean> {
    return this.#carryOut(consumer, ({ orders }) => orders.skip(entity, seq, reason));
  }

  /** Follows what operators have changed of the stored lanes, by another process. */
  renew(): void {
    for (const { dispatcher } of this.#served.values()) dispatcher.renew();
  }

  async #carryOut(id: string, change: (dispatcher: LaneDispatcher) => boolean): Promise<boolean> {
    const dispatcher = this.#served.get(id)?.dispatcher;
    if (dispatcher === undefined) return false;
    if (!dispatcher.isOpen)
      throw new SvcError(
        'SVC_SHARD_UNAVAILABLE',
        `The consumer '${id}' does not run yet. Try again.`,
      );
    if (!change(dispatcher)) return false;
    await dispatcher.settled();
    return true;
  }

  #dispatcher({ id, start, sources }: ConsumerDescriptor): LaneDispatcher {
    const { consumers, settings, feed, reader, writer, journal, deliver, log } = this.#options;
    const { clock: waitingClock, random = systemRandom() } = this.#options;
    const clock = waitingClock ?? systemClock;
    const reports = new FailureReports(clock, (reason) =>
      this.#write('error', 'a consumer cannot continue', { consumer: id, reason }),
    );
    const about = ({ component, id: entity }: EntityRef, seq: number, reason: string) => ({
      consumer: id,
      component,
      entity,
      seq,
      reason,
    });
    return new LaneDispatcher({
      consumer: { id, start },
      components: new Set(sources),
      feed,
      reader,
      writer,
      journal,
      clock,
      random,
      sleeper: new InterruptibleSleeper(waitingClock && ((...wait) => waitingClock.after(...wait))),
      settings: settingsOfOne(settings, consumers.length),
      async deliver(event, _attempt, round) {
        const { outcome, failure } = await deliver({ consumer: id, event, round });
        if (failure !== undefined) reports.add(new Error(failure));
        return outcome;
      },
      onSkip: (...event) => this.#write('warn', EVENT_SKIPPED, about(...event)),
      // What an operator decides is written in any case.
      onOperatorSkip: (...event) =>
        log({ level: 'warn', message: EVENT_SKIPPED, fields: about(...event) }),
      onPark: (...event) => this.#write('warn', EVENT_PARKED, about(...event)),
      onFailure: (error) => reports.add(withCode(error)),
    });
  }

  #count(): void {
    const { feed } = this.#options;
    for (const { dispatcher, series } of this.#served.values())
      series.counted({
        lagRecords: feed.count(dispatcher.position, feed.end()),
        retrying: dispatcher.retrying,
        parked: dispatcher.parked,
        isStalled: dispatcher.failure !== undefined,
      });
    this.#log.report(performance.now());
  }

  #write(level: 'warn' | 'error', message: string, fields: Record<string, string | number>): void {
    this.#log.write({ level, message, fields }, performance.now());
  }
}

/** A consumer may park or skip many events at once. */
function limitedLog({ log, logLimits }: ServedConsumersOptions): LogRate {
  let writtenBytes = 0;
  const rate = new LogRate(
    logLimits,
    performance.now(),
    (entry) => {
      log(entry);
      writtenBytes += entryBytes(entry);
      rate.written(writtenBytes);
    },
    () => {},
  );
  return rate;
}

function withCode(error: unknown): unknown {
  return error instanceof SvcError ? new Error(`${error.message} [${error.code}]`) : error;
}
