// FoldedState folds events with a guest, and comes to the state or the reason why there is none.
import { BatchSizes, EventFold, type FoldProblem, problemOf } from '../engine/entity/event-fold.ts';
import type { Incarnation } from '../engine/entity/incarnation.ts';
import type { GuestEntity } from '@svc/model/guest';
import type { StoredEvent } from '@svc/model/entity';
import { GuestFault } from '@svc/model/guest-fault';
import { answered, type Steps } from './steps.ts';

/** Result of a fold. */
export type Folded =
  | { readonly kind: 'state'; readonly state: string }
  | {
      readonly kind: 'problem';
      /**
       * Sequence number of the first event of the failed batch; undefined if the entity cannot be opened or its state
       * cannot be encoded.
       */
      readonly seq: number | undefined;
      readonly problem: FoldProblem;
    };
/** Reason why a fold failed. */
export type Unfolded = Exclude<Folded, { kind: 'state' }>;

/** Numbers of events in successive batches. After the last number, the fold continues with the first. */
export const DEFAULT_BATCHES: readonly number[] = [128];
export const SINGLE: readonly number[] = [1];
export const UNEVEN: readonly number[] = [2, 3, 5, 8, 13, 21, 34, 55];

/**
 * Folds the events with `afterSeq < seq ≤ lastSeq` into an entity that is in the state after `afterSeq`. Comes to
 * undefined once all of them are folded.
 */
export function* foldInto(
  guest: GuestEntity,
  incarnation: Incarnation,
  { afterSeq, lastSeq }: { readonly afterSeq: number; readonly lastSeq: number },
  sizes: readonly number[] = DEFAULT_BATCHES,
): Steps<Unfolded | undefined> {
  const fold = new EventFold(guest, afterSeq, new BatchSizes(sizes));
  const stop = yield* answered(fold.through(incarnation, lastSeq));
  return stop && { kind: 'problem', seq: fold.seq + 1, problem: problemOf(stop) };
}

/** Folds one event into an entity. Comes to undefined if that succeeds. `seq`: sequence number of the event. */
export function* foldOne(
  guest: GuestEntity,
  seq: number,
  event: StoredEvent,
): Steps<Unfolded | undefined> {
  const fold = new EventFold(guest, seq - 1, new BatchSizes(SINGLE));
  const stop = yield* answered(fold.events([event]));
  return stop && { kind: 'problem', seq, problem: problemOf(stop) };
}

export function* stateOf(guest: GuestEntity): Steps<Folded> {
  try {
    return { kind: 'state', state: yield* answered(guest.snapshot()) };
  } catch (fault) {
    if (!(fault instanceof GuestFault)) throw fault;
    return { kind: 'problem', seq: undefined, problem: fault };
  }
}

/** Comes to the events of an incarnation up to `lastSeq`. */
export function* eventsOf(
  incarnation: Incarnation,
  lastSeq: number,
): Steps<readonly StoredEvent[]> {
  const events: StoredEvent[] = [];
  for (let seq = incarnation.afterSeq; seq < lastSeq;) {
    const page = yield* answered(incarnation.eventsAfter(seq));
    if (page.length === 0) break;
    events.push(...page.slice(0, lastSeq - seq));
    seq += page.length;
  }
  return events;
}
