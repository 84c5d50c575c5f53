// LimitedLog: the log of a program that forwards requests. What others can cause is limited by svc.log.*, so that nobody fills a disk.
import type { Log } from './log.ts';
import type { LogEntry } from './log-entry.ts';
import type { LogLimits } from './log-limits.ts';
import { entryBytes, LogRate } from './log-rate.ts';

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
