// FoldedState folds events with a guest, synchronously, and returns the state or the reason why there is none.
// The guest has to answer the calls to its entities synchronously, as the guests of modules and, for tools, of programs
// do.
import assert from 'node:assert';
import { BatchSizes, EventFold, type FoldProblem, problemOf } from '../engine/entity/event-fold.ts';
import type { Incarnation } from '../engine/entity/incarnation.ts';
import type { GuestEntity } from '@svc/model/guest';
import type { Awaitable } from '@svc/model/call';
import type { StoredEvent } from '@svc/model/entity';
import { GuestFault } from '@svc/model/guest-fault';

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
 * Folds the events with `afterSeq < seq ≤ lastSeq` into an entity that is in the state after `afterSeq`. Returns
 * undefined once all of them are folded.
 */
export function foldInto(
  guest: GuestEntity,
  incarnation: Incarnation,
  { afterSeq, lastSeq }: { readonly afterSeq: number; readonly lastSeq: number },
  sizes: readonly number[] = DEFAULT_BATCHES,
): Unfolded | undefined {
  const fold = new EventFold(guest, afterSeq, new BatchSizes(sizes));
  const stop = atOnce(fold.through(incarnation, lastSeq));
  return stop && { kind: 'problem', seq: fold.seq + 1, problem: problemOf(stop) };
}

/** Folds one event into an entity. Returns undefined if that succeeds. `seq`: sequence number of the event. */
export function foldOne(guest: GuestEntity, seq: number, event: StoredEvent): Unfolded | undefined {
  const stop = atOnce(new EventFold(guest, seq - 1, new BatchSizes(SINGLE)).events([event]));
  return stop && { kind: 'problem', seq, problem: problemOf(stop) };
}

export function stateOf(guest: GuestEntity): Folded {
  try {
    return { kind: 'state', state: atOnce(guest.snapshot()) };
  } catch (fault) {
    if (!(fault instanceof GuestFault)) throw fault;
    return { kind: 'problem', seq: undefined, problem: fault };
  }
}

/** Yields the events of an incarnation up to `lastSeq`. `eventsAfter` has to return its pages synchronously. */
export function* eventsOf(incarnation: Incarnation, lastSeq: number): Generator<StoredEvent> {
  for (let seq = incarnation.afterSeq; seq < lastSeq;) {
    const page = atOnce(incarnation.eventsAfter(seq));
    if (page.length === 0) return;
    yield* page.slice(0, lastSeq - seq);
    seq += page.length;
  }
}

/** Asserts that the value is not a promise. */
export function atOnce<T>(answer: Awaitable<T>): T {
  assert(!(answer instanceof Promise), 'the sandbox answers entities at once');
  return answer;
}
