// LimitLog logs which limits were hit: each minute in which the counts have changed, and at the stop.
import type { LimitCounters } from '@svc/model/limit-counters';
import type { Log } from '@svc/kit/log';

const INTERVAL_MS = 60_000;

export class LimitLog {
  readonly #counters: Pick<LimitCounters, 'read'>;
  readonly #log: Log;
  /** The counts of the latest line, as JSON text. */
  #logged = '{}';
  #timer: NodeJS.Timeout | undefined;

  constructor(counters: Pick<LimitCounters, 'read'>, log: Log) {
    this.#counters = counters;
    this.#log = log;
  }

  /** Logs changes from now on; the timer keeps no process alive. */
  start(): void {
    this.#timer = setInterval(() => this.logChanges(), INTERVAL_MS).unref();
  }

  /** Logs for the last time. */
  stop(): void {
    clearInterval(this.#timer);
    this.logChanges();
  }

  /** Logs a line if the counts have changed. */
  logChanges(): void {
    const counts = Object.entries(this.#counters.read()).filter(([, count]) => count > 0);
    const fields = Object.fromEntries(counts);
    const text = JSON.stringify(fields);
    if (text === this.#logged) return;
    this.#logged = text;
    this.#log({ level: 'info', message: 'limits met since the start', fields });
  }
}
