// AwaitedProcess: reads what a process holds once it answers; it may be started later.
import { setTimeout as pause } from 'node:timers/promises';
import { ProcessAway } from './process-failures.ts';
import { type ProcessSource, readProcess } from './process-source.ts';
import type { ProcessConnection } from './process-stream.ts';

/** Pause between two attempts to reach the process, in milliseconds. */
const PAUSE_MS = 100;

/**
 * Resolves with what the process at the address holds, as soon as it answers. `waiting`: called with the end of a sentence that begins with `The process`, each
 * time that the reason to wait is another one. Rejects with SVC_PROCESS_INVALID if it cannot be served, and with the signal's reason.
 */
export async function awaitProcess(
  connection: ProcessConnection,
  signal: AbortSignal,
  waiting: (why: string) => void,
): Promise<ProcessSource> {
  for (let reported: string | undefined; ;) {
    try {
      return await readProcess(connection, signal);
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof ProcessAway)) throw error;
      if (error.why !== reported) waiting(error.why);
      reported = error.why;
    }
    await pause(PAUSE_MS, undefined, { signal });
  }
}
