// EmbeddedLog is the log of an embedded service: lines on stderr, or a function of the program. If the function
// throws, no request fails.
import { textOf } from '@svc/components/thrown-text';
import type { LimitCounters } from '@svc/model/limit-counters';
import { createLog, type Log } from '@svc/kit/log';
import type { LogLimits } from '@svc/kit/log-limits';
import { entryBytes } from '@svc/kit/log-rate';
import { printable } from '@svc/kit/printable';
import type { ServiceOptions } from './embedded-options.ts';
import { ServiceLog } from './service-log.ts';

export function embeddedLog({ name, log, deployed }: ServiceOptions): Log {
  if (typeof log === 'function') return neverThrowing(log);
  if (log === 'none') return () => {};
  return createLog(name, log ?? (process.stderr.isTTY && deployed !== true ? 'text' : 'json'));
}

function neverThrowing(log: Log): Log {
  return (entry) => {
    try {
      log(entry);
    } catch (error) {
      const [reason = ''] = textOf(error).split('\n');
      process.stderr.write(`the log of the program lost a line: ${printable(reason)}\n`);
    }
  };
}

/** Returns the log of a service, which limits the rate of the entries that `write` receives. */
export function limitedLog(limits: LogLimits, counters: LimitCounters, write: Log): ServiceLog {
  let writtenBytes = 0;
  const log = new ServiceLog({
    limits,
    counters,
    send: (entry) => {
      write(entry);
      writtenBytes += entryBytes(entry);
      log.written(writtenBytes);
    },
  });
  return log;
}
