// GroupCommit stores the appends of one user of the journal in groups: while one group is sent, the appends that come are gathered,
// and they are the next group.
//
// Invariants
// - G1 The appends of an entity are stored, and settle, in the order in which they were queued. An append that was queued behind
//   one that is not stored, or of which that is unknown, fails with it.
// - G2 An append settles with SVC_CALL_UNCERTAIN only if nobody could find out its outcome in time. The slices are claimed again
//   before anything of them is read or written.
// - G3 A commit is never cancelled.
import { SvcError } from '@svc/kit/svc-error';
import type { EntityRef } from '@svc/model/entity';
import type { MonotonicClock } from '../../engine/needs/clock.ts';
import type { Snapshot } from '../../engine/needs/journal.ts';
import { recordCounts } from './append-statement.ts';
import { DatabaseFailure } from './database-failure.ts';
import type { DatabaseSession } from './database-session.ts';
import { type GroupedAppend, sendGroup } from './group-transaction.ts';
import type { JournalRoom } from './journal-room.ts';
import { journalFailure } from './journal-failure.ts';
import type { SliceClaims } from './slice-claims.ts';
import { SnapshotQueue } from './snapshot-queue.ts';
import type { TimerRules } from './timers/timer-changes.ts';
import type { WritingSession } from './writing-session.ts';

/** Most records and appends of a group together, and UTF-16 units of their JSON text. A single append may have more. */
const GROUP_RECORDS_MAX = 2_000;
const GROUP_UNITS_MAX = 4 * 1024 * 1024;
/** About the bytes of a record beside its text. */
const RECORD_BYTES = 300;
/** How often a group is sent again that met a deadlock or another conflict. */
const CONFLICTS_MAX = 8;
/** SQLSTATE of a conflict with another transaction. */
const CONFLICT = '40001';

export interface QueuedAppend extends GroupedAppend {
  readonly settled: (failure?: SvcError) => void;
}

/** The outcomes of appends that are decided: a failure, or undefined if the append is on disk. */
type Outcomes = Map<QueuedAppend, SvcError | undefined>;

export interface StoredGroup {
  readonly appends: number;
  readonly records: number;
  /** New heads of slices. */
  readonly heads: readonly (readonly [slice: number, head: number])[];
  /** When the earliest timer is fired that was stored, in milliseconds since 1970; Infinity: there is none. */
  readonly earliestMs: number;
  /** Retention of the last reply of the group, in milliseconds; undefined: it has none. */
  readonly retentionMs: number | undefined;
  /** How long the group took, in milliseconds. */
  readonly tookMs: number;
}

export interface GroupCommitNeeds {
  readonly writing: WritingSession;
  readonly claims: SliceClaims;
  /** Returns the number of the module that writes; undefined: records name none. Rejects with SvcError. */
  readonly module: () => Promise<number | undefined>;
  readonly timerRules: TimerRules;
  readonly room: JournalRoom;
  /** For so long an outcome that is unknown is looked for, in milliseconds. */
  readonly uncertainMs: number;
  readonly clock: MonotonicClock;
  /** Name of the database in messages. */
  readonly shown: string;
  /** Called with each group that is stored, before its appends settle. */
  readonly onStored: (group: StoredGroup) => void;
}

interface ReadyToSend {
  readonly session: DatabaseSession;
  /** Number of the module that writes. */
  readonly module: number | undefined;
}

export class GroupCommit {
  readonly #needs: GroupCommitNeeds;
  readonly #snapshots = new SnapshotQueue();
  readonly #types = new Set<string>();
  #queue: QueuedAppend[] = [];
  #running: Promise<void> | undefined = undefined;

  constructor(needs: GroupCommitNeeds) {
    this.#needs = needs;
  }

  /** Queues an append. It settles later. */
  append(append: QueuedAppend): void {
    this.#queue.push(append);
    this.#running ??= this.#run();
  }

  /** Queues a snapshot, which is stored before the appends that are queued later. It may be dropped. */
  keepSnapshot(entity: EntityRef, snapshot: Snapshot): void {
    this.#snapshots.add(entity, snapshot);
    this.#running ??= this.#run();
  }

  /** Resolves once everything that was queued has settled. */
  async drained(): Promise<void> {
    while (this.#running !== undefined) await this.#running;
  }

  async #run(): Promise<void> {
    // All appends of this turn of the event loop go in one group.
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
    while (this.#queue.length > 0 || !this.#snapshots.isEmpty) {
      const group = this.#takeGroup();
      await this.#storeSnapshots();
      this.#settle(group, await this.#store(group));
    }
    this.#running = undefined;
  }

  async #storeSnapshots(): Promise<void> {
    if (this.#snapshots.isEmpty) return;
    let session: DatabaseSession | undefined = undefined;
    try {
      session = await this.#needs.writing.ready();
      await this.#snapshots.store(session);
    } catch (error) {
      // Without the snapshot, more records are folded. A connection that was lost is replaced.
      this.#snapshots.clear();
      if (error instanceof DatabaseFailure && error.outcome === 'unknown' && session !== undefined)
        this.#needs.writing.drop(session);
    }
  }

  #takeGroup(): readonly QueuedAppend[] {
    let records = 0;
    let units = 0;
    let count = 0;
    for (const append of this.#queue) {
      records += Math.max(1, append.records.length);
      units += unitsOf(append);
      if (count > 0 && (records > GROUP_RECORDS_MAX || units > GROUP_UNITS_MAX)) break;
      count++;
    }
    return this.#queue.splice(0, count);
  }

  /** Settles a group, and fails what was queued behind appends that are not stored. */
  #settle(group: readonly QueuedAppend[], outcomes: Outcomes): void {
    const failed = new Set<string>();
    for (const append of group)
      if (outcomes.get(append) !== undefined && isOfEntity(append)) failed.add(nameOf(append));
    const behind = this.#takeBehind(failed);
    for (const append of group) append.settled(outcomes.get(append));
    for (const append of behind) append.settled(notStoredBefore());
  }

  /** Takes the appends of some entities out of the queue. */
  #takeBehind(entities: ReadonlySet<string>): readonly QueuedAppend[] {
    if (entities.size === 0) return [];
    const isBehind = (append: QueuedAppend): boolean =>
      isOfEntity(append) && entities.has(nameOf(append));
    const behind = this.#queue.filter(isBehind);
    if (behind.length > 0) this.#queue = this.#queue.filter((append) => !isBehind(append));
    return behind;
  }

  /** Stores appends, and returns the outcome of each. */
  async #store(appends: readonly QueuedAppend[]): Promise<Outcomes> {
    const outcomes: Outcomes = new Map();
    this.#failWithoutRoom(appends, outcomes);
    failHoles(appends, outcomes);
    await this.#decide(appends, outcomes);
    return outcomes;
  }

  /** Stores those of the appends that are not decided yet, and notes their outcomes. */
  async #decide(appends: readonly QueuedAppend[], outcomes: Outcomes): Promise<void> {
    for (let conflicts = 0; ;) {
      const left = appends.filter((append) => !outcomes.has(append));
      if (left.length === 0) return;
      const ready = await this.#ready(left, outcomes);
      if (ready === undefined) return;
      const { session } = ready;
      const before = this.#needs.claims.commits(left);
      try {
        await this.#send(ready, left, outcomes);
      } catch (error) {
        if (!(error instanceof DatabaseFailure)) throw error;
        if (error.outcome === 'unknown') {
          this.#needs.writing.drop(session);
          await this.#findOutcomes(left, before, outcomes);
        } else if (!mayPass(error) || ++conflicts > CONFLICTS_MAX)
          await this.#refused(left, error, outcomes);
      }
    }
  }

  #failWithoutRoom(appends: readonly QueuedAppend[], outcomes: Outcomes): void {
    for (const append of appends) {
      if (outcomes.has(append) || !takesRoom(append)) continue;
      const full = this.#needs.room.take(
        unitsOf(append) + Math.max(1, append.records.length) * RECORD_BYTES,
      );
      if (full !== undefined) failEntity(appends, append, full, outcomes);
    }
  }

  /** Returns what is needed to send appends; undefined: it is not there, and the appends have failed. */
  async #ready(
    appends: readonly QueuedAppend[],
    outcomes: Outcomes,
  ): Promise<ReadyToSend | undefined> {
    try {
      const module = await this.#needs.module();
      return { module, session: await this.#needs.writing.ready() };
    } catch (error) {
      failAll(appends, journalFailure(error, this.#needs.shown), outcomes);
      return undefined;
    }
  }

  /** Sends appends, and notes the outcomes of those that are decided by the answer. Rejects with DatabaseFailure. */
  async #send(
    { session, module }: ReadyToSend,
    appends: readonly QueuedAppend[],
    outcomes: Outcomes,
  ): Promise<void> {
    const { claims, clock, onStored, writing } = this.#needs;
    const startedMs = clock.monotonicMs();
    const { refused, stored, earliestMs } = await sendGroup(session, appends, {
      claims,
      module,
      types: this.#types,
      timerRules: this.#needs.timerRules,
    });
    for (const [append, failure] of refused)
      failEntity(appends, append, failure === 'gap' ? doesNotFollow() : failure, outcomes);
    if (stored.length > 0) {
      for (const append of stored) outcomes.set(append, undefined);
      const heads = claims.advance(recordCounts(stored));
      const records = stored.reduce((sum, append) => sum + append.records.length, 0);
      const tookMs = clock.monotonicMs() - startedMs;
      const { retentionMs } = stored.findLast(({ reply }) => reply !== undefined)?.reply ?? {};
      onStored({ appends: stored.length, records, heads, earliestMs, retentionMs, tookMs });
    }
    if (refused.size > 0 || stored.length === appends.length) return;
    const failure = await claims.loss(session);
    if (failure === undefined) {
      writing.drop(session);
      throw new DatabaseFailure('the slices were claimed meanwhile', {
        outcome: 'not-done',
        sqlState: CONFLICT,
      });
    }
    writing.end(failure);
    failAll(appends, failure, outcomes);
  }

  /** Fails appends that the database has refused, or stores each alone if it has refused one of them for its content. */
  async #refused(
    appends: readonly QueuedAppend[],
    error: DatabaseFailure,
    outcomes: Outcomes,
  ): Promise<void> {
    if (appends.length === 1 || !error.isOfContent) {
      failAll(appends, journalFailure(error, this.#needs.shown), outcomes);
      return;
    }
    for (const append of appends) {
      await this.#decide([append], outcomes);
      const failure = outcomes.get(append);
      if (failure !== undefined) failEntity(appends, append, failure, outcomes);
    }
  }

  /** Finds out what has become of appends that were sent: the claims are valid again only once that is final. */
  async #findOutcomes(
    appends: readonly QueuedAppend[],
    before: ReadonlyMap<number, number>,
    outcomes: Outcomes,
  ): Promise<void> {
    const { writing, claims, clock, uncertainMs, shown } = this.#needs;
    const endMs = clock.monotonicMs() + uncertainMs;
    for (;;)
      try {
        await writing.ready(Math.max(0, endMs - clock.monotonicMs()));
        break;
      } catch (error) {
        if (writing.hasEnded || clock.monotonicMs() >= endMs) {
          failAll(appends, uncertain(error, shown), outcomes);
          return;
        }
      }
    for (const append of appends) {
      const isStored = claims.of(append.slice).commits > before.get(append.slice)!;
      outcomes.set(append, isStored ? undefined : lostBeforeStored(shown));
    }
  }
}

/** SQLSTATE of a row whose key another transaction has stored at the same time: a timer of the same name. */
const UNIQUE_VIOLATION = '23505';

/** Whether the same group may be stored when it is sent again. */
function mayPass(error: DatabaseFailure): boolean {
  return error.isRetryable || error.sqlState === UNIQUE_VIOLATION;
}

function unitsOf({ records, reply, beside }: QueuedAppend): number {
  let units = reply === undefined ? 0 : reply.key.length;
  if (reply?.outcome.kind === 'reply') units += reply.outcome.json.length;
  for (const change of beside.timers?.changes ?? [])
    if (change.kind === 'set') units += change.input.length;
  for (const record of records) if (record.kind === 'event') units += record.event.json.length;
  return units;
}

/** Whether the journal grows by the append. What only ends a firing is stored in a full journal as well. */
function takesRoom({ records, reply, beside }: QueuedAppend): boolean {
  return records.length > 0 || reply !== undefined || (beside.timers?.changes.length ?? 0) > 0;
}

function nameOf({ entity: { component, id } }: QueuedAppend): string {
  return `${component}\n${id}`;
}

/** Whether appends of the entity that are behind this one depend on it. */
function isOfEntity({ beside }: QueuedAppend): boolean {
  return beside.isDetached !== true;
}

/** Fails all appends that are not decided yet. */
function failAll(appends: readonly QueuedAppend[], failure: SvcError, outcomes: Outcomes): void {
  for (const append of appends) if (!outcomes.has(append)) outcomes.set(append, failure);
}

/** Fails an append, and those of its entity behind it. */
function failEntity(
  appends: readonly QueuedAppend[],
  failed: QueuedAppend,
  failure: SvcError,
  outcomes: Outcomes,
): void {
  outcomes.set(failed, failure);
  if (!isOfEntity(failed)) return;
  const name = nameOf(failed);
  for (const append of appends.slice(appends.indexOf(failed) + 1))
    if (isOfEntity(append) && nameOf(append) === name && !outcomes.has(append))
      outcomes.set(append, notStoredBefore());
}

/** Fails the appends whose records do not follow those of an earlier append of the same entity. */
function failHoles(appends: readonly QueuedAppend[], outcomes: Outcomes): void {
  const last = new Map<string, number>();
  for (const append of appends) {
    const first = append.records[0];
    if (first === undefined || outcomes.has(append)) continue;
    const name = nameOf(append);
    const before = last.get(name);
    if (before !== undefined && first.seq !== before + 1)
      failEntity(appends, append, doesNotFollow(), outcomes);
    else last.set(name, first.seq + append.records.length - 1);
  }
}

function doesNotFollow(): SvcError {
  return unavailable('its records do not follow the last one of its entity');
}

function notStoredBefore(): SvcError {
  return unavailable('one before it was not stored');
}

function lostBeforeStored(shown: string): SvcError {
  return unavailable(`the connection to ${shown} was lost before it was stored`);
}

function unavailable(why: string): SvcError {
  return new SvcError('SVC_JOURNAL_UNAVAILABLE', `The write was not stored: ${why}. Try again.`);
}

function uncertain(cause: unknown, shown: string): SvcError {
  return new SvcError(
    'SVC_CALL_UNCERTAIN',
    `The connection to ${shown} was lost while the write was stored, and it could not be asked for the outcome in time. ` +
      'Repeat the command with its idempotency key.',
    { cause },
  );
}
