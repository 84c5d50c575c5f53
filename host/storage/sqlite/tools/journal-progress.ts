// JournalProgress finds out how far a journal is, beside a host that may be writing it, and which module has used it last.
import { isHosted } from '../data-folder.ts';
import { ReadingConnection } from './reading-connection.ts';

const END = () => 'SELECT ifnull(max(pos), 0) FROM journal';
const NEXT = () => `SELECT time_ms FROM journal JOIN entity USING (eno)
  WHERE pos > ?1 AND pos <= ?1 + ?2 AND component IN (SELECT value FROM json_each(?3)) ORDER BY pos LIMIT 1`;
const MODULE = (format: number) =>
  format < 3
    ? 'SELECT NULL, NULL WHERE FALSE'
    : 'SELECT fingerprint, descriptor FROM module ORDER BY mno DESC LIMIT 1';

/** Records that are looked at for one of certain components. */
const LOOKED_AT_MAX = 10_000;

/** All methods throw SVC_JOURNAL_CORRUPT, SVC_JOURNAL_NEWER and SVC_JOURNAL_UNAVAILABLE. */
export class JournalProgress {
  readonly #dir: string;
  readonly #connection: ReadingConnection;

  /** Throws SVC_JOURNAL_MISSING, SVC_JOURNAL_NEWER, SVC_JOURNAL_CORRUPT and SVC_DATA_UNUSABLE. */
  constructor(dir: string) {
    this.#dir = dir;
    this.#connection = new ReadingConnection(dir);
  }

  /** Whether a host uses the folder. */
  get isHosted(): boolean {
    return isHosted(this.#dir);
  }

  /** Returns the position of the last record; 0 if there is none. */
  end(): number {
    return Number(this.#connection.rows(END, [])[0]![0]);
  }

  /**
   * Returns when the first record of these components after a position was stored, in milliseconds since 1970. Undefined:
   * there is none among the next 10,000 records.
   */
  nextTimeMs(pos: number, components: readonly string[]): number | undefined {
    const [row] = this.#connection.rows(NEXT, [pos, LOOKED_AT_MAX, JSON.stringify(components)]);
    return row === undefined ? undefined : Number(row[0]);
  }

  /** Returns the module that has used the journal last; undefined if it is not recorded. `descriptor`: JSON text. */
  lastModule(): { readonly fingerprint: string; readonly descriptor: string } | undefined {
    const [fingerprint, descriptor] = this.#connection.rows(MODULE, [])[0] ?? [];
    return typeof fingerprint === 'string' && typeof descriptor === 'string'
      ? { fingerprint, descriptor }
      : undefined;
  }

  /** Closes the file; the next read opens it again. */
  close(): void {
    this.#connection.close();
  }
}
