// SqliteFeed reads the journal's records in commit order, through a connection of its own. A position is the number `pos` of
// a record; the feed finds out from shared memory that more records are on disk.
//
// Invariant: the positions of records have no gaps. Where one is missing, or a record is damaged, the feed does not go on.
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { SvcError } from '@svc/kit/svc-error';
import { sqliteCode } from '@svc/kit/sqlite-code';
import type { Feed, FeedPage, FeedRecord, Position } from '../../engine/needs/feed.ts';
import { READ_UNITS_MAX } from '../../engine/needs/journal.ts';
import { journalPath, openForReading } from './journal-file.ts';
import { recordOf } from './journal-reader.ts';
import { countIn, type RecordRow, recordColumns } from './journal-schema.ts';
import { journalFailure } from './sqlite-failure.ts';
import { SqlitePositions } from './sqlite-positions.ts';

const PAGE = `SELECT component, id, ${recordColumns()} FROM journal LEFT JOIN entity USING (eno)
  WHERE pos > ? ORDER BY pos LIMIT ${countIn('?')}`;

export interface SqliteFeedOptions {
  /** The data folder, absolute. */
  readonly dir: string;
  /** Shared memory of the JournalEnd of the journal's writer. */
  readonly end: SharedArrayBuffer;
}

type FeedRow = readonly [component: string | null, id: string | null, ...record: RecordRow];

/** Opens the feed of a journal that this process has open. Throws SVC_JOURNAL_CORRUPT or SVC_JOURNAL_UNAVAILABLE. */
export function openSqliteFeed(options: SqliteFeedOptions): SqliteFeed {
  return new SqliteFeed(options);
}

class SqliteFeed extends SqlitePositions implements Feed {
  readonly #path: string;
  readonly #database: DatabaseSync;
  readonly #page: StatementSync;
  readonly #checksum: StatementSync;
  #isClosed = false;

  constructor({ dir, end }: SqliteFeedOptions) {
    super(end);
    this.#path = journalPath(dir);
    try {
      this.#database = openForReading(this.#path);
      this.#page = this.#database.prepare(PAGE);
      this.#page.setReturnArrays(true);
      this.#checksum = this.#database.prepare('SELECT crc FROM journal WHERE pos = ?');
    } catch (error) {
      throw journalFailure(error, 'opened', this.#path);
    }
  }

  read(after: Position, limit: number, components: ReadonlySet<string>): FeedPage {
    const records: FeedRecord[] = [];
    let pos = Number(after);
    let units = 0;
    try {
      for (const row of this.#page.iterate(pos, limit)) {
        const record = this.#recordAt(pos + 1, row as unknown as FeedRow, components);
        pos++;
        if (record === undefined) continue;
        records.push(record);
        if (record.record.kind === 'event') units += record.record.event.json.length;
        if (units >= READ_UNITS_MAX) break;
      }
    } catch (error) {
      // The page ends before the record that cannot be read.
      if (pos === Number(after)) throw this.#failure(error, pos + 1);
    }
    return { records, position: String(pos) };
  }

  /** Returns the record in a row; undefined if it is of another component. Throws SVC_JOURNAL_CORRUPT. */
  #recordAt(
    pos: number,
    [component, id, ...row]: FeedRow,
    components: ReadonlySet<string>,
  ): FeedRecord | undefined {
    if (row[0] !== pos) throw damaged(this.#path, pos, 'it is missing');
    if (component === null || id === null)
      throw damaged(this.#path, pos, 'it belongs to no entity');
    if (!components.has(component)) return undefined;
    const entity = { component, id };
    return { entity, record: recordOf(entity, row) };
  }

  #failure(error: unknown, pos: number): unknown {
    if (error instanceof SvcError) return error;
    // A RangeError that is not of SQLite: a column holds a number that this version of the format never writes.
    if (sqliteCode(error) === undefined && error instanceof RangeError)
      return damaged(this.#path, pos, 'a number in it is out of range');
    return journalFailure(error, 'read', this.#path);
  }

  mark(position: Position): string | undefined {
    try {
      const crc = this.#checksum.get(Number(position))?.['crc'];
      return crc === undefined ? undefined : String(crc);
    } catch (error) {
      throw this.#failure(error, Number(position));
    }
  }

  async advancedPast(position: Position): Promise<void> {
    const pos = Number(position);
    for (;;) {
      const endPos = this.journalEnd.pos;
      if (this.#isClosed || endPos > pos) return;
      await this.journalEnd.changed(endPos);
    }
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.journalEnd.wake();
    this.#database.close();
  }
}

function damaged(path: string, pos: number, problem: string): SvcError {
  return new SvcError(
    'SVC_JOURNAL_CORRUPT',
    `The record at position ${pos} of the journal ${path} cannot be read: ${problem}. ` +
      'Restore the data folder from a backup; entities without damaged records are not affected.',
  );
}
