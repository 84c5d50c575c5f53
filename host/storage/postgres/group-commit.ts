// GroupCommit stores the appends of one user of the journal in groups: while one group is sent, the appends that come are gathered,
// and they are the next group.
//
// Invariants
// - G1 The appends of an entity are stored, and settle, in the order in which they were queued. An append that was queued behind
//   one that is not stored, or of which that is unknown, fails with it.
// - G2 An append settles with SVC_CALL_UNCERTAIN only if nobody could find out its outcome in time, or another node has written to
//   its slice since. Slices that the node still owns are claimed again before anything of them is read or written.
// - G3 A commit is never cancelled.
// - G4 An append is only sent with a claim of the acquisition under which it was queued: nobody else has written since it was decided.
import { setTimeout as delay } from 'node:timers/promises';
import type { SvcError } from '@svc/kit/svc-error';
import type { EntityRef } from '@svc/model/entity';
import type { MonotonicClock } from '../../engine/needs/clock.ts';
import type { Snapshot } from '../../engine/needs/journal.ts';
import {
  AppendOutcomes,
  doesNotFollow,
  failureBehind,
  isOfEntity,
  lostBeforeStored,
  nameOf,
  type QueuedAppend,
  sliceMoved,
  uncertain,
} from './append-outcomes.ts';
import { recordCounts } from './append-statement.ts';
import { DatabaseFailure } from './database-failure.ts';
import type { DatabaseSession } from './database-session.ts';
import { sendGroup, type TransactionOutcome } from './group-transaction.ts';
import type { JournalRoom } from './journal-room.ts';
import { journalFailure } from './journal-failure.ts';
import { SentSlices, type SliceOutcome } from './sent-slices.ts';
import type { Claim, SliceClaims, SliceHead } from './slice-claims.ts';
import { regressionOf, UNIQUE_VIOLATION } from './slice-ends.ts';
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
/** The pause after an attempt to find out outcomes that has failed, in milliseconds. */
const FIND_AGAIN_MS = 100;

export interface StoredGroup {
  readonly appends: number;
  readonly records: number;
  /** New heads of slices. */
  readonly heads: readonly SliceHead[];
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
  /** Called with heads of slices that another node owns now, in which a group turned out to be stored, before its appends settle. */
  readonly onFound: (heads: readonly SliceHead[]) => void;
  /** Called when appends are refused because the journal is full. */
  readonly onFull: () => void;
}

/** A group whose answer is lost. */
interface LostGroup {
  readonly appends: readonly QueuedAppend[];
  readonly slices: SentSlices;
}

/** The result of sending a group; undefined: there is no failure. Some appends may still be undecided. */
type Sending = LostGroup | DatabaseFailure | undefined;

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
  #settle(group: readonly QueuedAppend[], outcomes: AppendOutcomes): void {
    const failed = new Map<string, SvcError>();
    for (const append of group) {
      const failure = outcomes.failureOf(append);
      if (failure !== undefined && isOfEntity(append)) failed.set(nameOf(append), failure);
    }
    const behind = this.#takeBehind(failed);
    for (const append of group) append.settled(outcomes.failureOf(append));
    for (const append of behind) append.settled(failureBehind(append, failed.get(nameOf(append))!));
  }

  /** Takes the appends of some entities out of the queue. */
  #takeBehind(entities: ReadonlyMap<string, SvcError>): readonly QueuedAppend[] {
    if (entities.size === 0) return [];
    const isBehind = (append: QueuedAppend): boolean =>
      isOfEntity(append) && entities.has(nameOf(append));
    const behind = this.#queue.filter(isBehind);
    if (behind.length > 0) this.#queue = this.#queue.filter((append) => !isBehind(append));
    return behind;
  }

  /** Stores appends, and returns the outcome of each. */
  async #store(appends: readonly QueuedAppend[]): Promise<AppendOutcomes> {
    const outcomes = new AppendOutcomes(appends);
    this.#failWithoutRoom(appends, outcomes);
    outcomes.failHoles();
    await this.#decide(appends, outcomes);
    return outcomes;
  }

  /** Stores those of the appends that are not decided yet, and notes their outcomes. */
  async #decide(appends: readonly QueuedAppend[], outcomes: AppendOutcomes): Promise<void> {
    const { writing, shown, module } = this.#needs;
    for (let conflicts = 0; outcomes.undecided(appends).length > 0;) {
      let sending: Sending;
      try {
        const number = await module();
        sending = await writing.alone((session) => this.#send(session, number, appends, outcomes));
      } catch (error) {
        // The connection is not there, or the module is not: nothing was sent.
        outcomes.failAll(appends, journalFailure(error, shown));
        return;
      }
      if (sending instanceof DatabaseFailure) {
        if (!mayPass(sending) || ++conflicts > CONFLICTS_MAX)
          await this.#refused(outcomes.undecided(appends), sending, outcomes);
      } else if (sending !== undefined) await this.#findOutcomes(sending, outcomes);
    }
  }

  #failWithoutRoom(appends: readonly QueuedAppend[], outcomes: AppendOutcomes): void {
    for (const append of outcomes.undecided(appends)) {
      if (outcomes.failureOf(append) !== undefined || !takesRoom(append)) continue;
      const full = this.#needs.room.take(
        unitsOf(append) + Math.max(1, append.records.length) * RECORD_BYTES,
      );
      if (full === undefined) continue;
      outcomes.fail(append, full);
      this.#needs.onFull();
    }
  }

  /** Sends those of the appends that are not decided yet, and notes the outcomes that the answer decides. */
  async #send(
    session: DatabaseSession,
    module: number | undefined,
    appends: readonly QueuedAppend[],
    outcomes: AppendOutcomes,
  ): Promise<Sending> {
    const { clock, timerRules, writing } = this.#needs;
    const slices = this.#claimed(outcomes.undecided(appends), outcomes);
    const left = outcomes.undecided(appends);
    if (left.length === 0) return undefined;
    const startedMs = clock.monotonicMs();
    try {
      const needs = { slices, module, types: this.#types, timerRules };
      const sent = await sendGroup(session, left, needs);
      this.#note(sent, clock.monotonicMs() - startedMs, outcomes);
      if (sent.missed.size > 0) await this.#examine(session, slices, sent.missed);
      return undefined;
    } catch (error) {
      if (error instanceof DatabaseFailure && error.outcome === 'unknown') {
        writing.drop(session);
        return { appends: outcomes.undecided(left), slices };
      }
      const end =
        error instanceof DatabaseFailure ? await regressionOf(session, left, error) : error;
      if (end === undefined) return error as DatabaseFailure;
      const failure = journalFailure(end, this.#needs.shown);
      writing.end(failure);
      outcomes.failAll(left, failure);
      return undefined;
    }
  }

  /** Returns the claims of the slices of appends, and fails those whose slice is not owned as it was when they were queued. */
  #claimed(appends: readonly QueuedAppend[], outcomes: AppendOutcomes): SentSlices {
    const { claims } = this.#needs;
    const sent = new Map<number, Claim>();
    for (const append of appends) {
      // A detached append needs a slice that is held, whichever it is.
      if (!isOfEntity(append) && claims.of(append.slice) === undefined)
        append.slice = claims.any() ?? append.slice;
      const claim = claims.of(append.slice);
      if (claim === undefined || (isOfEntity(append) && claim.acquisition !== append.acquisition))
        outcomes.fail(append, sliceMoved(append));
      else sent.set(append.slice, claim);
    }
    return new SentSlices(claims.node, sent);
  }

  #note(
    { refused, stored, earliestMs }: TransactionOutcome<QueuedAppend>,
    tookMs: number,
    outcomes: AppendOutcomes,
  ): void {
    for (const [append, failure] of refused)
      outcomes.fail(append, failure === 'gap' ? doesNotFollow() : failure);
    if (stored.length === 0) return;
    for (const append of stored) outcomes.stored(append);
    const heads = this.#needs.claims.advance(recordCounts(stored));
    const records = stored.reduce((sum, append) => sum + append.records.length, 0);
    const { retentionMs } = stored.findLast(({ reply }) => reply !== undefined)?.reply ?? {};
    this.#needs.onStored({
      appends: stored.length,
      records,
      heads,
      earliestMs,
      retentionMs,
      tookMs,
    });
  }

  /**
   * Finds out why slices were not held. Those that another node owns are lost; the others are claimed again. Rejects with
   * SVC_JOURNAL_REGRESSED, and with DatabaseFailure.
   */
  async #examine(
    session: DatabaseSession,
    slices: SentSlices,
    missed: ReadonlySet<number>,
  ): Promise<void> {
    const hasLost = await this.#needs.claims.examine(session, slices.acquisitions(missed));
    if (!hasLost)
      throw new DatabaseFailure('the slices were claimed meanwhile', {
        outcome: 'not-done',
        sqlState: CONFLICT,
      });
  }

  /** Fails appends that the database has refused, or stores each alone if it has refused one of them for its content. */
  async #refused(
    appends: readonly QueuedAppend[],
    error: DatabaseFailure,
    outcomes: AppendOutcomes,
  ): Promise<void> {
    if (appends.length === 1 || !error.isOfContent) {
      outcomes.failAll(appends, journalFailure(error, this.#needs.shown));
      return;
    }
    for (const append of appends) {
      await this.#decide([append], outcomes);
      const failure = outcomes.failureOf(append);
      if (failure !== undefined) outcomes.fail(append, failure);
    }
  }

  /** Finds out what has become of a group, as soon as that is final. */
  async #findOutcomes({ appends, slices }: LostGroup, outcomes: AppendOutcomes): Promise<void> {
    const { claims, clock, onFound, shown, uncertainMs, writing } = this.#needs;
    const endMs = clock.monotonicMs() + uncertainMs;
    for (;;)
      try {
        const session = await writing.ready(Math.max(0, endMs - clock.monotonicMs()));
        const found = await slices.find(session, claims);
        onFound(found.heads);
        for (const append of appends)
          this.#noteFound(append, found.outcomes.get(append.slice), outcomes);
        return;
      } catch (error) {
        if (writing.hasEnded || clock.monotonicMs() >= endMs) {
          outcomes.failAll(appends, uncertain(error, shown));
          return;
        }
        if (error instanceof DatabaseFailure) await delay(FIND_AGAIN_MS);
      }
  }

  #noteFound(
    append: QueuedAppend,
    found: SliceOutcome | undefined,
    outcomes: AppendOutcomes,
  ): void {
    const { claims, shown } = this.#needs;
    if (found === 'stored') outcomes.stored(append);
    else if (found !== 'not stored') outcomes.failAll([append], uncertain(undefined, shown));
    else if (claims.of(append.slice)?.acquisition === append.acquisition)
      outcomes.failAll([append], lostBeforeStored(shown));
    else outcomes.failAll([append], sliceMoved(append));
  }
}

/** Whether the same group may be stored when it is sent again. A key may be that of a timer which somebody stores at the same time. */
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
