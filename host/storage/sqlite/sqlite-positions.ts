// SqlitePositions compares positions of the journal in SQLite. A position is the number `pos` of a record, in decimal digits;
// the end of the journal comes from memory that the writer shares.
import type { Position, Positions } from '../../engine/needs/feed.ts';
import { JournalEnd } from '../journal-end.ts';

/** Decimal digits of a position: no leading zero, and within the integers that a number holds exactly. */
const POSITION = /^(?:0|[1-9]\d{0,14})$/;

export class SqlitePositions implements Positions {
  readonly start = '0';
  protected readonly journalEnd: JournalEnd;

  /** `end`: shared memory of the JournalEnd of the journal's writer. */
  constructor(end: SharedArrayBuffer) {
    this.journalEnd = new JournalEnd(end);
  }

  end(): Position {
    return String(this.journalEnd.pos);
  }

  /** There is one order of all entities. */
  endOf(): Position {
    return this.end();
  }

  hasReached(position: Position, wanted: Position): boolean {
    return Number(position) >= Number(wanted);
  }

  count(from: Position, to: Position): number {
    return Math.max(0, Number(to) - Number(from));
  }

  parse(text: string): Position | undefined {
    return POSITION.test(text) ? text : undefined;
  }
}
