// WriterThread is the thread of a journal's writer (journal-writer.ts), as the thread sees it that opens the journal. The
// thread may be started before the data folder is locked: it then loads its code, and touches nothing before `open`.
import { type MessagePort, Worker } from 'node:worker_threads';
import type { TimerLimits } from '@svc/model/timer-limits';
import { JournalEnd } from '../journal-end.ts';
import type { JournalSeries } from '../journal-series.ts';
import { TimerAlarm } from '../timer-alarm.ts';
import type { ConsumerRequest } from './consumer-requests.ts';
import type { LevelSizes } from './index-compaction.ts';
import { journalPath } from './journal-file.ts';
import type { JournalLimits } from '../journal-limits.ts';
import type { RequestAnswered, WriterCommand, WriterReport } from './journal-message.ts';
import type { TimerRequest } from './timer-requests.ts';

export interface WriterParts {
  readonly limits: Pick<JournalLimits, 'bytesMax'>;
  readonly timerLimits: TimerLimits;
  readonly levelSizes: LevelSizes;
  /** Receives the counts of the writer. */
  readonly series: JournalSeries;
}

export class WriterThread {
  /** The position of the last record that is on disk. */
  readonly journalEnd = new JournalEnd();
  readonly alarm = new TimerAlarm();
  /** Resolves when the thread has ended, with the error that has ended it, if one has. */
  readonly ended: Promise<{ readonly cause: unknown }>;
  hasEnded = false;
  readonly #worker: Worker;
  /** Number of the last request. */
  #lastRequest = 0;

  /** `dir`: absolute path of the data folder. */
  constructor(dir: string, { limits, timerLimits, levelSizes, series }: WriterParts) {
    this.#worker = new Worker(new URL('./journal-writer.ts', import.meta.url), {
      name: 'journal writer',
      workerData: {
        path: journalPath(dir),
        limits,
        timerLimits,
        levelSizes,
        series: series.shared,
        end: this.journalEnd.shared,
        alarm: this.alarm.shared,
      },
    });
    let cause: unknown;
    this.#worker.on('error', (error) => {
      cause = error;
    });
    this.ended = new Promise((resolve) => {
      this.#worker.once('exit', () => {
        this.hasEnded = true;
        resolve({ cause });
      });
    });
  }

  /** Opens the journal, whose folder this process has locked. Stays pending if the thread ends before it answers. */
  async open(): Promise<WriterReport> {
    const report = Promise.withResolvers<WriterReport>();
    this.#worker.once('message', report.resolve);
    this.send({ kind: 'open' });
    return report.promise;
  }

  send(command: WriterCommand, port?: MessagePort): void {
    if (port === undefined) this.#worker.postMessage(command, []);
    else this.#worker.postMessage({ ...command, port }, [port]);
  }

  /** Sends a request, and waits for its outcome; undefined if the thread ends before. */
  async request(
    request: TimerRequest | ConsumerRequest,
  ): Promise<RequestAnswered['outcome'] | undefined> {
    const number = ++this.#lastRequest;
    const answered = Promise.withResolvers<RequestAnswered['outcome']>();
    const receive = (report: WriterReport): void => {
      if (report.kind === 'request-answered' && report.number === number)
        answered.resolve(report.outcome);
    };
    this.#worker.on('message', receive);
    try {
      this.send({ kind: 'request', number, request });
      return await Promise.race([answered.promise, this.ended.then(() => undefined)]);
    } finally {
      this.#worker.off('message', receive);
    }
  }

  /** Terminates the thread. */
  async end(): Promise<void> {
    await this.#worker.terminate();
  }
}
