// AttachedPostgres is the journal in PostgreSQL as one thread uses it, with a connection that writes and one that reads.
import assert from 'node:assert';
import type { MessagePort } from 'node:worker_threads';
import type { Positions } from '../../engine/needs/feed.ts';
import type {
  IncarnationStart,
  Journal,
  ReplyAhead,
  Snapshot,
  StoredBeside,
  StoredReply,
} from '../../engine/needs/journal.ts';
import type { StoredTimer } from '../../engine/needs/timers.ts';
import type { EntityRef, JournalRecord } from '@svc/model/entity';
import { sliceOf } from '@svc/model/slice';
import { SvcError } from '@svc/kit/svc-error';
import { Occurrences } from '../../schedule/occurrences.ts';
import type { ClusterSlices } from '../cluster-nodes.ts';
import { TimerAlarm } from '../timer-alarm.ts';
import { AnsweringSession } from './answering-session.ts';
import { connectDatabase } from './connect-database.ts';
import { EntityReads } from './entity-reads.ts';
import { HeadReads } from './feed/head-reads.ts';
import { SliceHeads } from './feed/slice-heads.ts';
import { SlicePositions } from './feed/slice-positions.ts';
import { FollowingSession } from './following-session.ts';
import { GroupCommit } from './group-commit.ts';
import { JournalRoom } from './journal-room.ts';
import { AttachedSlices } from './nodes/attached-slices.ts';
import { SliceTable } from './nodes/slice-table.ts';
import type { PostgresConnection, UserReport } from './postgres-connection.ts';
import { ReadingSession } from './reading-session.ts';
import { ReplySweep } from './reply-sweep.ts';
import { ReplyLookups } from './reply-lookups.ts';
import { SliceClaims } from './slice-claims.ts';
import { PostgresTimerReader } from './timers/timer-reader.ts';
import { WritingModule } from './writing-module.ts';
import { WritingSession } from './writing-session.ts';

/** The journal with the owners of its slices. */
export interface ClusterJournal extends Journal {
  readonly cluster: ClusterSlices;
}

/**
 * Returns the journal for the thread that calls this function. It connects with its first use. `retentionMs`: replies to idempotency
 * keys that are older are removed from now on; absent: from the first reply on that is stored.
 */
export function attachPostgresJournal(
  connection: PostgresConnection,
  retentionMs?: number,
): ClusterJournal {
  return new AttachedPostgres(connection, retentionMs);
}

class AttachedPostgres implements ClusterJournal {
  readonly positions: Positions;
  readonly cluster: ClusterSlices;
  readonly #shown: string;
  readonly #table: SliceTable;
  readonly #writing: WritingSession;
  readonly #following: FollowingSession;
  readonly #port: MessagePort;
  readonly #group: GroupCommit;
  readonly #reads: EntityReads;
  readonly #replies: ReplyLookups;
  readonly #timers: PostgresTimerReader;
  #isClosed = false;
  #closed: Promise<void> | undefined = undefined;

  constructor(connection: PostgresConnection, retentionMs: number | undefined) {
    const { source, shown, timerLimits, uncertainMs } = connection;
    const [first, count] = connection.slices;
    const slices = Array.from({ length: count }, (_, index) => first + index);
    const [port] = connection.ports;
    const table = new SliceTable(connection.owners);
    const heads = new SliceHeads(connection.heads);
    const module = new WritingModule(connection.module);
    const alarm = new TimerAlarm(connection.alarm);
    const clock = { monotonicMs: () => performance.now() };
    const connect = async () => new AnsweringSession(await connectDatabase(source));
    const report = (sent: UserReport) => {
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- no window
      port.postMessage(sent);
    };
    const claims = new SliceClaims({ slices, table, onLost: () => report({ kind: 'look' }) });
    this.#shown = shown;
    this.#port = port;
    this.#table = table;
    this.cluster = new AttachedSlices({
      id: connection.journal,
      uid: connection.node,
      table,
      heads,
      claims,
      slices,
      port,
      report,
    });
    this.#writing = new WritingSession({
      connect,
      claims,
      clock,
      shown,
      onClaimed: (claimed) => heads.advance(claimed),
      onEnded: ({ code, message }) => report({ kind: 'ended', code, message }),
    });
    this.#following = new FollowingSession({ connect, shown, clock });
    const headReads = new HeadReads({ session: this.#following, heads });
    this.positions = new SlicePositions(heads, () => headReads.read());
    const sweep = new ReplySweep({
      session: this.#following,
      slices: () => slices.filter((slice) => table.acquisitionOf(slice) !== undefined),
      clock,
      retentionMs,
    });
    sweep.begin();
    this.#group = new GroupCommit({
      writing: this.#writing,
      claims,
      module: () => module.number(),
      room: new JournalRoom(connection.room),
      uncertainMs,
      clock,
      shown,
      timerRules: { limits: timerLimits, occurrences: new Occurrences() },
      onStored: (group) => {
        heads.advance(group.heads);
        alarm.stored(group.earliestMs);
        if (group.retentionMs !== undefined) sweep.stored(group.retentionMs);
        const { appends, records, tookMs } = group;
        report({ kind: 'stored', appends, records, tookMs });
      },
      onFound: (found) => heads.advance(found),
      // Replies that have expired may leave room.
      onFull: () => sweep.begin(),
    });
    const reading = new ReadingSession(this.#following, this.#writing);
    this.#reads = new EntityReads(reading);
    this.#replies = new ReplyLookups(reading);
    this.#timers = new PostgresTimerReader(reading, () => undefined);
  }

  append(
    entity: EntityRef,
    records: readonly JournalRecord[],
    settled: (failure?: SvcError) => void,
    beside: StoredBeside = {},
  ): void {
    assert(records.length > 0 || beside.reply !== undefined || beside.timers !== undefined);
    assert(beside.isDetached !== true || (records.length === 0 && beside.reply === undefined));
    if (this.#isClosed) {
      queueMicrotask(() => settled(this.#closedFailure()));
      return;
    }
    const slice = sliceOf(entity.component, entity.id);
    const acquisition = this.#table.acquisitionOf(slice);
    const { reply } = beside;
    this.#group.append({ entity, slice, acquisition, records, beside, reply, settled });
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
    return this.#replies.answer(entity, key);
  }

  lookAhead(entity: EntityRef, key: string): Promise<ReplyAhead> {
    return this.#replies.lookAhead(entity, key);
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
    await this.#writing.close(this.#closedFailure());
    this.#following.close();
    this.#port.close();
  }

  #closedFailure(): SvcError {
    return new SvcError(
      'SVC_JOURNAL_UNAVAILABLE',
      `The journal in ${this.#shown} is closed. Open it again.`,
    );
  }
}
