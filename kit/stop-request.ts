// StopRequest: the events that stop a program's process: SIGINT, SIGTERM, SIGHUP (its terminal is closed), or
// the end of the process that started it, if the caller names that process. The file imports nothing of the
// program, so that it listens first of all: process 1 never receives a signal that was sent before it listened.
import { constants } from 'node:os';

const PARENT_CHECK_INTERVAL_MS = 200;
/**
 * A signal to a whole process group, or to all processes of a systemd unit, arrives twice if another process of them forwards it (npm, a
 * shell, the process that started Node). Within this time it counts as the same signal.
 */
const PASSED_ON_MS = 1_000;

type StopSignal = 'SIGINT' | 'SIGTERM' | 'SIGHUP';

/**
 * Resolves with the reason to stop. The same signal again, later than `PASSED_ON_MS`, ends the process at once.
 * `parentPid`: id of the process whose end is a reason to stop; undefined: none.
 */
export async function stopRequest(
  parentPid: string | undefined,
  signals: readonly StopSignal[] = ['SIGINT', 'SIGTERM', 'SIGHUP'],
): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  for (const signal of signals) listen(signal, () => resolve(signal));
  if (parentPid !== undefined) {
    const watch = setInterval(() => {
      if (process.ppid === Number(parentPid)) return;
      clearInterval(watch);
      resolve('the process that started it has ended');
    }, PARENT_CHECK_INTERVAL_MS);
    watch.unref();
  }
  return promise;
}

function listen(signal: StopSignal, report: () => void): void {
  let isReported = false;
  const leaveToNode = (): void => {
    // Process 1 ignores a signal without a listener.
    if (process.pid === 1)
      process.once(signal, () => process.exit(128 + constants.signals[signal]));
    process.off(signal, onSignal);
  };
  const onSignal = (): void => {
    if (isReported) return;
    isReported = true;
    report();
    setTimeout(leaveToNode, PASSED_ON_MS).unref();
  };
  process.on(signal, onSignal);
}
