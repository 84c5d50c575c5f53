// EventFold is the loop that folds events into one guest entity, batch after batch. Everything that folds uses it: replay, the
// refold check, history, the upgrade check and verification.
//
// Invariants
// F1  A batch has at least one event, at most as many as its pacing allows, and none after the event with which its JSON text
//     reaches BATCH_UNITS.
// F2  `seq` is the last event that was folded. After a stop, nothing of the batch that stopped it counts.
// F3  The fold stays synchronous as long as the guest, the pages and the pacing do, and holds one page at a time.
import type { Awaitable } from '@svc/model/call';
import type { StoredEvent } from '@svc/model/entity';
import { GuestFault } from '@svc/model/guest-fault';
import type { GuestEntity } from '@svc/model/guest';
import type { Incarnation } from './incarnation.ts';

/** UTF-16 units of JSON text after which a batch ends, so that large events are folded a few at a time. */
const BATCH_UNITS = 128 * 1024;

/** Decides how large batches are, and when the fold yields to the event loop or ends. */
export interface FoldPacing {
  /** The largest number of events of the next batch, 1 or more. `seq`: sequence number of the last event that was folded. */
  eventsAtOnce(seq: number): number;
  /** Resolves when the next batch may begin; undefined: at once. A rejection ends the fold, which rejects with it. */
  pause(): Promise<void> | undefined;
  /** Called when the guest is about to fold a batch. */
  begin(): void;
  /** Called when the guest has folded the batch, or failed to. Returns whether the fold may go on. */
  end(batch: readonly StoredEvent[], isFolded: boolean): boolean;
}

/** Why a fold stopped before its end. `batch`: the events of the next batch, which do not count as folded. */
export type FoldStop =
  /** The batch could not be folded as a whole. */
  | {
      readonly kind: 'problem';
      readonly batch: readonly StoredEvent[];
      readonly problem: FoldProblem;
    }
  /** The fault of another entity destroyed the instance while the fold was waiting, before this batch. */
  | { readonly kind: 'lost'; readonly batch: readonly StoredEvent[] }
  /** The pacing ended the fold after a batch. */
  | { readonly kind: 'ended'; readonly batch: readonly [] };

/** The guest's message about an event that it cannot decode, or its fault. */
export type FoldProblem = string | GuestFault;

export class EventFold {
  readonly guest: GuestEntity;
  readonly #pacing: FoldPacing;
  #seq: number;
  #page: readonly StoredEvent[] = [];
  /** Index in the page of the next event. */
  #next = 0;
  #isAtEnd = false;

  /** `guest`: an entity in the state after the record `afterSeq`. */
  constructor(guest: GuestEntity, afterSeq: number, pacing: FoldPacing) {
    this.guest = guest;
    this.#seq = afterSeq;
    this.#pacing = pacing;
  }

  get seq(): number {
    return this.#seq;
  }

  /**
   * Folds the events of an incarnation that follow `seq`, up to the event `lastSeq` or to its end. Returns why the
   * fold stopped before; undefined if it did not. Throws, or rejects, as `eventsAfter` does, and rejects as the `pause`
   * of the pacing does.
   */
  through(
    incarnation: Incarnation,
    lastSeq = incarnation.lastSeq,
  ): Awaitable<FoldStop | undefined> {
    return this.#fold([], lastSeq, incarnation);
  }

  /**
   * Folds events that follow `seq` directly. Returns why the fold stopped before the last of them; undefined if not.
   */
  events(events: readonly StoredEvent[]): Awaitable<FoldStop | undefined> {
    return this.#fold(events, this.#seq + events.length, undefined);
  }

  #fold(
    page: readonly StoredEvent[],
    lastSeq: number,
    incarnation: Incarnation | undefined,
  ): Awaitable<FoldStop | undefined> {
    this.#openPage(page);
    this.#isAtEnd = false;
    const stop = this.#run(lastSeq, incarnation);
    return stop instanceof Promise ? this.#resume(stop, lastSeq, incarnation) : stop;
  }

  /** Continues after each wait. It is a loop, so that a long fold does not build a chain of promises in memory. */
  async #resume(
    first: Promise<FoldStop | undefined>,
    lastSeq: number,
    incarnation: Incarnation | undefined,
  ): Promise<FoldStop | undefined> {
    for (let waiting = first; ;) {
      const stop = (await waiting) ?? this.#run(lastSeq, incarnation);
      if (!(stop instanceof Promise)) return stop;
      waiting = stop;
    }
  }

  /** Folds until a wait, a stop, or the end. Call it again after a wait without a stop. */
  #run(lastSeq: number, incarnation: Incarnation | undefined): Awaitable<FoldStop | undefined> {
    while (this.#seq < lastSeq && !this.#isAtEnd) {
      if (this.#next === this.#page.length) {
        const page = incarnation?.eventsAfter(this.#seq) ?? [];
        if (page instanceof Promise) return page.then((later) => this.#openPage(later));
        this.#openPage(page);
        continue;
      }
      const pause = this.#pacing.pause();
      if (pause !== undefined) return pause.then(() => this.#batch(lastSeq));
      const stop = this.#batch(lastSeq);
      if (stop !== undefined) return stop;
    }
    return undefined;
  }

  #openPage(page: readonly StoredEvent[]): undefined {
    this.#page = page;
    this.#next = 0;
    this.#isAtEnd = page.length === 0;
  }

  #batch(lastSeq: number): Awaitable<FoldStop | undefined> {
    const pacing = this.#pacing;
    const count = Math.min(pacing.eventsAtOnce(this.#seq), lastSeq - this.#seq);
    const batch = batchOf(this.#page, this.#next, count);
    if (this.guest.lost) return { kind: 'lost', batch };
    pacing.begin();
    const problem = applied(this.guest, batch);
    return problem instanceof Promise
      ? problem.then((later) => this.#settle(batch, later))
      : this.#settle(batch, problem);
  }

  #settle(batch: readonly StoredEvent[], problem: FoldProblem | undefined): FoldStop | undefined {
    const isFolded = problem === undefined;
    const goesOn = this.#pacing.end(batch, isFolded);
    if (!isFolded) return { kind: 'problem', batch, problem };
    this.#seq += batch.length;
    this.#next += batch.length;
    return goesOn ? undefined : { kind: 'ended', batch: [] };
  }
}

function batchOf(
  events: readonly StoredEvent[],
  from: number,
  count: number,
): readonly StoredEvent[] {
  const end = Math.min(events.length, from + count);
  let until = from;
  for (let units = 0; until < end && units < BATCH_UNITS; until++)
    units += events[until]!.json.length;
  return until - from === events.length ? events : events.slice(from, until);
}

function applied(
  guest: GuestEntity,
  batch: readonly StoredEvent[],
): Awaitable<FoldProblem | undefined> {
  try {
    const problem = guest.apply(batch, undefined);
    return problem instanceof Promise ? problem.catch(guestFault) : problem;
  } catch (fault) {
    return guestFault(fault);
  }
}

/** Returns a fault of the guest, and throws anything else. */
function guestFault(fault: unknown): GuestFault {
  if (fault instanceof GuestFault) return fault;
  throw fault;
}

/** Returns the problem behind a stop. The fold must be alone in its instance, and its pacing must never end it. */
export function problemOf(stop: FoldStop): FoldProblem {
  return stop.kind === 'problem'
    ? stop.problem
    : new GuestFault('trap', 'the instance of the entity was lost');
}

/** A pacing that only sets the size of batches, for folds that need not yield to the event loop. */
export class BatchSizes implements FoldPacing {
  readonly #sizes: readonly number[];
  readonly #singlyAfter: number;
  #count = 0;

  /**
   * `sizes`: most events of each batch, repeated in this order. Events after the record `singlyAfter` are folded one by
   * one.
   */
  constructor(sizes: readonly number[], singlyAfter = Infinity) {
    this.#sizes = sizes;
    this.#singlyAfter = singlyAfter;
  }

  eventsAtOnce(seq: number): number {
    return seq >= this.#singlyAfter ? 1 : this.#sizes[this.#count % this.#sizes.length]!;
  }

  pause(): undefined {
    return undefined;
  }

  begin(): void {
    this.#count++;
  }

  end(): boolean {
    return true;
  }
}
