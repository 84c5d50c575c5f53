// StopRequest: what tells the host's process to stop: SIGINT, SIGTERM, SIGHUP (its terminal is closed), or the end
// of the process that started it, where that one is named. It imports nothing of the host, so that it listens first of all:
// process 1 never learns of a signal that came before.
import { constants } from 'node:os';

const PARENT_LOOKED_FOR_MS = 200;
/**
 * A signal to a whole process group comes twice where another process of the group passes it on (npm, a shell, what
 * started Node). Within this time it is the same one.
 */
const PASSED_ON_MS = 1_000;

type StopSignal = 'SIGINT' | 'SIGTERM' | 'SIGHUP';

/** Resolves with what told it. The same signal again, later than it would be passed on, ends the process at once. */
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
    }, PARENT_LOOKED_FOR_MS);
    watch.unref();
  }
  return promise;
}

function listen(signal: StopSignal, told: () => void): void {
  let isTold = false;
  const heard = (): void => {
    if (isTold) return;
    isTold = true;
    told();
    setTimeout(() => {
      // To process 1 a signal that nothing listens for does nothing.
      if (process.pid === 1)
        process.once(signal, () => process.exit(128 + constants.signals[signal]));
      process.off(signal, heard);
    }, PASSED_ON_MS).unref();
  };
  process.on(signal, heard);
}
