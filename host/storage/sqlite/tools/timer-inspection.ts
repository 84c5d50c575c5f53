// SqliteTimerInspection is the inspection of the timers in a data folder.
import type { TimerFilter, TimerInspection, TimerPage } from '../../work-inspection.ts';
import { pageOf, timerList } from '../timer-reader.ts';
import { storedTimerOf, type TimerRow } from '../stored-timer-row.ts';
import { ReadingConnection } from './reading-connection.ts';

/** Journals of earlier formats have no table of timers. */
export const FIRST_FORMAT_WITH_TIMERS = 5;
const NO_TIMERS: TimerPage = { timers: [], damaged: [], last: undefined };

export class SqliteTimerInspection implements TimerInspection {
  readonly #connection: ReadingConnection;

  /** Throws SVC_JOURNAL_MISSING, SVC_JOURNAL_NEWER, SVC_JOURNAL_CORRUPT and SVC_DATA_UNUSABLE. */
  constructor(dir: string) {
    this.#connection = new ReadingConnection(dir);
  }

  list(filter: TimerFilter, afterNumber: number, limit: number): TimerPage {
    if (this.#connection.format < FIRST_FORMAT_WITH_TIMERS) return NO_TIMERS;
    const { sql, values } = timerList(filter, afterNumber, limit);
    const rows = this.#connection.rows(() => sql, values) as unknown as readonly TimerRow[];
    return pageOf(rows, storedTimerOf);
  }

  close(): void {
    this.#connection.close();
  }
}
