// LimitLog logs which limits were hit, whenever the counts have changed since the last line.
import type { LimitCounters } from '../model/limit-counters.ts';
import type { Log } from '@svc/kit/log';

export class LimitLog {
  readonly #counters: Pick<LimitCounters, 'read'>;
  readonly #log: Log;
  #logged = '{}';

  constructor(counters: Pick<LimitCounters, 'read'>, log: Log) {
    this.#counters = counters;
    this.#log = log;
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
