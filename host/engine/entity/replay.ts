// Replay loads an entity into memory. It folds the current incarnation from the journal into a new guest entity, or
// begins with a snapshot and folds the events that follow. It reads only what is on disk, so no append of the entity
// may be under way. When a batch of several events fails, the replay begins again, and folds these events and all later
// ones one by one: the batch may have been too large for the guest, or one of its events cannot be folded.
//
// Invariants
// R1  Between two batches it yields to the event loop whenever the FoldBudget is spent, and a batch that took
//     long makes the next one smaller. A single call of the guest is bounded by the guest's own limits.
// R2  After the batch in which `replayTimeoutMs` runs out, no further batch is folded.
// R3  When the fault of another entity destroys the instance, the replay begins again, in an instance of its own.
// R4  A snapshot is never needed: when a replay that began with a snapshot faults, it begins again without it.
import type { Awaitable } from '@svc/model/call';
import type { EntityRef, StoredEvent } from '@svc/model/entity';
import { GuestFault } from '@svc/model/guest-fault';
import type { SvcError } from '@svc/kit/svc-error';
import type { EngineLimits } from '../engine-limits.ts';
import type { GuestEntities, GuestEntity } from '@svc/model/guest';
import { eventFault, explained } from './event-fault.ts';
import { EventFold, type FoldPacing, type FoldStop } from './event-fold.ts';
import type { FoldBudget } from './fold-budget.ts';
import { entityName } from './history.ts';
import type { Incarnation } from './incarnation.ts';
import { type Growth, type SnapshotPolicy, stateBytes } from './snapshot-policy.ts';
import { appendBytes } from './unsettled-bytes.ts';

/** The number of events of the first batch. Quick batches make the next ones larger. */
const BATCH_EVENTS = 128;
const BATCH_EVENTS_MAX = 1_000;
/** A batch that takes longer, in milliseconds, makes the next one smaller. */
const BATCH_MS = 5;
/** How often, at most, a replay begins again after a batch that failed as a whole. */
const BATCH_FAILURES_MAX = 2;
/** How often, at most, a replay begins again after its instance was destroyed. */
const LOST_MAX = 10;

export interface ReplayNeeds {
  readonly entities: GuestEntities;
  /**
   * Returns the current incarnation, with the snapshot of this fingerprint if there is one. Throws, or rejects with,
   * SVC_JOURNAL_….
   */
  readonly incarnation: (
    entity: EntityRef,
    fingerprint: string | undefined,
  ) => Awaitable<Incarnation>;
  readonly foldBudget: FoldBudget;
  readonly limits: Pick<EngineLimits, 'replayTimeoutMs'>;
  /** Undefined: the state is folded from the journal alone. */
  readonly snapshots?:
    | Pick<SnapshotPolicy, 'fingerprintFor' | 'restored' | 'restoreFailed'>
    | undefined;
  /** Called when an entity was loaded into memory. */
  readonly activated?: (how: Activation) => void;
}

/** How an entity was loaded: without an event, from a snapshot and the later events, or from all its events. */
export type Activation = 'empty' | 'snapshot' | 'folded';

export type Replay =
  /** `seq`: sequence number of the last record that the state includes, 0 when there is none. */
  | {
      readonly kind: 'folded';
      readonly guest: GuestEntity;
      readonly seq: number;
      readonly growth: Growth;
    }
  /** The module cannot fold the entity. The fault names the event where it is known. */
  | { readonly kind: 'faulted'; readonly fault: GuestFault | SvcError };

type Fold =
  | Replay
  /**
   * A batch of several events failed as a whole: which event failed is not known, and a limit of one call may have been
   * the cause.
   */
  | {
      readonly kind: 'batch failed';
      readonly afterSeq: number;
      readonly fault: GuestFault | SvcError;
    }
  | { readonly kind: 'lost' };

/**
 * Replays an entity. `alone`: in an instance of its own, because it has faulted before. `lastSeq`: the last record that is
 * folded. An incarnation that began after that record has no event up to it: then the replay ends with the empty state, and a
 * larger `seq`. Rejects with SvcError SVC_JOURNAL_…, with SVC_STOPPING once folds are cancelled, and with a GuestFault that
 * other entities may have caused.
 */
export async function replay(
  needs: ReplayNeeds,
  entity: EntityRef,
  alone: boolean,
  lastSeq = Infinity,
): Promise<Replay> {
  const attempt: Attempt = {
    alone,
    lastSeq,
    fingerprint: needs.snapshots?.fingerprintFor(entity),
    beganWithSnapshot: false,
    singlyAfter: Infinity,
    leftMs: needs.limits.replayTimeoutMs,
  };
  let snapshotFault: Error | undefined;
  for (let batchFailures = 0, losses = 0; ;) {
    const folded = await fold(needs, entity, attempt);
    if (folded.kind === 'folded') {
      if (attempt.beganWithSnapshot) needs.snapshots?.restored(entity);
      if (snapshotFault !== undefined) needs.snapshots?.restoreFailed(entity, snapshotFault);
      if (attempt.beganWithSnapshot) needs.activated?.('snapshot');
      else needs.activated?.(folded.growth.events === 0 ? 'empty' : 'folded');
      return folded;
    }
    if (folded.kind === 'lost') {
      if (++losses > LOST_MAX) throw lost(entity);
    } else if (attempt.beganWithSnapshot) {
      snapshotFault = folded.fault;
      attempt.fingerprint = undefined;
    } else if (folded.kind === 'batch failed') {
      if (++batchFailures > BATCH_FAILURES_MAX) return { kind: 'faulted', fault: folded.fault };
      attempt.singlyAfter = folded.afterSeq;
    } else return folded;
    // The same fault would destroy a shared instance again, together with the other entities in it.
    attempt.alone = true;
  }
}

interface Attempt {
  alone: boolean;
  readonly lastSeq: number;
  /** Fingerprint of the snapshot with which the attempt may begin; undefined: it folds all events. */
  fingerprint: string | undefined;
  beganWithSnapshot: boolean;
  /** Sequence number of the event after which events are folded one by one; Infinity: never. */
  singlyAfter: number;
  /**
   * The rest of `replayTimeoutMs`, in milliseconds, for this and all further attempts; negative once it has run out.
   */
  leftMs: number;
}

async function fold(needs: ReplayNeeds, entity: EntityRef, attempt: Attempt): Promise<Fold> {
  const incarnation = await needs.incarnation(entity, attempt.fingerprint);
  const { afterSeq, snapshot } = incarnation;
  attempt.beganWithSnapshot = snapshot !== undefined;
  let guest: GuestEntity;
  try {
    guest = await needs.entities.open(entity, snapshot, attempt.alone);
  } catch (fault) {
    // Other entities may have used up the memory.
    if (!(fault instanceof GuestFault) || fault.faultCause === 'memory') throw fault;
    return { kind: 'faulted', fault: explained(`${entityName(entity)} cannot be opened`, fault) };
  }
  const pacing = new ReplayPacing(needs.foldBudget, attempt, stateBytes(snapshot ?? ''));
  const eventFold = new EventFold(guest, afterSeq, pacing);
  let isFolded = false;
  try {
    const stop = await eventFold.through(
      incarnation,
      Math.min(incarnation.lastSeq, attempt.lastSeq),
    );
    const { seq } = eventFold;
    if (stop !== undefined) return stopped(entity, seq, stop, needs.limits.replayTimeoutMs);
    isFolded = true;
    return { kind: 'folded', guest, seq, growth: pacing.growth };
  } finally {
    if (!isFolded) guest.close();
  }
}

/** `seq`: sequence number of the last event that was folded. */
function stopped(entity: EntityRef, seq: number, stop: FoldStop, timeoutMs: number): Fold {
  if (stop.kind === 'lost') return { kind: 'lost' };
  if (stop.kind === 'ended') return { kind: 'faulted', fault: tooLong(entity, seq, timeoutMs) };
  const fault = eventFault(entity, seq + 1, stop.problem);
  return stop.batch.length === 1
    ? { kind: 'faulted', fault }
    : { kind: 'batch failed', afterSeq: seq, fault };
}

/**
 * Grows and shrinks batches by the time they take, yields to the event loop, and ends the fold when its time is over.
 */
class ReplayPacing implements FoldPacing {
  readonly growth: Growth;
  readonly #budget: FoldBudget;
  readonly #attempt: Attempt;
  #batchEvents = BATCH_EVENTS;
  #sinceMs = 0;

  constructor(budget: FoldBudget, attempt: Attempt, snapshotBytes: number) {
    this.#budget = budget;
    this.#attempt = attempt;
    this.growth = { events: 0, bytes: 0, stateBytes: snapshotBytes };
  }

  eventsAtOnce(seq: number): number {
    return seq >= this.#attempt.singlyAfter ? 1 : this.#batchEvents;
  }

  pause(): Promise<void> | undefined {
    return this.#budget.isSpent ? this.#budget.renewed() : undefined;
  }

  begin(): void {
    this.#sinceMs = this.#budget.begin();
  }

  end(batch: readonly StoredEvent[], isFolded: boolean): boolean {
    const tookMs = this.#budget.spend(this.#sinceMs, batch.length);
    if (!isFolded) return true;
    this.growth.events += batch.length;
    this.growth.bytes += appendBytes(batch, 0);
    this.#attempt.leftMs -= tookMs;
    if (tookMs > BATCH_MS) this.#batchEvents = Math.max(1, this.#batchEvents >> 1);
    else this.#batchEvents = Math.min(this.#batchEvents * 2, BATCH_EVENTS_MAX);
    return this.#attempt.leftMs >= 0;
  }
}

function tooLong(entity: EntityRef, seq: number, timeoutMs: number): GuestFault {
  return new GuestFault(
    'time',
    `folding the events of ${entityName(entity)} takes longer than ${timeoutMs} ms, ` +
      `which ran out at event ${seq}`,
    { limit: 'replay-time' },
  );
}

function lost(entity: EntityRef): GuestFault {
  return new GuestFault(
    'trap',
    `${entityName(entity)} lost its instance ${LOST_MAX} times while its events were folded, and never by a ` +
      'fault of its own',
  );
}
