// LocatingFold folds one incarnation of an entity with one module, page by page from its first event. When a batch
// fails, its events are folded again one by one, in another instance, to locate the event that the module cannot
// fold. After a fault it folds nothing more.
import {
  BatchSizes,
  EventFold,
  type FoldProblem,
  type FoldStop,
  problemOf,
} from '../engine/entity/event-fold.ts';
import type { Incarnation } from '../engine/entity/incarnation.ts';
import type { GuestEntities } from '@svc/model/guest';
import type { Awaitable } from '@svc/model/call';
import type { StoredEvent } from '@svc/model/entity';
import { GuestFault } from '@svc/model/guest-fault';
import { faultLine } from './fault-line.ts';

export interface SequencedEvent {
  readonly seq: number;
  readonly event: StoredEvent;
}

export type FoldFault = {
  /** Either the codec refused the event, or the module's code faulted. */
  readonly kind: 'refused' | 'trapped';
  /** The event; undefined if the fault was before the first event or after the last one, or was not located. */
  readonly at: SequencedEvent | undefined;
  readonly problem: string;
};

/** Sizes of successive batches, in events. */
const BATCH_EVENTS = [512];

export interface FoldNeeds {
  readonly entities: GuestEntities;
  /** The events, which are read again to locate the one that failed. */
  readonly incarnation: Incarnation;
  /** Returns whether to locate the event at which the module's code faulted. Called before each of two attempts. */
  mayLocate(): boolean;
}

interface Failure {
  readonly problem: FoldProblem;
  /** True if the entity could not be opened. */
  readonly isOpening: boolean;
  /** The batch of events that failed; empty if the entity could not be opened. */
  readonly batch: readonly StoredEvent[];
}

export class LocatingFold {
  readonly #needs: FoldNeeds;
  #fold: EventFold | undefined;
  #fault: FoldFault | undefined;

  constructor(needs: FoldNeeds) {
    this.#needs = needs;
  }

  get fault(): FoldFault | undefined {
    return this.#fault;
  }

  /** Folds the next events of the incarnation. */
  async events(events: readonly StoredEvent[]): Promise<void> {
    if (this.#fault !== undefined) return;
    const { afterSeq } = this.#needs.incarnation;
    const lastSeq = (this.#fold?.seq ?? afterSeq) + events.length;
    const failure = await this.#folded((fold) => fold.events(events));
    if (failure === undefined) return;
    if (this.#fold === undefined) {
      this.#fault = faultOf(undefined, failure);
      return;
    }
    const foldedSeq = this.#fold.seq;
    // First fold only the failed batch event by event. If an earlier batch fails then, fold all events one by one.
    for (const singlyAfter of [foldedSeq, afterSeq]) {
      if (failure.problem instanceof GuestFault && !this.#needs.mayLocate()) break;
      if (await this.#refolded(singlyAfter, lastSeq)) return;
    }
    this.#fault ??= faultOf(undefined, failure);
  }

  /** Returns the state as JSON text; undefined after a fault. */
  async state(): Promise<string | undefined> {
    if (this.#fault !== undefined) return undefined;
    try {
      this.#fold ??= await this.#opened(false, Infinity);
      return await this.#fold.guest.snapshot();
    } catch (error) {
      if (!(error instanceof GuestFault)) throw error;
      const isOpening = this.#fold === undefined;
      this.#fault = faultOf(undefined, { problem: error, isOpening });
      return undefined;
    }
  }

  close(): void {
    this.#fold?.guest.close();
    this.#fold = undefined;
  }

  /**
   * Folds all events up to `lastSeq` again, those after `singlyAfter` one by one. Returns true if that succeeded or the
   * failing event was located.
   */
  async #refolded(singlyAfter: number, lastSeq: number): Promise<boolean> {
    this.close();
    const { incarnation } = this.#needs;
    const run = (fold: EventFold) => fold.through(incarnation, lastSeq);
    const failure = await this.#folded(run, true, singlyAfter);
    if (failure === undefined) return true;
    const seq = this.#fold?.seq ?? incarnation.afterSeq;
    if (seq < singlyAfter) return false;
    const event = failure.batch[0];
    this.#fault = faultOf(event && { seq: seq + 1, event }, failure);
    this.close();
    return true;
  }

  /**
   * Folds with the current instance, or opens one first. Returns the failure; undefined if everything was folded.
   * `alone`: as for `GuestEntities.open`. `singlyAfter`: events after this record are folded one by one.
   */
  async #folded(
    run: (fold: EventFold) => Awaitable<FoldStop | undefined>,
    alone = false,
    singlyAfter = Infinity,
  ): Promise<Failure | undefined> {
    try {
      this.#fold ??= await this.#opened(alone, singlyAfter);
    } catch (fault) {
      if (!(fault instanceof GuestFault)) throw fault;
      return { problem: fault, isOpening: true, batch: [] };
    }
    const stop = await run(this.#fold);
    if (stop === undefined) return undefined;
    return { problem: problemOf(stop), isOpening: false, batch: stop.batch };
  }

  async #opened(alone: boolean, singlyAfter: number): Promise<EventFold> {
    const { entities, incarnation } = this.#needs;
    const { entity, afterSeq } = incarnation;
    const guest = await entities.open(entity, undefined, alone);
    return new EventFold(guest, afterSeq, new BatchSizes(BATCH_EVENTS, singlyAfter));
  }
}

function faultOf(
  at: SequencedEvent | undefined,
  { problem, isOpening }: Pick<Failure, 'problem' | 'isOpening'>,
): FoldFault {
  if (typeof problem === 'string')
    // The position within a batch of one is meaningless.
    return { kind: 'refused', at, problem: problem.replace(/^event 1 of 1: /, '') };
  const { message } = problem;
  const line = faultLine(problem);
  const where = isOpening ? 'it cannot be opened: ' : '';
  const words = line === undefined ? '' : ` ${line}`;
  return { kind: 'trapped', at, problem: `${where}${message}${words}` };
}
