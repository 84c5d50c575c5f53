// TimerInspection reads the timers in a data folder for a person, also while a host runs on it. It reads damaged timers
// as such, and creates and changes nothing in the folder.
import { pageOf, type TimerFilter, timerList, type TimerPage } from '../timer-reader.ts';
import { storedTimerOf, type TimerRow } from '../stored-timer-row.ts';
import { ReadingConnection } from './reading-connection.ts';

export type { TimerFilter, TimerPage };

/** Journals of earlier formats have no table of timers. */
export const FIRST_FORMAT_WITH_TIMERS = 5;
const NO_TIMERS: TimerPage = { timers: [], damaged: [], last: undefined };

export class TimerInspection {
  readonly #connection: ReadingConnection;

  /** Throws SVC_JOURNAL_MISSING, SVC_JOURNAL_NEWER, SVC_JOURNAL_CORRUPT and SVC_DATA_UNUSABLE. */
  constructor(dir: string) {
    this.#connection = new ReadingConnection(dir);
  }

  /**
   * Returns timers in the order in which they were set, with a number after `afterNumber`, at most `limit`. Throws
   * SVC_JOURNAL_CORRUPT, SVC_JOURNAL_NEWER and SVC_JOURNAL_UNAVAILABLE.
   */
  list(filter: TimerFilter, afterNumber: number, limit: number): TimerPage {
    if (this.#connection.format < FIRST_FORMAT_WITH_TIMERS) return NO_TIMERS;
    const { sql, values } = timerList(filter, afterNumber, limit);
    const rows = this.#connection.rows(() => sql, values) as unknown as readonly TimerRow[];
    return pageOf(rows, storedTimerOf);
  }

  /** Closes the file; the next read opens it again. */
  close(): void {
    this.#connection.close();
  }
}
