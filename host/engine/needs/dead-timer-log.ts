// DeadTimerLog is what the engine needs of the log: it takes the timers that have failed for the last time.
import type { StoredTimer } from './timers.ts';

/** `timer`: as it was before. `attempts`: all of them. `fault`: why the last one failed, in one line. Must not throw. */
export type DeadTimerLog = (
  timer: Pick<StoredTimer, 'owner' | 'name' | 'target' | 'command'>,
  attempts: number,
  fault: string,
) => void;
