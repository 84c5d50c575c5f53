// ProcessConsumers are the consumers of an embedded service: events are delivered to them in the thread of the program.
import type { ConsumerDescriptor } from '@svc/contract';
import type { ConsumerSettings } from '../consumers/consumer-settings.ts';
import type { RandomSource, ServiceClock } from '../engine/needs/clock.ts';
import type { Feed } from '../engine/needs/feed.ts';
import { type ConsumerCounts, ConsumerSeries } from '@svc/model/consumer-series';
import type { EntityRef } from '@svc/model/entity';
import type { Log } from '@svc/kit/log';
import type { LogLimits } from '@svc/kit/log-limits';
import type { EmbeddedStorage } from './embedded-storage.ts';
import type { Delivery, DeliveryAnswer } from './event-delivery.ts';
import { ServedConsumers } from './served-consumers.ts';

export interface ProcessConsumersNeeds {
  readonly consumers: readonly ConsumerDescriptor[];
  readonly settings: ConsumerSettings;
  readonly log: Log;
  readonly logLimits: LogLimits;
  /** Absent: the machine's, as are the random numbers. */
  readonly clock?: ServiceClock | undefined;
  readonly random?: RandomSource | undefined;
}

export class ProcessConsumers {
  readonly #needs: ProcessConsumersNeeds;
  readonly #series: ReadonlyMap<string, ConsumerSeries>;
  #served: ServedConsumers | undefined;
  #feed: Feed | undefined;
  #close: (() => void) | undefined;

  constructor(needs: ProcessConsumersNeeds) {
    this.#needs = needs;
    this.#series = new Map(needs.consumers.map(({ id }) => [id, new ConsumerSeries()]));
  }

  /** Returns the counts of each consumer. */
  read(): readonly (ConsumerCounts & { readonly consumer: string })[] {
    return Array.from(this.#series, ([consumer, series]) => ({ consumer, ...series.read() }));
  }

  /** Delivers events from now on. The journal of `storage` is open. */
  async begin(
    storage: Pick<EmbeddedStorage, 'consumers' | 'feed'>,
    deliver: (delivery: Delivery) => Promise<DeliveryAnswer>,
  ): Promise<void> {
    const { consumers, settings, log, logLimits, clock, random } = this.#needs;
    if (consumers.length === 0) return;
    const { state, writer, onWork } = await storage.consumers();
    const feed = await storage.feed();
    this.#feed = feed;
    this.#close = () => state.close();
    this.#served = new ServedConsumers({
      consumers,
      settings,
      feed,
      reader: state,
      writer,
      journal: state,
      deliver,
      seriesOf: (id) => this.#series.get(id)!,
      log,
      logLimits,
      clock,
      random,
    });
    this.#served.start();
    onWork(() => this.#served?.renew());
  }

  /** Delivers the event again at which the events of an entity are parked. Resolves with whether they were. */
  async retry(consumer: string, entity: EntityRef): Promise<boolean> {
    return this.#served?.retry(consumer, entity) ?? false;
  }

  /** Does what `retry` does for the entities that have been parked for the longest time, of which there may be more. */
  async retrySome(consumer: string): Promise<boolean> {
    return this.#served?.retrySome(consumer) ?? false;
  }

  /** Settles the event `seq` without handling it, if the events of its entity are parked there. Resolves with whether they were. */
  async skip(consumer: string, entity: EntityRef, seq: number, reason: string): Promise<boolean> {
    return this.#served?.skip(consumer, entity, seq, reason) ?? false;
  }

  /** Delivers no further event, and waits for those in flight, at most `graceMs`. */
  async stop(graceMs: number): Promise<void> {
    await this.#served?.stop(graceMs);
    this.#feed?.close();
    this.#close?.();
  }
}
