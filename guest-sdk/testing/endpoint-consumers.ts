// EndpointConsumers: delivers the stored events of a test to the consumers of the module, in the order in which the runtime
// promises them: those of one entity one after the other, and each again until it is settled or parked. An event that waits
// for another attempt lets the time of the test pass.
import {
  CONSUMER_SETTINGS_DEFAULT,
  type DeliveredEvent,
  type DeliveryOutcome,
  type EntityRef,
  type HandleEvent,
  type MemoryJournal,
  deliverEvent,
  deliveredEvent,
} from '@svc/host/tools';
import type { ConsumerDescriptor } from '@svc/contract';
import { type StackStart, TestFailure } from './test-failure.ts';

/** An event that a consumer has handled, or at which the events of its entity are parked. */
export interface HandledEvent {
  /** Id of the consumer. */
  readonly consumer: string;
  /** The entity that the event belongs to. */
  readonly component: string;
  readonly id: string;
  /** Number of the event in the history of its entity. */
  readonly seq: number;
  /**
   * `parked`: the consumer has refused the event, has faulted, or has asked for more attempts than the settings allow. The
   * later events of the entity wait.
   */
  readonly outcome: 'done' | 'skipped' | 'parked';
  /** The number of attempts. */
  readonly attempts: number;
  /** Why the event is skipped or parked. */
  readonly reason?: string;
}

/** Events of an entity that a consumer has not handled yet. */
interface Lane {
  readonly events: DeliveredEvent[];
  /** Attempts that the first event has had. */
  attempts: number;
  /** Attempts of the first event that have ended by a verdict. */
  round: number;
  /** When the first event is delivered, in milliseconds since 1970. */
  nextMs: number;
  isParked: boolean;
}

interface Following {
  readonly consumer: ConsumerDescriptor;
  readonly sources: ReadonlySet<string>;
  /** By entity, in the order of their first events. */
  readonly lanes: Map<string, Lane>;
  position: string;
}

interface EndpointConsumersNeeds {
  readonly consumers: readonly ConsumerDescriptor[];
  readonly journal: MemoryJournal;
  readonly handle: HandleEvent;
  readonly clock: { nowMs(): number };
  /** Lets time pass until a moment, in milliseconds since 1970, and fires the timers that become due. */
  readonly passUntil: (timeMs: number, stackStart: StackStart) => Promise<void>;
}

/** Most deliveries of one `drain`: a consumer whose calls lead to further events for it would go on for ever. */
const DELIVERIES_MAX = 10_000;
const PAGE = 1_000;

export class EndpointConsumers {
  readonly #needs: EndpointConsumersNeeds;
  readonly #following: readonly Following[];

  constructor(needs: EndpointConsumersNeeds) {
    this.#needs = needs;
    this.#following = needs.consumers.map((consumer) => ({
      consumer,
      sources: new Set(consumer.sources),
      lanes: new Map<string, Lane>(),
      position: needs.journal.positions.start,
    }));
  }

  /** Delivers events until none is left but those that are parked or behind a parked one. */
  async drain(stackStart: StackStart): Promise<readonly HandledEvent[]> {
    const handled: HandledEvent[] = [];
    for (let deliveries = 0; ;) {
      this.#read();
      const next = this.#next();
      if (next === undefined) return handled;
      const { following, lane } = next;
      if (lane.nextMs > this.#needs.clock.nowMs()) {
        await this.#needs.passUntil(lane.nextMs, stackStart);
        continue;
      }
      if (++deliveries > DELIVERIES_MAX)
        throw new TestFailure(
          `${DELIVERIES_MAX} events were delivered in one drain, the last one to consumer '${following.consumer.id}'. ` +
            'Look for a consumer whose calls store events that it gets again.',
          stackStart,
        );
      const end = await this.#deliver(following.consumer.id, lane);
      if (end !== undefined) handled.push(end);
    }
  }

  /** Adds the events to the lanes that were stored since the last time. */
  #read(): void {
    const feed = this.#needs.journal.feed();
    for (const following of this.#following)
      while (following.position !== feed.end()) {
        const page = feed.read(following.position, PAGE, following.sources);
        following.position = page.position;
        for (const { entity, record } of page.records)
          if (record.kind === 'event')
            laneOf(following.lanes, entity).events.push(deliveredEvent(entity, record));
      }
    feed.close();
  }

  /** Returns the lane whose first event is delivered next: the one whose time comes first. */
  #next(): { readonly following: Following; readonly lane: Lane } | undefined {
    return this.#following
      .flatMap((following) => [...following.lanes.values()].map((lane) => ({ following, lane })))
      .filter(({ lane }) => lane.events.length > 0 && !lane.isParked)
      .reduce<{ readonly following: Following; readonly lane: Lane } | undefined>(
        (first, one) => (first !== undefined && first.lane.nextMs <= one.lane.nextMs ? first : one),
        undefined,
      );
  }

  /** Delivers the first event of a lane; returns undefined if it is delivered again. */
  async #deliver(consumer: string, lane: Lane): Promise<HandledEvent | undefined> {
    const event = lane.events[0]!;
    lane.attempts++;
    const { outcome } = await deliverEvent(
      this.#needs.handle,
      { consumer, event, round: lane.round },
      NO_LOG,
    );
    const ended = endOf(outcome, lane.attempts);
    if ('pauseMs' in ended) {
      if (outcome.kind === 'retry') lane.round++;
      lane.nextMs = this.#needs.clock.nowMs() + ended.pauseMs;
      return undefined;
    }
    const { attempts } = lane;
    if (ended.outcome === 'parked') lane.isParked = true;
    else {
      lane.events.shift();
      lane.attempts = 0;
      lane.round = 0;
      lane.nextMs = 0;
    }
    return { consumer, ...event.entity, seq: event.seq, attempts, ...ended };
  }
}

const NO_LOG = { write: () => {}, faults: { fields: () => ({}) } };

function laneOf(lanes: Map<string, Lane>, { component, id }: EntityRef): Lane {
  const key = `${component}\n${id}`;
  const lane = lanes.get(key) ?? { events: [], attempts: 0, round: 0, nextMs: 0, isParked: false };
  lanes.set(key, lane);
  return lane;
}

/** Returns how an attempt ended, or the pause until the next one: the longest that the runtime would make. */
function endOf(
  outcome: DeliveryOutcome,
  attempts: number,
): Pick<HandledEvent, 'outcome' | 'reason'> | { readonly pauseMs: number } {
  const { attemptsMax, retryPauseMs, retryPauseMaxMs } = CONSUMER_SETTINGS_DEFAULT;
  const pauseMs = Math.min(retryPauseMs * 2 ** (attempts - 1), retryPauseMaxMs);
  const askedMs = outcome.kind === 'retry' ? outcome.afterMs : undefined;
  switch (outcome.kind) {
    case 'done':
      return { outcome: 'done' };
    case 'skip':
      return { outcome: 'skipped', reason: outcome.reason };
    case 'park':
      return { outcome: 'parked', reason: outcome.reason };
    case 'unavailable':
      return attempts < attemptsMax ? { pauseMs } : { outcome: 'parked', reason: UNAVAILABLE };
    case 'retry':
    case 'interrupted':
      return attempts < attemptsMax
        ? { pauseMs: askedMs ?? pauseMs }
        : { outcome: 'parked', reason: outcome.reason };
  }
}

const UNAVAILABLE =
  'A call was unavailable at each attempt. The runtime tries such an event again for ever.';
