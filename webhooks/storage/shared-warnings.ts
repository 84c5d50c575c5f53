// SharedWarnings: the log of several journals on one server, each of which warns of the same when it is opened.
import type { Clock } from '@svc/kit/clock';
import type { Log } from '@svc/kit/log';

/** For so long after a warning, the same one is left out. */
const QUIET_MS = 60_000;

/** Returns a log to which several parts write. A warning without fields is logged once, although several of them write it at the same time. */
export function sharedWarnings(log: Log, clock: Pick<Clock, 'monotonicMs'>): Log {
  /** Texts of warnings, with the time until which they are left out. */
  const quiet = new Map<string, number>();
  return (entry) => {
    if (entry.level === 'warn' && Object.keys(entry.fields ?? {}).length === 0) {
      const nowMs = clock.monotonicMs();
      for (const [text, untilMs] of quiet) if (untilMs <= nowMs) quiet.delete(text);
      const text = entry.message;
      if (quiet.has(text)) return;
      quiet.set(text, nowMs + QUIET_MS);
    }
    log(entry);
  };
}
