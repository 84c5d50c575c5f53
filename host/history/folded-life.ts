// FoldedLife: one life of an entity as events to be folded, from wherever they come, and how a guest folds
// some of them: in batches of one size or another, and what came of it.
import assert from 'node:assert';
import type { GuestEntity } from '../engine/needs/guest.ts';
import type { Awaitable } from '../model/call.ts';
import type { EntityRef, StoredEvent } from '../model/entity.ts';
import { GuestFault } from '../model/guest-fault.ts';

export interface FoldedLife {
  readonly entity: EntityRef;
  /** Of its first event, in the entity's history. */
  readonly firstSeq: number;
  readonly count: number;
  /** Those with `from <= index < to`, oldest first. May be asked for again and again. */
  events(from: number, to: number): Iterable<StoredEvent>;
}

/** What a fold came to. `index`: of the event; undefined where the state cannot be written. */
export type Folded =
  | { readonly kind: 'state'; readonly state: string }
  | {
      readonly kind: 'problem';
      readonly index: number | undefined;
      readonly problem: string | GuestFault;
    };

/** How many events are folded at once, again and again in this order. */
export type BatchSizes = readonly number[];

export const USUAL: BatchSizes = [128];
export const SINGLE: BatchSizes = [1];
export const UNEVEN: BatchSizes = [2, 3, 5, 8, 13, 21, 34, 55];
/** UTF-16 units of JSON text after which a batch ends. */
const BATCH_UNITS = 128 * 1024;

export function lifeOf(
  entity: EntityRef,
  events: readonly StoredEvent[],
  firstSeq = 1,
): FoldedLife {
  return {
    entity,
    firstSeq,
    count: events.length,
    events: (from, to) => events.slice(from, to),
  };
}

/** Undefined: all of them are folded. */
export function foldInto(
  guest: GuestEntity,
  life: FoldedLife,
  range: { readonly from: number; readonly to: number },
  sizes: BatchSizes = USUAL,
): Exclude<Folded, { kind: 'state' }> | undefined {
  let index = range.from;
  let batch: StoredEvent[] = [];
  let units = 0;
  let turn = 0;
  const flush = () => {
    const problem = batch.length === 0 ? undefined : attempt(() => guest.apply(batch, undefined));
    if (problem !== undefined) return { kind: 'problem', index, problem } as const;
    index += batch.length;
    batch = [];
    units = 0;
    turn++;
    return undefined;
  };
  for (const event of life.events(range.from, range.to)) {
    batch.push(event);
    units += event.json.length;
    if (batch.length < sizes[turn % sizes.length]! && units < BATCH_UNITS) continue;
    const problem = flush();
    if (problem !== undefined) return problem;
  }
  return flush();
}

export function stateOf(guest: GuestEntity): Folded {
  let state = '';
  const fault = attempt(() => {
    state = atOnce(guest.snapshot());
    return undefined;
  });
  return fault === undefined
    ? { kind: 'state', state }
    : { kind: 'problem', index: undefined, problem: fault };
}

/** A sandbox answers an entity's calls at once: nothing in them may wait. */
export function atOnce<T>(answer: Awaitable<T>): T {
  assert(!(answer instanceof Promise), 'the sandbox answers entities at once');
  return answer;
}

function attempt(call: () => Awaitable<string | undefined>): string | GuestFault | undefined {
  try {
    return atOnce(call());
  } catch (fault) {
    if (!(fault instanceof GuestFault)) throw fault;
    return fault;
  }
}
