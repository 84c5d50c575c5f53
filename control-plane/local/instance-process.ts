// InstanceProcess: the process of an instance. It is a child in a process group of its own that outlives the control plane, and
// all that is known of it comes from files and from the system, so it is the same whether this process has started it or another.
import { spawn } from 'node:child_process';
import { closeSync } from 'node:fs';
import { processEnd, processStartOf } from '@svc/kit/process-start';
import { observeState, type ServiceExit } from '@svc/kit/state-file';
import type { InstanceFolder } from './instance-folder.ts';
import type { LaunchCommand } from './launch-command.ts';

/** Time in which a started process has to write its state file, in milliseconds; then it counts as dead. */
const FIRST_STATE_MS = 30_000;

export type ProcessPhase =
  | { readonly kind: 'starting' }
  | { readonly kind: 'prepared' }
  | { readonly kind: 'ready'; readonly sinceMs: number }
  | { readonly kind: 'stopping' }
  /** `exit` is undefined for a process that was killed while nobody watched. */
  | { readonly kind: 'ended'; readonly exit: ServiceExit | undefined };

/**
 * Starts a run of the instance. `onEnd` is called when it ends, if this process still runs then. Throws if the program cannot be
 * started.
 */
export function startRun(
  folder: InstanceFolder,
  { file, args, env }: LaunchCommand,
  counts: { readonly restarts: number; readonly failures: number; readonly nowMs: number },
  onEnd: () => void,
): void {
  const output = folder.openOutput();
  try {
    const child = spawn(file, args, {
      cwd: folder.path,
      env,
      detached: true,
      stdio: ['ignore', 'ignore', output],
    });
    // Without a listener a program that cannot be started would end this process. Its pid is undefined.
    child.on('error', () => {});
    child.on('exit', onEnd);
    child.unref();
    const { restarts, failures, nowMs: startedAtMs } = counts;
    const start = processStartOf(child.pid ?? 0);
    folder.writeRun({ version: 1, ...start, startedAtMs, restarts, failures });
  } finally {
    closeSync(output);
  }
}

/** Returns how far the last run is. */
export function phaseOf(folder: InstanceFolder, nowMs: number): ProcessPhase {
  const observed = observeState(folder.stateFile);
  switch (observed.kind) {
    case 'running': {
      const { phase, updatedAt } = observed.state;
      if (phase === 'ready') return { kind: 'ready', sinceMs: Date.parse(updatedAt) };
      return { kind: phase === 'ended' ? 'stopping' : phase };
    }
    case 'ended':
      return { kind: 'ended', exit: observed.exit };
    case 'dead':
      return { kind: 'ended', exit: undefined };
    case 'missing':
    case 'unreadable':
      return unsaid(folder, nowMs);
    default:
      return observed satisfies never;
  }
}

/** The phase of a run that has not written its state file yet. */
function unsaid(folder: InstanceFolder, nowMs: number): ProcessPhase {
  const run = folder.lastRun;
  const sinceMs = run?.startedAtMs ?? folder.spec.createdAtMs;
  const isLate = Math.abs(nowMs - sinceMs) > FIRST_STATE_MS;
  const isGone = run === undefined ? isLate : processEnd(run) !== undefined;
  return isGone ? { kind: 'ended', exit: undefined } : { kind: 'starting' };
}

/** Sends the signal to the process, or to its whole group, if it still is the process that was started. */
export function signalRun(folder: InstanceFolder, signal: 'SIGTERM' | 'SIGKILL'): void {
  const run = runningProcess(folder);
  // The ids 0 and 1 would mean other groups than that of an instance.
  if (run === undefined || run.pid <= 1 || processEnd(run) !== undefined) return;
  try {
    process.kill(signal === 'SIGKILL' ? -run.pid : run.pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/** The state file is the word of the process itself: the run's may be missing if the control plane was killed as it started it. */
function runningProcess(folder: InstanceFolder) {
  const observed = observeState(folder.stateFile);
  return observed.kind === 'running' ? observed.state : folder.lastRun;
}
