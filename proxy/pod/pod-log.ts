// PodLog: the log of a running proxy. What others can cause is limited by svc.log.*, so that nobody fills a disk.
import type { Log } from '@svc/kit/log';
import type { LogEntry } from '@svc/kit/log-entry';
import type { LogLimits } from '@svc/kit/log-limits';
import { entryBytes, LogRate } from '@svc/kit/log-rate';

/** Returns a log that drops lines beyond the limits, and says how many. */
export function limitedLog(log: Log, limits: LogLimits, now: () => number): Log {
  let writtenBytes = 0;
  const write = (entry: LogEntry): void => {
    log(entry);
    writtenBytes += entryBytes(entry);
  };
  const rate = new LogRate(limits, now(), write, () => undefined);
  return (entry) => {
    rate.write(entry, now());
    rate.written(writtenBytes);
  };
}
