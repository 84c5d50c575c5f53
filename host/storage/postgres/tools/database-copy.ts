// DatabaseCopy makes a journal in an empty database from the entries of another one. What is stored stays when the copy is interrupted:
// another copy of the same journal compares the records that are there, and goes on after them.
//
// Invariants
// - Until the copy is complete, its format is one that no service opens. All of it is on disk before it gets its format.
// - Of two copies into one database, the one that has begun last goes on: each write locks the row of the journal and compares its id.
// - Records have the numbers that say where they are in the commit order, so that an export of the copy is that of the original.
import { randomUUID } from 'node:crypto';
import { printable } from '@svc/kit/printable';
import { SvcError } from '@svc/kit/svc-error';
import { sliceOf } from '@svc/model/slice';
import type { ConsumerEntry, CopiedEntry, RecordEntry } from '../../journal-entries.ts';
import type { JournalInDatabase } from '../../journal-location.ts';
import { connectDatabase } from '../connect-database.ts';
import { consumerChecksum, offsetChecksum } from '../consumers/consumer-rows.ts';
import type { DatabaseSession, Parameter, Row, Statement } from '../database-session.ts';
import { journalFailure } from '../journal-failure.ts';
import { beginCopy, hasUnfinishedCopy } from '../migration.ts';
import { schemaOf } from '../schema-session.ts';
import { JOURNAL_FORMAT, UNFINISHED_FORMAT } from '../schema.ts';
import { type SliceEnds, noRecords, readEnds, sumOf } from './commit-order.ts';
import {
  COMPARED_COLUMNS,
  CONSUMER_COLUMNS,
  LANE_COLUMNS,
  MODULE_COLUMNS,
  OFFSET_COLUMNS,
  RECORD_COLUMNS,
  REPLY_COLUMNS,
  TIMER_COLUMNS,
  laneRow,
  moduleRow,
  recordRow,
  replyRow,
  timerRow,
} from './copied-rows.ts';
import { CopyBatch, type Step, type Value } from './copy-batch.ts';
import { checkEntities } from './entity-numbers.ts';

const BEGIN = { text: 'BEGIN' };
const COMMIT = { text: 'COMMIT' };
const FENCE = {
  name: 'copy-fence',
  text: `SELECT FROM svc.cluster WHERE id = $1 AND format = ${UNFINISHED_FORMAT} FOR UPDATE`,
};
/** Everything but records, which may have changed in the original. */
const EMPTY = {
  text: 'TRUNCATE svc.timer, svc.reply, svc.consumer, svc.consumer_offset, svc.lane, svc.module, svc.snapshot',
};
const HEADS = {
  name: 'copy-heads',
  text: `UPDATE svc.slice s SET head = h.head, commits = s.commits + 1
  FROM unnest($1::int2[], $2::int8[]) AS h(slice, head) WHERE s.slice = h.slice`,
};
const TYPES = {
  name: 'copy-types',
  text: 'INSERT INTO svc.event_type SELECT * FROM unnest($1::text[], $2::text[]) ON CONFLICT DO NOTHING',
};
const STORED = {
  name: 'copy-compare',
  text: `SELECT count(*) FROM unnest($1::int2[], $2::int8[], $3::int8[], $4::text[]) AS r(slice, off, crc, tx)
  JOIN svc.journal j ON j.slice = r.slice AND j.off = r.off AND j.crc = r.crc AND j.tx = r.tx::xid8`,
};
const ANALYZE = { text: 'ANALYZE svc.journal, svc.reply, svc.timer' };
const FINISH = {
  text: `UPDATE svc.cluster SET format = ${JOURNAL_FORMAT} WHERE id = $1 AND format = ${UNFINISHED_FORMAT}`,
};
const TIMER_COUNT = {
  text: 'UPDATE svc.timer_count SET timers = CASE part WHEN -1 THEN $1 ELSE 0 END',
};
const TIMER_NUMBER = {
  text: `SELECT setval('svc.timer_number', greatest($1::int8, 1), $1::int8 > 0)`,
};
const MODULE_NUMBER = {
  text: `SELECT setval(pg_get_serial_sequence('svc.module', 'number'), greatest($1::int8, 1), $1::int8 > 0)`,
};

/** Records that are compared at once with those that are there. */
const COMPARED_AT_ONCE = 5_000;

export class DatabaseCopy {
  readonly #session: DatabaseSession;
  readonly #id: string;
  /** The number of the last record of each slice that was added, stored or not. */
  readonly #ends = noRecords();
  /** How many records were stored before. */
  readonly #before: number;
  #count = 0;
  readonly #records = new CopyBatch('journal', RECORD_COLUMNS);
  readonly #replies = new CopyBatch('reply', REPLY_COLUMNS);
  readonly #timers = new CopyBatch('timer', TIMER_COLUMNS);
  readonly #lanes = new CopyBatch('lane', LANE_COLUMNS);
  readonly #modules = new CopyBatch('module', MODULE_COLUMNS);
  /** Consumers whose position was not reached yet, and those of which it is known how far each slice is. */
  #waiting: readonly ConsumerEntry[] = [];
  readonly #consumers: (readonly [ConsumerEntry, SliceEnds])[] = [];
  /** Slices that have other heads than in the database. */
  #changed = new Set<number>();
  readonly #types = new Set<string>();
  #newTypes: (readonly [component: string, manifest: string])[] = [];
  #compared: (readonly Value[])[] = [];
  #timerCount = 0;
  #timerNumber = 0;
  #moduleNumber = 0;
  #storedMs = -Infinity;

  private constructor(session: DatabaseSession, id: string, before: number) {
    this.#session = session;
    this.#id = id;
    this.#before = before;
  }

  /** Rejects with SVC_JOURNAL_NOT_EMPTY if a copy into a database cannot begin, and as connecting does. */
  static async check({ source }: JournalInDatabase): Promise<void> {
    const session = await connectDatabase(source);
    try {
      await hasUnfinishedCopy(session);
    } catch (error) {
      throw journalFailure(error, session.shown);
    } finally {
      await session.close();
    }
  }

  /** Begins a copy, or goes on with one. Rejects as `check` does. */
  static async open(location: JournalInDatabase): Promise<DatabaseCopy> {
    const session = await connectDatabase(location.source);
    try {
      const id = randomUUID();
      await beginCopy(session, id);
      const copy = new DatabaseCopy(session, id, sumOf(await readEnds(session)));
      await copy.#write([[EMPTY, []]]);
      return copy;
    } catch (error) {
      session.abort();
      throw journalFailure(error, session.shown);
    }
  }

  /**
   * Adds an entry. Entries come in the order of `JournalEntry`. Rejects with SVC_JOURNAL_NOT_EMPTY if the database has an unfinished
   * copy of another journal, SVC_DATA_IN_USE if another copy into it has begun meanwhile, SVC_DATABASE_UNSUPPORTED,
   * SVC_JOURNAL_CORRUPT, SVC_DISK_FULL and SVC_JOURNAL_UNAVAILABLE. Then the copy is to be closed.
   */
  async add(entry: CopiedEntry): Promise<void> {
    switch (entry.kind) {
      case 'record':
        return this.#addRecord(entry);
      case 'answer':
        // Replies are read in the order of `stored_ms`, which is the time of the reply where that order allows it.
        this.#storedMs = Math.max(entry.timeMs, this.#storedMs + 1);
        return this.#addTo(this.#replies, replyRow(entry, this.#storedMs));
      case 'timer':
        this.#timerCount++;
        this.#timerNumber = Math.max(this.#timerNumber, entry.timer.number);
        return this.#addTo(this.#timers, timerRow(entry));
      case 'lane':
        return this.#addTo(this.#lanes, laneRow(entry));
      case 'module':
        this.#moduleNumber = Math.max(this.#moduleNumber, entry.number);
        return this.#addTo(this.#modules, moduleRow(entry));
      case 'consumer':
        this.#waiting = [...this.#waiting, entry];
    }
  }

  /** Completes the copy, which a service may use then. Returns the number of entities. Rejects as `add` does. */
  async finish(): Promise<number> {
    await this.#compare();
    if (this.#count < this.#before) throw this.#other();
    await this.#flush();
    this.#settle(this.#waiting);
    await this.#write([...this.#consumerSteps(), ...this.#numberSteps()]);
    let entities = 0;
    for await (const { count, holes } of checkEntities(this, this.#ends)) {
      entities += count;
      if (holes[0] !== undefined) throw this.#damaged(holes[0]);
    }
    await this.query(ANALYZE);
    await this.#write([[FINISH, [this.#id]]]);
    return entities;
  }

  async query(statement: Statement, values?: readonly Parameter[]): Promise<readonly Row[]> {
    try {
      return await this.#session.query(statement, values);
    } catch (error) {
      throw journalFailure(error, this.#session.shown);
    }
  }

  /** Ends the connection. What was stored stays. */
  close(): Promise<void> {
    return this.#session.close();
  }

  async #addRecord(entry: RecordEntry): Promise<void> {
    const { pos, component, id, record } = entry;
    if (pos !== ++this.#count) throw this.#damaged(entry);
    const passed = this.#waiting.filter((consumer) => consumer.pos < pos);
    if (passed.length > 0) this.#settle(passed);
    const slice = sliceOf(component, id);
    const row = recordRow(entry, slice, ++this.#ends[slice]!);
    if (pos <= this.#before) {
      this.#compared.push(row);
      if (this.#compared.length >= COMPARED_AT_ONCE) await this.#compare();
      return;
    }
    await this.#compare();
    this.#changed.add(slice);
    if (record.kind === 'event') this.#noteType(component, record.event.manifest);
    await this.#addTo(this.#records, row);
  }

  async #addTo(batch: CopyBatch, row: readonly Value[]): Promise<void> {
    const text = row.find((value) => typeof value === 'string' && value.includes('\u0000'));
    if (text !== undefined) throw this.#unstorable(String(text));
    batch.add(row);
    if (batch.isFull) await this.#flush();
  }

  /** Stores what has come. */
  async #flush(): Promise<void> {
    const slices = [...this.#changed];
    const heads = slices.map((slice) => this.#ends[slice]!);
    const types = this.#newTypes;
    this.#changed = new Set();
    this.#newTypes = [];
    await this.#write([
      ...this.#modules.take(),
      ...this.#records.take(),
      ...(slices.length === 0 ? [] : [[HEADS, [slices, heads]] as const]),
      ...(types.length === 0
        ? []
        : [[TYPES, [types.map(([one]) => one), types.map(([, two]) => two)]] as const]),
      ...this.#lanes.take(),
      ...this.#timers.take(),
      ...this.#replies.take(),
    ]);
  }

  async #write(steps: readonly Step[]): Promise<void> {
    if (steps.length === 0) return;
    await this.query(BEGIN);
    const held = await this.query(FENCE, [this.#id]);
    if (held.length === 0) throw this.#replaced();
    // oxlint-disable-next-line no-await-in-loop -- a statement follows the other
    for (const [statement, values] of steps) await this.query(statement, values);
    await this.query(COMMIT);
  }

  /** Compares records with those that are there. */
  async #compare(): Promise<void> {
    const rows = this.#compared;
    if (rows.length === 0) return;
    this.#compared = [];
    const columns = COMPARED_COLUMNS.map((column) => rows.map((row) => row[column]!));
    const [found] = await this.query(STORED, columns);
    if (found![0] !== rows.length) throw this.#other();
  }

  /** Notes that the records of these consumers' positions were reached. */
  #settle(consumers: readonly ConsumerEntry[]): void {
    for (const consumer of consumers) this.#consumers.push([consumer, this.#ends.slice()]);
    this.#waiting = this.#waiting.filter((consumer) => !consumers.includes(consumer));
  }

  #consumerSteps(): readonly Step[] {
    const consumers = new CopyBatch('consumer', CONSUMER_COLUMNS);
    const offsets = new CopyBatch('consumer_offset', OFFSET_COLUMNS);
    for (const [{ id, start }, ends] of this.#consumers) {
      consumers.add([id, start, consumerChecksum(id, start)]);
      for (const [slice, off] of ends.entries())
        if (off > 0) offsets.add([id, slice, off, offsetChecksum(id, slice, off)]);
    }
    return [...consumers.take(), ...offsets.take()];
  }

  #numberSteps(): readonly Step[] {
    return [
      [TIMER_COUNT, [this.#timerCount]],
      [TIMER_NUMBER, [this.#timerNumber]],
      [MODULE_NUMBER, [this.#moduleNumber]],
    ];
  }

  #noteType(component: string, manifest: string): void {
    const name = `${component}\n${manifest}`;
    if (this.#types.has(name)) return;
    this.#types.add(name);
    this.#newTypes.push([component, manifest]);
  }

  #damaged({ component, id }: { readonly component: string; readonly id: string }): SvcError {
    return new SvcError(
      'SVC_JOURNAL_CORRUPT',
      `The journal is damaged: the numbers of the records of entity '${printable(id)}' of component '${printable(component)}' have a ` +
        'hole. The copy is not complete. svc journal verify names all that is damaged.',
    );
  }

  #other(): SvcError {
    return new SvcError(
      'SVC_JOURNAL_NOT_EMPTY',
      `The database ${this.#session.shown} is not empty: it has an unfinished copy of another journal. Name an empty database, or ` +
        `remove the schema ${schemaOf(this.#session)} from this one.`,
    );
  }

  #replaced(): SvcError {
    return new SvcError(
      'SVC_DATA_IN_USE',
      `Another copy into ${this.#session.shown} has begun, and goes on with what was copied. Wait until it has ended.`,
    );
  }

  #unstorable(text: string): SvcError {
    return new SvcError(
      'SVC_DATABASE_UNSUPPORTED',
      `A text of the journal has U+0000, which PostgreSQL cannot store, so that it cannot be copied into ${this.#session.shown}. Keep it in ` +
        `its folder. The text is: ${printable(text)}`,
    );
  }
}
