// InstanceRun: the last run of an instance, as it stands in its folder: what was counted over its runs, and which process it is. It is
// on disk before the process is started, and names the run by a token that the process carries. So no process runs of which
// nothing is known, also if this process ends between the start and the note.
import type { ProcessStart } from '@svc/kit/process-start';
import { type BootTime, bootTimeIn } from './local-clock.ts';

export interface InstanceRun {
  readonly version: 1;
  /** Drawn for the run; its process has it in the environment (run-processes.ts). */
  readonly token: string;
  readonly startedAt: BootTime;
  /** Runs before this one. */
  readonly restarts: number;
  /** Ends by itself since it was last ready for a while. */
  readonly failures: number;
  /** Undefined until it was noted: the process may run nevertheless. */
  readonly process?: ProcessStart;
  /** Why no process was started. */
  readonly refusal?: string;
}

/** Returns the run in a parsed file; undefined if it is none. */
export function runIn(value: unknown): InstanceRun | undefined {
  if (!isRecord(value) || value['version'] !== 1) return undefined;
  const { token, startedAt, restarts, failures, process: started, refusal } = value;
  if (typeof token !== 'string' || bootTimeIn(startedAt) === undefined) return undefined;
  if (typeof restarts !== 'number' || typeof failures !== 'number') return undefined;
  if (refusal !== undefined && typeof refusal !== 'string') return undefined;
  if (started !== undefined && !isProcess(started)) return undefined;
  return value as unknown as InstanceRun;
}

function isProcess(value: unknown): boolean {
  if (!isRecord(value)) return false;
  const { pid, startTime, bootId } = value;
  // The ids 0 and 1 would mean other groups than that of an instance.
  if (!Number.isSafeInteger(pid) || (pid as number) <= 1) return false;
  if (startTime !== null && typeof startTime !== 'number') return false;
  return bootId === null || typeof bootId === 'string';
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
