// AttachedPostgres is the journal in PostgreSQL as one thread uses it, with a connection that writes and one that reads.
import assert from 'node:assert';
import type { Positions } from '../../engine/needs/feed.ts';
import type {
  IncarnationStart,
  Journal,
  Snapshot,
  StoredBeside,
  StoredReply,
} from '../../engine/needs/journal.ts';
import type { StoredTimer } from '../../engine/needs/timers.ts';
import type { EntityRef, JournalRecord } from '@svc/model/entity';
import { sliceOf } from '@svc/model/slice';
import { SvcError } from '@svc/kit/svc-error';
import { Occurrences } from '../../schedule/occurrences.ts';
import { TimerAlarm } from '../timer-alarm.ts';
import { connectDatabase } from './connect-database.ts';
import { EntityReads } from './entity-reads.ts';
import { SliceHeads } from './feed/slice-heads.ts';
import { SlicePositions } from './feed/slice-positions.ts';
import { GroupCommit } from './group-commit.ts';
import type { PostgresConnection } from './postgres-connection.ts';
import { ReadingSession } from './reading-session.ts';
import { ReplyLookups } from './reply-lookups.ts';
import { SliceClaims } from './slice-claims.ts';
import { PostgresTimerReader } from './timers/timer-reader.ts';
import { WritingModule } from './writing-module.ts';
import { WritingSession } from './writing-session.ts';

/** Returns the journal for the thread that calls this function. It connects with its first use. */
export function attachPostgresJournal(connection: PostgresConnection): Journal {
  return new AttachedPostgres(connection);
}

class AttachedPostgres implements Journal {
  readonly positions: Positions;
  readonly #shown: string;
  readonly #writing: WritingSession;
  readonly #reading: ReadingSession;
  readonly #group: GroupCommit;
  readonly #reads: EntityReads;
  readonly #replies: ReplyLookups;
  readonly #timers: PostgresTimerReader;
  #isClosed = false;
  #closed: Promise<void> | undefined = undefined;

  constructor(connection: PostgresConnection) {
    const { source, shown, node, slices, timerLimits, uncertainMs } = connection;
    const [first, count] = slices;
    const heads = new SliceHeads(connection.heads);
    const module = new WritingModule(connection.module);
    const alarm = new TimerAlarm(connection.alarm);
    const clock = { monotonicMs: () => performance.now() };
    const connect = () => connectDatabase(source);
    const claims = new SliceClaims({
      node,
      slices: Array.from({ length: count }, (_, index) => first + index),
    });
    this.#shown = shown;
    this.positions = new SlicePositions(connection.heads);
    this.#writing = new WritingSession({
      connect,
      claims,
      clock,
      shown,
      onClaimed: () => heads.advance(claims.heads()),
    });
    this.#reading = new ReadingSession({ connect, writing: this.#writing, shown });
    this.#group = new GroupCommit({
      writing: this.#writing,
      claims,
      module: () => module.number,
      uncertainMs,
      clock,
      shown,
      timerRules: { limits: timerLimits, occurrences: new Occurrences() },
      onStored: (group) => {
        heads.advance(group.heads);
        alarm.stored(group.earliestMs);
      },
    });
    this.#reads = new EntityReads(this.#reading);
    this.#replies = new ReplyLookups(this.#reading);
    this.#timers = new PostgresTimerReader(this.#reading, { shown, onDamage: () => {} });
  }

  append(
    entity: EntityRef,
    records: readonly JournalRecord[],
    settled: (failure?: SvcError) => void,
    beside: StoredBeside = {},
  ): void {
    assert(records.length > 0 || beside.reply !== undefined || beside.timers !== undefined);
    assert(records.length === 0 || beside.isDetached !== true);
    if (this.#isClosed) {
      queueMicrotask(() => settled(this.#closedFailure()));
      return;
    }
    const slice = sliceOf(entity.component, entity.id);
    this.#group.append({ entity, slice, records, beside, reply: beside.reply, settled });
  }

  read(entity: EntityRef, afterSeq: number, limit: number): Promise<readonly JournalRecord[]> {
    return this.#reads.read(entity, afterSeq, limit);
  }

  lastDeletion(entity: EntityRef): Promise<number> {
    return this.#reads.lastDeletion(entity);
  }

  incarnation(
    entity: EntityRef,
    limit: number,
    fingerprint: string | undefined,
  ): Promise<IncarnationStart> {
    return this.#reads.incarnation(entity, limit, fingerprint);
  }

  keepSnapshot(entity: EntityRef, snapshot: Snapshot): void {
    if (!this.#isClosed) this.#group.keepSnapshot(entity, snapshot);
  }

  answer(entity: EntityRef, key: string): Promise<StoredReply | undefined> {
    return this.#replies.find(entity, key);
  }

  lookAhead(entity: EntityRef, key: string): Promise<StoredReply | undefined> {
    return this.#replies.find(entity, key);
  }

  timer(number: number): Promise<StoredTimer | undefined> {
    return this.#timers.timer(number);
  }

  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    this.#isClosed = true;
    await this.#group.drained();
    const failure = this.#closedFailure();
    await Promise.all([this.#writing.close(failure), this.#reading.close(failure)]);
  }

  #closedFailure(): SvcError {
    return new SvcError(
      'SVC_JOURNAL_UNAVAILABLE',
      `The journal in ${this.#shown} is closed. Open it again.`,
    );
  }
}
