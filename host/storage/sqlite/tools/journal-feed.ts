// JournalFeed reads the records of a data folder in commit order, for a fold of views by a tool, also while a host runs on
// the folder. It ends with the record that was the last one when it was opened.
import { resolve } from 'node:path';
import type { Feed, FeedPage, FeedRecord, Position } from '../../../engine/needs/feed.ts';
import { READ_UNITS_MAX } from '../../../engine/needs/journal.ts';
import { JournalEnd } from '../../journal-end.ts';
import { journalPath } from '../journal-file.ts';
import { journalDamaged } from '../sqlite-failure.ts';
import { SqlitePositions } from '../sqlite-positions.ts';
import { type ScannedRow, SqliteScan } from './journal-scan.ts';

export class JournalFeed extends SqlitePositions implements Feed {
  /** Path of the journal's file, for messages. */
  readonly path: string;
  readonly #scan: SqliteScan;

  /** Throws SVC_JOURNAL_MISSING, SVC_JOURNAL_NEWER, SVC_JOURNAL_CORRUPT, SVC_JOURNAL_UNAVAILABLE and SVC_DATA_UNUSABLE. */
  constructor(dir: string) {
    const scan = new SqliteScan(dir);
    const end = new JournalEnd();
    end.advance(scan.lastPos());
    super(end.shared);
    this.path = journalPath(resolve(dir));
    this.#scan = scan;
  }

  read(after: Position, limit: number, components: ReadonlySet<string>): FeedPage {
    const from = Number(after);
    const records: FeedRecord[] = [];
    let pos = from;
    let units = 0;
    for (const scanned of this.#page(from, limit)) {
      pos = scanned.pos;
      const { component, id, record } = scanned;
      if (!components.has(component)) continue;
      records.push({ entity: { component, id }, record });
      if (record.kind === 'event') units += record.event.json.length;
      if (units >= READ_UNITS_MAX) break;
    }
    return { records, position: String(pos) };
  }

  mark(position: Position): string | undefined {
    const pos = Number(position);
    if (pos === 0 || pos > this.journalEnd.pos) return undefined;
    const [entry] = this.#scan.page(pos - 1, 1, pos).entries;
    return entry?.kind === 'record' ? String(entry.row[CRC_COLUMN]) : undefined;
  }

  /** No record follows the last one. */
  advancedPast(): Promise<void> {
    return new Promise(() => {});
  }

  close(): void {
    this.#scan.close();
  }

  /** Returns the records after a position up to the first damaged one. Throws if that would be the first. */
  #page(from: number, limit: number): readonly ScannedRow[] {
    const { entries } = this.#scan.page(from, limit, this.journalEnd.pos);
    const records: ScannedRow[] = [];
    for (const entry of entries) {
      if (entry.kind === 'record') records.push(entry);
      else if (records.length > 0) break;
      else throw journalDamaged(this.path, `the record at position ${entry.pos}: ${entry.problem}`);
    }
    return records;
  }
}

/** Index of the checksum in a RecordRow. */
const CRC_COLUMN = 6;
