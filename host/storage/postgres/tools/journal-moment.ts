// JournalMoment is a journal in a database as it is at one moment, for a tool that reads all of it while services go on. Records never
// change, so that the heads of the slices say which belong to the moment; of everything else the server keeps a copy of its own until
// the connection ends. So no transaction is open for long, and nothing is kept from being vacuumed.
import type { SvcError } from '@svc/kit/svc-error';
import type { StoredTimer } from '../../../engine/needs/timers.ts';
import type { LaneEntry, ReplyEntry } from '../../journal-entries.ts';
import type { JournalInDatabase } from '../../journal-location.ts';
import type { RecordFilter } from '../../journal-scan.ts';
import type { JournalFinding } from '../../verification-step.ts';
import type { DatabaseSession, Parameter, Row, Statement } from '../database-session.ts';
import { journalFailure } from '../journal-failure.ts';
import { TIMER_COLUMNS, timerOfRow } from '../timers/timer-row.ts';
import { CommitOrder, type SliceEnds, copiedTx, noRecords, readEnds } from './commit-order.ts';
import { connectForReading } from './database-reading.ts';
import { OrderedRecords } from './ordered-records.ts';
import {
  REPLY_COLUMNS,
  type ReadConsumer,
  WORK_LANE_COLUMNS,
  laneOfRow,
  readConsumers,
  replyOfRow,
} from './stored-work.ts';

/** The server makes its copies with one statement, in milliseconds at most. */
const STATEMENT_MS = 600_000;
/** Rows that are fetched at once; few, because a reply may have a megabyte. */
const FETCHED_AT_ONCE = 64;

const BEGIN = { text: 'BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY' };
const COMMIT = { text: 'COMMIT' };
const MODULES = {
  text: 'SELECT number, fingerprint, time_ms, descriptor FROM svc.module ORDER BY number',
};
/** Lanes are in the order in which their entities came into being, as a folder has them. */
const COPIES = [
  `DECLARE lanes NO SCROLL CURSOR WITH HOLD FOR
    SELECT ${WORK_LANE_COLUMNS} FROM (
      SELECT l.*, j.tx >= '${copiedTx(0)}'::xid8 AS is_copied, j.tx FROM svc.lane l
      LEFT JOIN svc.journal j ON j.slice = l.slice AND j.component = l.component AND j.id = l.id AND j.seq = 1
    ) l ORDER BY consumer, is_copied DESC NULLS LAST, tx, slice, component, id`,
  `DECLARE timers NO SCROLL CURSOR WITH HOLD FOR SELECT ${TIMER_COLUMNS} FROM svc.timer t ORDER BY t.number`,
  `DECLARE replies NO SCROLL CURSOR WITH HOLD FOR
    SELECT ${REPLY_COLUMNS} FROM svc.reply r ORDER BY r.stored_ms, r.slice, r.component, r.id, r.key`,
];

export interface MomentModule {
  readonly number: number;
  readonly fingerprint: string;
  readonly timeMs: number;
  readonly descriptor: string;
}

export class JournalMoment {
  /** The last record of each slice. */
  readonly ends: SliceEnds;
  /** In the order in which they began to write. */
  readonly modules: readonly MomentModule[];
  /** By id. */
  readonly consumers: readonly (ReadConsumer | JournalFinding)[];
  readonly #session: DatabaseSession;

  private constructor(
    session: DatabaseSession,
    ends: SliceEnds,
    modules: readonly MomentModule[],
    consumers: readonly (ReadConsumer | JournalFinding)[],
  ) {
    this.#session = session;
    this.ends = ends;
    this.modules = modules;
    this.consumers = consumers;
  }

  /** Rejects as `connectForReading` does. */
  static async open(location: JournalInDatabase): Promise<JournalMoment> {
    const session = await connectForReading(location, { statementTimeoutMs: STATEMENT_MS });
    try {
      await session.query(BEGIN);
      const ends = await readEnds(session);
      const modules = (await session.query(MODULES)) as readonly [number, string, number, string][];
      const consumers = await readConsumers(session);
      for (const text of COPIES) await session.query({ text });
      await session.query(COMMIT);
      const found = modules.map(([number, fingerprint, timeMs, descriptor]) => ({
        number,
        fingerprint,
        timeMs,
        descriptor,
      }));
      return new JournalMoment(session, ends, found, consumers);
    } catch (error) {
      session.abort();
      throw journalFailure(error, session.shown);
    }
  }

  /** Returns the rows of a statement that changes nothing. Rejects with SvcError. */
  async query(statement: Statement, values?: readonly Parameter[]): Promise<readonly Row[]> {
    try {
      return await this.#session.query(statement, values);
    } catch (error) {
      throw journalFailure(error, this.#session.shown);
    }
  }

  records(filter?: RecordFilter): OrderedRecords {
    return new OrderedRecords(this, noRecords(), this.ends, filter);
  }

  /** The keys of all records, in their order. */
  order(): CommitOrder {
    return new CommitOrder(this, noRecords(), this.ends);
  }

  /** Pages of the lanes of all consumers. Each of these lists is read once. */
  lanes(): AsyncGenerator<readonly (LaneEntry | JournalFinding)[], void> {
    return this.#pages('lanes', laneOfRow);
  }

  /** Pages of the timers, in the order in which they were set. SVC_JOURNAL_CORRUPT for each damaged one. */
  timers(): AsyncGenerator<readonly (StoredTimer | SvcError)[], void> {
    return this.#pages('timers', timerOfRow);
  }

  /** Pages of the replies, in the order in which they were stored. */
  replies(): AsyncGenerator<readonly (ReplyEntry | JournalFinding)[], void> {
    return this.#pages('replies', replyOfRow);
  }

  close(): Promise<void> {
    return this.#session.close();
  }

  async *#pages<T>(cursor: string, valueOf: (row: Row) => T): AsyncGenerator<readonly T[], void> {
    const text = `FETCH FORWARD ${FETCHED_AT_ONCE} FROM ${cursor}`;
    for (;;) {
      // oxlint-disable-next-line no-await-in-loop -- each page follows the one before
      const rows = await this.query({ text });
      if (rows.length === 0) return;
      yield rows.map(valueOf);
    }
  }
}
