// FoldedState: what a sandboxed guest makes of events, at once: the state, or what kept it from making one. A sandbox answers
// the calls of an entity synchronously, and so does everything here.
import assert from 'node:assert';
import { BatchSizes, EventFold, type FoldProblem, problemOf } from '../engine/entity/event-fold.ts';
import type { Incarnation } from '../engine/entity/incarnation.ts';
import type { GuestEntity } from '../engine/needs/guest.ts';
import type { Awaitable } from '../model/call.ts';
import type { StoredEvent } from '../model/entity.ts';
import { GuestFault } from '../model/guest-fault.ts';

/** What a fold came to. */
export type Folded =
  | { readonly kind: 'state'; readonly state: string }
  | {
      readonly kind: 'problem';
      /** Sequence number of the first event of the batch; undefined where the state cannot be written. */
      readonly seq: number | undefined;
      readonly problem: FoldProblem;
    };
export type Unfolded = Exclude<Folded, { kind: 'state' }>;

/** Events of a batch, again and again in this order. */
export const USUAL: readonly number[] = [128];
export const SINGLE: readonly number[] = [1];
export const UNEVEN: readonly number[] = [2, 3, 5, 8, 13, 21, 34, 55];

/**
 * Folds the events with `afterSeq < seq ≤ lastSeq` into an entity that is in the state after `afterSeq`.
 * Undefined: all of them are folded.
 */
export function foldInto(
  guest: GuestEntity,
  incarnation: Incarnation,
  { afterSeq, lastSeq }: { readonly afterSeq: number; readonly lastSeq: number },
  sizes: readonly number[] = USUAL,
): Unfolded | undefined {
  const fold = new EventFold(guest, afterSeq, new BatchSizes(sizes));
  const stop = atOnce(fold.through(incarnation, lastSeq));
  return stop && { kind: 'problem', seq: fold.seq + 1, problem: problemOf(stop) };
}

/** Folds one event into an entity. `seq`: sequence number of the event. */
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

/** The events of an incarnation up to `lastSeq`, whose pages need no waiting. */
export function* eventsOf(incarnation: Incarnation, lastSeq: number): Generator<StoredEvent> {
  for (let seq = incarnation.afterSeq; seq < lastSeq;) {
    const page = atOnce(incarnation.eventsAfter(seq));
    if (page.length === 0) return;
    yield* page.slice(0, lastSeq - seq);
    seq += page.length;
  }
}

/** A plain value; a promise is an error of the caller. */
export function atOnce<T>(answer: Awaitable<T>): T {
  assert(!(answer instanceof Promise), 'the sandbox answers entities at once');
  return answer;
}
