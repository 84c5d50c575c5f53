// SimulatedConsumer runs the dispatcher of a consumer against a virtual clock and a journal in memory, through crashes that
// lose everything but what was stored, and checks at every instant what the dispatcher promises.
import type { Awaitable } from '../../../model/call.ts';
import type { ConsumerSettings } from '../../../host/consumers/consumer-settings.ts';
import type { DeliveryOutcome } from '../../../host/consumers/delivery.ts';
import { LaneDispatcher } from '../../../host/consumers/lane-dispatcher.ts';
import type { ConsumerSettlement, StoredLane } from '../../../host/engine/needs/consumers.ts';
import type { EntityEvent, EntityRef, JournalRecord } from '../../../model/entity.ts';
import { MemoryJournal } from '../../../host/storage/memory/memory-journal.ts';
import { VirtualSleeper, VirtualTime } from '../timers/virtual-time.ts';

export const CONSUMER = { id: 'ledger', start: 'beginning' } as const;
/** The component whose events the consumer gets. */
const COMPONENT = 'account';

/** How a delivery ends; `rejected`: with an error of the runtime. */
export type Ending = DeliveryOutcome | { readonly kind: 'rejected' };

export interface Behaviour {
  readonly settings: ConsumerSettings;
  readonly start?: 'beginning' | 'now';
  /** Decides about a delivery that begins. */
  readonly next: (event: EntityEvent) => { readonly ending: Ending; readonly tookMs: number };
  /** Whether the journal fails, and how long an access takes. */
  readonly journal: () => { readonly fails: boolean; readonly tookMs: number };
  readonly random: (limit: number) => number;
}

/** The latest attempt of an event. */
interface Attempt {
  readonly life: Life;
  readonly round: number;
  /** Round of the refusals that are stored: the latest in which calls were made again. */
  readonly refusedIn: number;
  hasEnded: boolean;
}

/** The time between two starts of the process. */
interface Life {
  isOver: boolean;
  readonly dispatcher: LaneDispatcher;
  /** Entity → number of the event that is being delivered. */
  readonly inFlight: Map<string, number>;
  /** Entity → number of the last event that was settled. */
  readonly settled: Map<string, number>;
  lastWriteMs: number;
}

export class SimulatedConsumer {
  readonly time = new VirtualTime(Date.UTC(2026, 2, 27, 12));
  readonly journal = new MemoryJournal();
  /** What was broken; a test expects nothing. */
  readonly violations: string[] = [];
  readonly failures: unknown[] = [];
  /** `ID SEQ ATTEMPT` of each delivery. */
  readonly delivered: string[] = [];
  /** Round of each delivery. */
  readonly rounds: number[] = [];
  readonly skipped: string[] = [];
  /** `ID SEQ` of each event at which a lane was parked. */
  readonly parked: string[] = [];
  /** Components whose events the consumer gets from the next life on. */
  sources: readonly string[] = [COMPONENT];
  /** Whether the event loop is blocked, so that an interruption ends no sleep. */
  isBlocked = false;
  /** Whether settlements fail and are stored later, when `commit` is called. */
  isLate = false;
  readonly #late: ConsumerSettlement[] = [];
  #committed = Promise.withResolvers<void>();
  /** Settlements that were stored. */
  writes = 0;
  /** All records of an entity, by its id. */
  readonly records = new Map<string, JournalRecord[]>();
  /** `ID SEQ` of each event that was settled in some life. */
  readonly settled = new Set<string>();
  /** Event → its latest attempt. */
  readonly #attempts = new Map<string, Attempt>();
  readonly #behaviour: Behaviour;
  readonly #order: { readonly id: string; readonly record: JournalRecord }[] = [];
  /** All lives except the present one are over. */
  #life: Life;

  constructor(behaviour: Behaviour) {
    this.#behaviour = behaviour;
    this.#life = this.#begin();
  }

  get dispatcher(): LaneDispatcher {
    return this.#life.dispatcher;
  }

  get lanes(): readonly StoredLane[] {
    return this.journal.consumers.lanes(CONSUMER.id, Infinity);
  }

  get position(): string | undefined {
    return this.journal.consumers.consumer(CONSUMER.id)?.position;
  }

  /** Appends events of an entity, or its deletion. */
  append(id: string, kind: 'event' | 'deleted' = 'event', component = COMPONENT): void {
    const isOurs = component === COMPONENT;
    const key = isOurs ? id : `${component} ${id}`;
    const records = this.records.get(key) ?? [];
    const origin = { seq: records.length + 1, timeMs: this.time.nowMs() };
    const event = { manifest: 'Moved', json: `{"type":"Moved","n":${origin.seq}}` };
    const record: JournalRecord =
      kind === 'event' ? { ...origin, kind, event } : { ...origin, kind };
    if (isOurs) this.records.set(id, [...records, record]);
    else this.records.set(key, [...records, record]);
    this.#order.push({ id: key, record });
    this.journal.append({ component, id }, [record], (failure) => {
      if (failure !== undefined) this.violations.push(failure.message);
    });
  }

  /** Stores the settlements that are late. */
  commit(): void {
    for (const settlement of this.#late.splice(0))
      this.journal.consumers.settle(CONSUMER, settlement);
    this.#committed.resolve();
    this.#committed = Promise.withResolvers();
  }

  /** Ends the process and starts it again. Only what was stored is left. */
  crash(): void {
    this.#life.isOver = true;
    this.#life = this.#begin();
  }

  retry(id: string): boolean {
    return this.dispatcher.orders.retry({ component: COMPONENT, id });
  }

  skip(id: string, seq: number): boolean {
    return this.dispatcher.orders.skip({ component: COMPONENT, id }, seq, 'The operator says so.');
  }

  /** Events of an entity that no life has settled. */
  unsettled(id: string): readonly number[] {
    return (this.records.get(id) ?? [])
      .filter(({ kind, seq }) => kind === 'event' && !this.settled.has(`${id} ${seq}`))
      .map(({ seq }) => seq);
  }

  /** Checks the limits. Call it after each step of the time. */
  check(): void {
    const { inFlight, aheadMax } = this.#behaviour.settings;
    if (this.dispatcher.running > inFlight) this.violations.push(`more than ${inFlight} run`);
    if (this.dispatcher.ahead > aheadMax) this.violations.push(`more than ${aheadMax} are ahead`);
  }

  #begin(): Life {
    const { settings, start = 'beginning', random } = this.#behaviour;
    const isOver = () => life.isOver;
    const sleeper = new VirtualSleeper(this.time, () => 0);
    const onSkip = ({ id }: EntityRef, seq: number) => {
      this.skipped.push(`${id} ${seq}`);
      this.settled.add(`${id} ${seq}`);
    };
    const dispatcher = new LaneDispatcher({
      consumer: { ...CONSUMER, start },
      components: new Set(this.sources),
      feed: this.#feed(isOver),
      journal: {
        // More may be read by the feed until the records are there.
        read: (...page) => this.#readLater(isOver, () => this.journal.read(...page)),
      },
      reader: {
        consumer: (id) => this.#read(isOver, () => this.journal.consumers.consumer(id)),
        lanes: (...page) => this.#read(isOver, () => this.journal.consumers.lanes(...page)),
      },
      writer: {
        settleConsumer: (_, settlement) => this.#store(life, settlement),
        concluded: async () => {
          if (this.#late.length > 0) await this.#committed.promise;
        },
      },
      clock: this.time,
      random: { next64: () => BigInt(random(2 ** 31)) },
      sleeper: {
        interrupt: () => {
          if (!this.isBlocked) sleeper.interrupt();
        },
        sleep: async (ms) => {
          const isSignalled = await sleeper.sleep(ms);
          return isOver() ? new Promise<boolean>(() => {}) : isSignalled;
        },
      },
      settings,
      deliver: (...delivery) => this.#deliver(life, ...delivery),
      onPark: ({ id }, seq) => this.parked.push(`${id} ${seq}`),
      onSkip,
      onOperatorSkip: onSkip,
      onFailure: (error) => this.failures.push(error),
    });
    const life: Life = {
      isOver: false,
      dispatcher,
      inFlight: new Map(),
      settled: new Map(),
      lastWriteMs: -Infinity,
    };
    dispatcher.start();
    return life;
  }

  #feed(isOver: () => boolean) {
    const feed = this.journal.feed();
    return {
      start: feed.start,
      end: () => feed.end(),
      read: (...page: Parameters<typeof feed.read>) => this.#read(isOver, () => feed.read(...page)),
      advancedPast: (position: string) => feed.advancedPast(position),
    };
  }

  /** A read that takes no time gives its answer at once. */
  #read<T>(isOver: () => boolean, read: () => T): Awaitable<T> {
    const { fails, tookMs } = this.#behaviour.journal();
    if (tookMs > 0) return this.#readLater(isOver, read);
    if (fails) throw new Error('The journal cannot be read.');
    return read();
  }

  async #readLater<T>(isOver: () => boolean, read: () => Awaitable<T>): Promise<T> {
    await this.#access(isOver);
    const page = await read();
    // More may be stored until the page is there.
    await this.#access(isOver);
    return page;
  }

  /** Takes as long as the journal does, and fails as it does. What belongs to a life that is over never ends. */
  async #access(isOver: () => boolean): Promise<void> {
    const { fails, tookMs } = this.#behaviour.journal();
    if (tookMs > 0) await this.time.wait(tookMs);
    if (isOver()) await new Promise(() => {});
    if (fails) throw new Error('The journal is not available.');
  }

  async #store(life: Life, settlement: ConsumerSettlement): Promise<void> {
    const { settleMs } = this.#behaviour.settings;
    const sinceMs = this.time.monotonicMs() - life.lastWriteMs;
    // The first write of a life makes the consumer.
    if (sinceMs < settleMs && this.position !== undefined)
      this.violations.push(`a settlement was written ${sinceMs} ms after the one before`);
    life.lastWriteMs = this.time.monotonicMs();
    await this.#access(() => life.isOver);
    if (this.isLate) {
      this.#late.push(settlement);
      throw new Error('The connection was lost.');
    }
    await this.journal.settleConsumer(CONSUMER, settlement);
    this.writes++;
    this.#checkStored();
    // The answer may be lost.
    await this.#access(() => life.isOver);
  }

  /** Checks that no unsettled event is before the stored position, or before a lane. */
  #checkStored(): void {
    const seqs = new Map(this.lanes.map(({ entity, seq }) => [entity.id, seq]));
    const start = this.#behaviour.start === 'now' ? Infinity : 0;
    const position = Number(this.position);
    for (const [index, { id, record }] of this.#order.entries()) {
      const { seq, kind } = record;
      if (kind === 'deleted' || !this.records.has(id) || id.includes(' ')) continue;
      if (this.settled.has(`${id} ${seq}`) || start > index) continue;
      const laneSeq = seqs.get(id);
      if (laneSeq === undefined ? index < position : seq < laneSeq)
        this.violations.push(`${id} ${seq} was skipped by what is stored`);
    }
  }

  async #deliver(
    life: Life,
    event: EntityEvent,
    attempt: number,
    round: number,
  ): Promise<DeliveryOutcome> {
    const { id } = event.entity;
    this.#checkDelivery(life, event, attempt);
    const begun = this.#beginAttempt(life, `${id} ${event.seq}`, round);
    this.delivered.push(`${id} ${event.seq} ${attempt}`);
    this.rounds.push(round);
    life.inFlight.set(id, event.seq);
    const { ending, tookMs } = this.#behaviour.next(event);
    if (tookMs > 0) await this.time.wait(tookMs);
    if (life.isOver) await new Promise(() => {});
    life.inFlight.delete(id);
    begun.hasEnded =
      ending.kind === 'retry' ||
      ending.kind === 'park' ||
      // The last attempt parks the event, so that the next one is asked for by an operator.
      (ending.kind === 'interrupted' && attempt >= this.#behaviour.settings.attemptsMax);
    if (ending.kind === 'rejected') throw new Error('The shard is away.');
    if (ending.kind === 'done' || ending.kind === 'skip') {
      life.settled.set(id, event.seq);
      this.settled.add(`${id} ${event.seq}`);
    }
    return ending;
  }

  /** Checks that calls are made again after a verdict, and repeated without one. */
  #beginAttempt(life: Life, what: string, round: number): Attempt {
    const before = this.#attempts.get(what);
    if (before !== undefined && !before.hasEnded && round > before.refusedIn)
      this.violations.push(`${what} asked again although the attempt before had no verdict`);
    if (before === undefined ? round > 0 : round > before.round + Number(before.hasEnded))
      this.violations.push(`${what} was delivered in round ${round} too early`);
    if (before?.life === life && round !== before.round + Number(before.hasEnded))
      this.violations.push(`${what} was delivered in round ${round} after ${before.round}`);
    const refusedIn = Math.max(round, before?.refusedIn ?? 0);
    const attempt = { life, round, refusedIn, hasEnded: false };
    this.#attempts.set(what, attempt);
    return attempt;
  }

  #checkDelivery(life: Life, { entity, seq }: EntityEvent, attempt: number): void {
    const { inFlight, attemptsMax, parkedMax } = this.#behaviour.settings;
    const { id }: EntityRef = entity;
    const what = `${id} ${seq}`;
    if (life.isOver) this.violations.push(`${what} was delivered by a process that has ended`);
    if (life.inFlight.has(id)) this.violations.push(`${id} got two events at once`);
    if (life.inFlight.size >= inFlight) this.violations.push(`more than ${inFlight} in flight`);
    if (attempt > attemptsMax) this.violations.push(`${what} was tried too often`);
    if (life.dispatcher.parked > parkedMax)
      this.violations.push(`${what} was delivered although the consumer has stopped`);
    const [first] = this.unsettled(id);
    if (first !== undefined && first < seq)
      this.violations.push(`${what} was delivered before ${first} was settled`);
    if (seq <= (life.settled.get(id) ?? 0))
      this.violations.push(`${what} was delivered again without a crash`);
  }
}
