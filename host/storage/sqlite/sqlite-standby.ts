// SqliteStandby opens a journal that another process has open, once that process has ended: the writer's thread is
// started before, and the lock of the data folder is tried again and again. Nothing in the folder changes before the lock
// is taken, except that a missing folder and its lock file are made.
import { resolve } from 'node:path';
import { SvcError } from '@svc/kit/svc-error';
import { TIMER_LIMITS_DEFAULT } from '@svc/model/timer-limits';
import { JournalSeries } from '../journal-series.ts';
import type { JournalStandby, JournalTakeover } from '../journal-takeover.ts';
import { openDataFolderWhenFree } from './data-folder.ts';
import { LEVEL_SIZES_DEFAULT } from './index-compaction.ts';
import type { JournalLimits } from '../journal-limits.ts';
import { type JournalOptions, SqliteJournal } from './sqlite-journal.ts';
import { WriterThread } from './writer-thread.ts';

export class SqliteStandby implements JournalStandby<SqliteJournal> {
  readonly #dir: string;
  readonly #writer: WriterThread;
  #isOpened = false;

  /** Starts the writer's thread. */
  constructor(
    dir: string,
    limits: Pick<JournalLimits, 'bytesMax'>,
    {
      levelSizes = LEVEL_SIZES_DEFAULT,
      timerLimits = TIMER_LIMITS_DEFAULT,
      series = new JournalSeries(),
    }: JournalOptions = {},
  ) {
    this.#dir = resolve(dir);
    this.#writer = new WriterThread(this.#dir, { limits, timerLimits, levelSizes, series });
  }

  /** Opens the journal once its folder is free. Call it once. Rejects as `openSqliteJournal` does, except that it waits instead of SVC_DATA_IN_USE. */
  async open({ tryIntervalMs, signal, onLocked }: JournalTakeover): Promise<SqliteJournal> {
    const writerEnded = new AbortController();
    void this.#writer.ended.then(({ cause }) => writerEnded.abort(unavailable(this.#dir, cause)));
    const folder = await openDataFolderWhenFree(this.#dir, {
      tryIntervalMs,
      signal: AbortSignal.any([signal, writerEnded.signal]),
    });
    onLocked();
    try {
      this.#isOpened = true;
      return await SqliteJournal.start(folder, this.#writer);
    } catch (error) {
      folder.close();
      throw error;
    }
  }

  /** Ends the writer's thread unless it has become that of an open journal, which closes it. */
  async close(): Promise<void> {
    if (!this.#isOpened) await this.#writer.end();
  }
}

function unavailable(dir: string, cause: unknown): SvcError {
  return new SvcError(
    'SVC_JOURNAL_UNAVAILABLE',
    `The writer of the journal in ${dir} has ended before the journal was opened. Start the service again.`,
    { cause },
  );
}
