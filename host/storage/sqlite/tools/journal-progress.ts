// SqliteProgress is how far a journal in a data folder is.
import type { Position, Positions } from '../../../engine/needs/feed.ts';
import { JournalEnd } from '../../journal-end.ts';
import type { JournalProgress } from '../../journal-progress.ts';
import { isHosted } from '../data-folder.ts';
import { SqlitePositions } from '../sqlite-positions.ts';
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

export class SqliteProgress implements JournalProgress {
  readonly #dir: string;
  readonly #connection: ReadingConnection;

  /** Throws SVC_JOURNAL_MISSING, SVC_JOURNAL_NEWER, SVC_JOURNAL_CORRUPT and SVC_DATA_UNUSABLE. */
  constructor(dir: string) {
    this.#dir = dir;
    this.#connection = new ReadingConnection(dir);
  }

  isHosted(): boolean {
    return isHosted(this.#dir);
  }

  positions(): Positions {
    const end = new JournalEnd();
    end.advance(Number(this.#connection.rows(END, [])[0]![0]));
    return new SqlitePositions(end.shared);
  }

  nextTimeMs(position: Position, components: readonly string[]): number | undefined {
    const asked = [Number(position), LOOKED_AT_MAX, JSON.stringify(components)];
    const [row] = this.#connection.rows(NEXT, asked);
    return row === undefined ? undefined : Number(row[0]);
  }

  lastModule(): { readonly fingerprint: string; readonly descriptor: string } | undefined {
    const [fingerprint, descriptor] = this.#connection.rows(MODULE, [])[0] ?? [];
    return typeof fingerprint === 'string' && typeof descriptor === 'string'
      ? { fingerprint, descriptor }
      : undefined;
  }

  close(): void {
    this.#connection.close();
  }
}
