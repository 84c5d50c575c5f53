// Replay: an entity as the journal tells it, a fresh guest entity with the events of its present
// life folded into it, some at a time; or those since a snapshot into the state that it holds. It reads only what is on disk, so whoever asks for it has
// no append of that entity under way. What could be folded one by one can be replayed: when a batch is
// more than a guest can bear at once, its events are folded one by one, which also tells which of them
// it cannot fold.
//
// Invariants
// R1  Between two batches it lets others go first whenever FoldTurns says so, and a batch that took
//     long makes the next one smaller. One call of the guest is bounded by the guest's own limits.
// R2  All its batches together take `replayTimeoutMs` at most, and the one in which it runs out.
// R3  A fault of another entity that took the instance away is not a fault of this one: it begins
//     again, in an instance of its own.
// R4  A snapshot is never needed: where one leads to a fault, the entity begins again without.
import type { EntityRef, JournalRecord, StoredEvent } from '../../model/entity.ts';
import { GuestFault } from '../../model/guest-fault.ts';
import { SvcError } from '@svc/kit/svc-error';
import type { EngineLimits } from '../engine-limits.ts';
import type { GuestEntities, GuestEntity } from '../needs/guest.ts';
import type { Journal, Life } from '../needs/journal.ts';
import { quoted } from '../quoted.ts';
import type { FoldTurns } from './fold-turns.ts';
import { entityName, eventsInOrder } from './history.ts';
import { type Growth, type SnapshotPolicy, stateBytes } from './snapshot-policy.ts';
import { appendBytes } from './unsettled-bytes.ts';

/** Records read at once. */
export const REPLAY_PAGE_RECORDS = 1_000;
/** And at the beginning, where those that follow may cost less. */
const FIRST_RECORDS = 100;
/** Events folded at once, at the beginning; more when they are quick. */
const BATCH_EVENTS = 128;
/** UTF-16 units of JSON text after which a batch ends: large events are folded a few at a time. */
const BATCH_UNITS = 128 * 1024;
/** What a batch may take before the next one is smaller. */
const BATCH_MS = 5;
/** How often it begins again after a batch that was too much at once. */
const BATCH_FAILURES_MAX = 2;
/** And after it was lost with its instance. */
const LOST_MAX = 10;

export interface ReplayNeeds {
  readonly entities: GuestEntities;
  readonly journal: Pick<Journal, 'read' | 'lastDeletion'> &
    Partial<Pick<Journal, 'life' | 'eventsAfter'>>;
  readonly turns: FoldTurns;
  readonly limits: Pick<EngineLimits, 'replayTimeoutMs'>;
  /** Undefined: the state is folded from the journal alone. */
  readonly snapshots?: Pick<SnapshotPolicy, 'fingerprintFor' | 'led' | 'misled'> | undefined;
  /** An entity has come into memory. */
  readonly activated?: (how: Activation) => void;
}

/** How an entity came into memory: without an event, from a snapshot and what followed, or from all its events. */
export type Activation = 'empty' | 'snapshot' | 'folded';

export type Replay =
  /** `seq`: of the entity's last record, 0 when it has none. */
  | {
      readonly kind: 'folded';
      readonly guest: GuestEntity;
      readonly seq: number;
      readonly growth: Growth;
    }
  /** The entity's own doing; a fault of one event names it. */
  | { readonly kind: 'faulted'; readonly fault: GuestFault | SvcError };

type Fold =
  | Replay
  /** In one call, which does not say where it stopped, and has the limits of one call. */
  | {
      readonly kind: 'batch failed';
      readonly afterSeq: number;
      readonly fault: GuestFault | SvcError;
    }
  | { readonly kind: 'lost' };

/**
 * `alone`: in an instance of its own, because it has faulted before. Throws SvcError SVC_JOURNAL_…,
 * and a GuestFault that is not the entity's doing.
 */
export async function replay(
  needs: ReplayNeeds,
  entity: EntityRef,
  alone: boolean,
): Promise<Replay> {
  const attempt: Attempt = {
    alone,
    fingerprint: needs.snapshots?.fingerprintFor(entity),
    beganWithSnapshot: false,
    singlyAfter: Infinity,
    leftMs: needs.limits.replayTimeoutMs,
  };
  let misleading: Error | undefined;
  for (let batchFailures = 0, losses = 0; ;) {
    const folded = await fold(needs, entity, attempt);
    if (folded.kind === 'folded') {
      if (attempt.beganWithSnapshot) needs.snapshots?.led(entity);
      if (misleading !== undefined) needs.snapshots?.misled(entity, misleading);
      if (attempt.beganWithSnapshot) needs.activated?.('snapshot');
      else needs.activated?.(folded.growth.events === 0 ? 'empty' : 'folded');
      return folded;
    }
    if (folded.kind === 'lost') {
      if (++losses > LOST_MAX) throw lost(entity);
    } else if (attempt.beganWithSnapshot) {
      misleading = folded.fault;
      attempt.fingerprint = undefined;
    } else if (folded.kind === 'batch failed') {
      if (++batchFailures > BATCH_FAILURES_MAX) return { kind: 'faulted', fault: folded.fault };
      attempt.singlyAfter = folded.afterSeq;
    } else return folded;
    // What takes an instance away once does it again, and takes the others in it as well.
    attempt.alone = true;
  }
}

interface Attempt {
  alone: boolean;
  /** Of the snapshot that it may begin with, */
  fingerprint: string | undefined;
  /** and whether it has. */
  beganWithSnapshot: boolean;
  /** Events after this one are folded one by one. */
  singlyAfter: number;
  leftMs: number;
}

async function fold(
  { entities, journal, turns, limits }: ReplayNeeds,
  entity: EntityRef,
  attempt: Attempt,
): Promise<Fold> {
  const life = await lifeOf(journal, entity, attempt.fingerprint);
  attempt.beganWithSnapshot = life.snapshot !== undefined;
  let seq = life.afterSeq;
  let page = pageOf(entity, life.records, seq, firstRecords(journal), life.isWhole);
  const growth: Growth = { events: 0, bytes: 0, stateBytes: stateBytes(life.snapshot ?? '') };
  let guest: GuestEntity | undefined;
  let isWhole = false;
  let batchEvents = BATCH_EVENTS;
  try {
    for (;;) {
      try {
        guest ??= await entities.open(entity, life.snapshot, attempt.alone);
      } catch (fault) {
        // Of memory there may be too little because of others.
        if (!(fault instanceof GuestFault) || fault.faultCause === 'memory') throw fault;
        return { kind: 'faulted', fault: named(`${entityName(entity)} cannot be opened`, fault) };
      }
      const { events } = page;
      for (let from = 0; from < events.length;) {
        const count = seq >= attempt.singlyAfter ? 1 : batchEvents;
        const batch = batchOf(events, from, count);
        if (turns.isOver) await turns.next();
        if (guest.lost) return { kind: 'lost' };
        const sinceMs = turns.nowMs();
        const problem = await applied(guest, batch);
        const tookMs = turns.spend(sinceMs, batch.length);
        if (problem !== undefined) {
          const fault = faultOf(entity, seq + 1, problem);
          if (batch.length === 1) return { kind: 'faulted', fault };
          return { kind: 'batch failed', afterSeq: seq, fault };
        }
        from += batch.length;
        seq += batch.length;
        growth.events += batch.length;
        growth.bytes += appendBytes(batch, 0);
        attempt.leftMs -= tookMs;
        if (attempt.leftMs < 0)
          return { kind: 'faulted', fault: tooLong(entity, seq, limits.replayTimeoutMs) };
        if (tookMs > BATCH_MS) batchEvents = Math.max(1, batchEvents >> 1);
        else batchEvents = Math.min(batchEvents * 2, REPLAY_PAGE_RECORDS);
      }
      if (page.isLast) {
        isWhole = true;
        return { kind: 'folded', guest, seq, growth };
      }
      page = await pageAfter(journal, entity, seq, page);
    }
  } finally {
    if (!isWhole) guest?.close();
  }
}

async function lifeOf(
  journal: ReplayNeeds['journal'],
  entity: EntityRef,
  fingerprint: string | undefined,
): Promise<Life> {
  const limit = firstRecords(journal);
  if (journal.life !== undefined) return journal.life(entity, limit, fingerprint);
  const afterSeq = await journal.lastDeletion(entity);
  const records = await journal.read(entity, afterSeq, limit);
  return { afterSeq, snapshot: undefined, records, isWhole: false };
}

/** Few, where those that follow may cost less. */
function firstRecords(journal: ReplayNeeds['journal']): number {
  return journal.eventsAfter === undefined ? REPLAY_PAGE_RECORDS : FIRST_RECORDS;
}

interface Page {
  readonly events: readonly StoredEvent[];
  /** As many as were asked for: they are small, and so may be those that follow. */
  readonly isFull: boolean;
  /** There are no more. */
  readonly isLast: boolean;
}

/** What follows the last event of the page `before`. */
async function pageAfter(
  journal: ReplayNeeds['journal'],
  entity: EntityRef,
  seq: number,
  before: Page,
): Promise<Page> {
  const limit = REPLAY_PAGE_RECORDS;
  const events = before.isFull ? (journal.eventsAfter?.(entity, seq, limit) ?? []) : [];
  if (events.length > 0) return { events, isFull: events.length === limit, isLast: false };
  const records = await journal.read(entity, seq, limit);
  return pageOf(entity, records, seq, limit, false);
}

/** Throws SVC_JOURNAL_CORRUPT. */
function pageOf(
  entity: EntityRef,
  records: readonly JournalRecord[],
  afterSeq: number,
  limit: number,
  isWhole: boolean,
): Page {
  const events = eventsInOrder(entity, records, afterSeq).map((record) => record.event);
  return { events, isFull: events.length === limit, isLast: isWhole || events.length === 0 };
}

/** At least one, at most `count`, and none after the one with which they reach BATCH_UNITS. */
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

/** What could not be decoded, or the fault. */
async function applied(
  guest: GuestEntity,
  events: readonly StoredEvent[],
): Promise<string | GuestFault | undefined> {
  try {
    return await guest.apply(events, undefined);
  } catch (fault) {
    if (fault instanceof GuestFault) return fault;
    throw fault;
  }
}

/** `seq`: of the first event that was to be folded. */
export function faultOf(
  entity: EntityRef,
  seq: number,
  problem: string | GuestFault,
): GuestFault | SvcError {
  if (problem instanceof GuestFault)
    return named(`event ${seq} of ${entityName(entity)} cannot be folded`, problem);
  // A guest numbers the events of one fold, and a person those of the entity.
  const numbered = /^event (\d{1,6}) of \d{1,6}: /.exec(problem);
  const unreadable = numbered === null ? seq : seq + Number(numbered[1]) - 1;
  const why = problem.slice(numbered?.[0].length ?? 0);
  return new SvcError(
    'SVC_EVENT_UNREADABLE',
    `This module cannot read event ${unreadable} of ${entityName(entity)}: ${quoted(why)}. ` +
      'Run a module whose event type still accepts what is stored.',
  );
}

function named(what: string, fault: GuestFault): GuestFault {
  return fault.explained(`${what}: ${fault.message}`);
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
