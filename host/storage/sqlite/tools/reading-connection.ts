// ReadingConnection reads a journal while another process may write it. It creates and changes nothing in the folder,
// and each read ends at once, so that no read transaction keeps the write-ahead log from beginning anew.
import { existsSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { SvcError } from '@svc/kit/svc-error';
import { inspectJournalFile, journalPath, openForReading } from '../journal-file.ts';
import { journalDamaged, journalFailure } from '../sqlite-failure.ts';

/** A row of SQLite. Whole numbers are bigints, because a damaged one may be larger than a JavaScript number holds. */
export type StoredRow = readonly unknown[];

/**
 * Selects 1 if the tables `entity` and `journal` are there and no view has the name of a table: a view could compute
 * without end.
 */
const TABLES = `SELECT sum(type = 'table' AND name IN ('entity', 'journal')) = 2 AND sum(type <> 'table') = 0
  FROM pragma_table_list WHERE schema = 'main' AND name IN (
    'entity', 'journal', 'place_new', 'place_recent', 'place_old', 'answer', 'manifest', 'module',
    'timer', 'consumer', 'lane')`;

export class ReadingConnection {
  readonly path: string;
  #database: DatabaseSync | undefined = undefined;
  readonly #statements = new Map<string, StatementSync>();
  /** State of the file when it was opened without a log; undefined when it has one. */
  #unchanging: string | undefined = undefined;

  /** Throws SVC_JOURNAL_MISSING, SVC_JOURNAL_NEWER, SVC_JOURNAL_CORRUPT and SVC_DATA_UNUSABLE. */
  constructor(dir: string) {
    const folder = resolve(dir);
    this.path = journalPath(folder);
    // Opening a pipe of that name would block.
    if (statSync(this.path, { throwIfNoEntry: false })?.isFile() === false)
      throw journalDamaged(this.path, 'it is not a file');
    if (!inspectJournalFile(this.path, 'read'))
      throw new SvcError(
        'SVC_JOURNAL_MISSING',
        `There is no journal in ${folder}${existsSync(folder) ? '' : ', which does not exist'}. ` +
          `Name the folder that svc run has kept it in: ${join('.svc', 'NAME')}, unless --data said otherwise.`,
      );
  }

  /** Whether there is a write-ahead log: a running host has one, and a killed host has left its own. */
  get hasLog(): boolean {
    return existsSync(`${this.path}-wal`);
  }

  /** Version of the journal's format. A host that starts may migrate it. */
  get format(): number {
    return Number(this.rows(() => 'SELECT user_version FROM pragma_user_version', [])[0]![0]);
  }

  /**
   * Returns the rows of one statement, up to the first one for which `enough` returns true. `sql` is called with the
   * journal's format. Throws SVC_JOURNAL_CORRUPT, SVC_JOURNAL_NEWER and SVC_JOURNAL_UNAVAILABLE.
   */
  rows(
    sql: (format: number) => string,
    values: readonly SQLInputValue[],
    enough: (row: StoredRow) => boolean = () => false,
  ): readonly StoredRow[] {
    try {
      for (;;) {
        this.#database ??= this.#open();
        const format = this.#format(this.#database);
        const rows: StoredRow[] = [];
        for (const row of this.#statement(this.#database, sql(format)).iterate(...values)) {
          const stored = row as unknown as StoredRow;
          rows.push(stored);
          if (enough(stored)) break;
        }
        // A host that starts meanwhile may migrate the journal, and store records.
        if (this.#isUnchanged() && format === this.#format(this.#database)) return rows;
        this.close();
      }
    } catch (error) {
      throw journalFailure(error, 'read', this.path);
    }
  }

  /**
   * Yields the rows of one statement as they are at one moment. The read lasts until the last row was yielded, so the
   * caller takes them without a pause. Throws as `rows` does, and SVC_JOURNAL_UNAVAILABLE if a host starts meanwhile.
   */
  *stream(sql: string): Generator<StoredRow, void> {
    try {
      this.#database ??= this.#open();
      for (const row of this.#statement(this.#database, sql).iterate())
        yield row as unknown as StoredRow;
    } catch (error) {
      throw journalFailure(error, 'read', this.path);
    }
    if (!this.#isUnchanged())
      throw new SvcError(
        'SVC_JOURNAL_UNAVAILABLE',
        `The journal ${this.path} was changed by a host that has just started. Try again.`,
      );
  }

  /** Closes the file; the next read opens it again. */
  close(): void {
    this.#statements.clear();
    this.#database?.close();
    this.#database = undefined;
  }

  #isUnchanged(): boolean {
    return this.#unchanging === undefined || this.#unchanging === this.#state();
  }

  #format(database: DatabaseSync): number {
    const row = this.#statement(database, 'PRAGMA user_version').get() as unknown as StoredRow;
    return Number(row[0]);
  }

  #statement(database: DatabaseSync, sql: string): StatementSync {
    const known = this.#statements.get(sql);
    if (known !== undefined) return known;
    const statement = database.prepare(sql);
    statement.setReturnArrays(true);
    statement.setReadBigInts(true);
    this.#statements.set(sql, statement);
    return statement;
  }

  /**
   * Opens the file. A host that ended in good order leaves no log, and a reader would make one: such a file is opened
   * as immutable, and read again if a host has started meanwhile.
   */
  #open(): DatabaseSync {
    this.#unchanging = this.#state();
    const database =
      this.#unchanging === undefined ? openForReading(this.path) : openUnchanging(this.path);
    try {
      const tables = Object.values(database.prepare(TABLES).get() ?? {})[0];
      if (tables !== 1) throw journalDamaged(this.path, 'it has other tables than a journal');
      return database;
    } catch (error) {
      database.close();
      throw error;
    }
  }

  /** Returns a text that identifies the content of the file; undefined when there is a log. */
  #state(): string | undefined {
    const { ino, size, mtimeNs } = statSync(this.path, { bigint: true });
    return this.hasLog ? undefined : `${ino} ${size} ${mtimeNs}`;
  }
}

function openUnchanging(path: string): DatabaseSync {
  const address = pathToFileURL(path);
  address.searchParams.set('immutable', '1');
  return new DatabaseSync(address, { readOnly: true });
}
