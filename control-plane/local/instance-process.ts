// InstanceProcess: the process of an instance. It is a child in a process group of its own that outlives the control plane, and
// all that is known of it comes from files and from the system, so it is the same whether this process has started it or another.
//
// Invariants
// I1  A run is on disk before its process is started, and the process carries its token.
// I2  No run begins before all processes of an earlier one were killed.
// I3  A state file counts only if the process of the run has written it. In a sandbox a program does not see its own id, and nothing
//     outside can write there, so that file is of the run because each run begins without one.
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { closeSync, mkdirSync, writeFileSync } from 'node:fs';
import {
  ownProcessStart,
  processEnd,
  type ProcessStart,
  processStartOf,
} from '@svc/kit/process-start';
import { socketVariables } from '@svc/kit/listening-sockets';
import { observeState, type ServiceExit, type ServiceState } from '@svc/kit/state-file';
import type { InstanceFolder } from './instance-folder.ts';
import type { InstanceRun } from './instance-run.ts';
import type { InstanceSockets } from './instance-sockets.ts';
import type { LaunchCommand } from './launch-command.ts';
import { isSandboxed, sandboxedProgram } from './sandbox/sandboxed-process.ts';
import type { LocalClock } from './local-clock.ts';
import { killAll, processesOfRuns, RUN_VARIABLE, runName } from './run-processes.ts';

/**
 * Time from the note that a process is to be started until it can be found, in milliseconds. A control plane that is killed in between
 * leaves a process that is found this late.
 */
const SPAWN_MS = 1000;
const NEVER_STARTED = 'the control plane ended before it had started the process';

export type ProcessPhase =
  | { readonly kind: 'starting' }
  | { readonly kind: 'prepared' }
  | { readonly kind: 'ready' }
  | { readonly kind: 'stopping' }
  | ProcessEnded;

/** A command and the sockets that its process inherits. They may be closed here once it was started. */
export interface Launch extends LaunchCommand {
  readonly inherited?: InstanceSockets;
}

export interface ProcessEnded {
  readonly kind: 'ended';
  /** How the process has ended, in its own words; undefined for one that was killed. */
  readonly exit: ServiceExit | undefined;
  /** Why no process was started; undefined if one was. */
  readonly refusal: string | undefined;
  /** False: the end says nothing about the program, such as that of the machine. */
  readonly isFailure: boolean;
}

/**
 * Starts a run of the instance. `onEnd` is called when it ends, if this process still runs then. Throws the file system's error: then no
 * process of the run is left.
 */
export function startRun(
  folder: InstanceFolder,
  { file, args, env, files = [], folders = [], inherited }: Launch,
  counts: { readonly restarts: number; readonly failures: number },
  clock: LocalClock,
  onEnd: () => void,
): void {
  killLeftOver(folder);
  const token = randomBytes(12).toString('hex');
  const startedAt = { bootId: ownProcessStart().bootId, ms: clock.bootMs() };
  const run: InstanceRun = { version: 1, token, startedAt, ...counts };
  folder.writeRun(run);
  const output = folder.openOutput();
  try {
    for (const path of folders) mkdirSync(path, { recursive: true, mode: 0o700 });
    for (const { path, content } of files) writeFileSync(path, content, { mode: 0o600 });
    const child = spawn(file, args, {
      cwd: folder.path,
      env: {
        ...env,
        ...(inherited && socketVariables(inherited.names, process.pid)),
        [RUN_VARIABLE]: runName(folder.path, token),
      },
      detached: true,
      stdio: ['ignore', 'ignore', output, ...(inherited?.fds ?? [])],
    });
    // Without a listener a program that cannot be started would end this process.
    child.on('error', (error) => {
      if (child.pid === undefined) noteRun(folder, { ...run, refusal: error.message });
      onEnd();
    });
    child.on('exit', onEnd);
    child.unref();
    if (child.pid === undefined) return;
    try {
      folder.writeRun({ ...run, process: processStartOf(child.pid) });
    } catch (error) {
      process.kill(-child.pid, 'SIGKILL');
      throw error;
    }
  } finally {
    closeSync(output);
  }
}

/** Returns how far the last run is. */
export function phaseOf(folder: InstanceFolder, clock: LocalClock): ProcessPhase {
  const run = folder.lastRun;
  if (run === undefined || run.refusal === NEVER_STARTED) return ended({ isFailure: false });
  if (run.refusal !== undefined) return ended({ refusal: run.refusal });
  const started = run.process ?? findProcess(folder, run, clock);
  if (started === 'soon') return { kind: 'starting' };
  if (started === undefined) return ended({ isFailure: false });
  const state = stateOf(folder, started);
  const end = processEnd(started);
  if (end === undefined) {
    const phase = state?.phase ?? 'starting';
    return { kind: phase === 'ended' ? 'stopping' : phase };
  }
  if (end === 'other-boot') return ended({ isFailure: false });
  return ended({ exit: state?.phase === 'ended' ? state.exit : undefined });
}

function ended({
  exit,
  refusal,
  isFailure = true,
}: Partial<Omit<ProcessEnded, 'kind'>>): ProcessEnded {
  return { kind: 'ended', exit, refusal, isFailure };
}

/** Returns what the process itself has written, and nothing that another one has. */
function stateOf(
  folder: InstanceFolder,
  { pid, startTime }: ProcessStart,
): ServiceState | undefined {
  const observed = observeState(folder.stateFile);
  if (!('state' in observed)) return undefined;
  const { state } = observed;
  if (isSandboxed(folder)) return state;
  return state.pid === pid && state.startTime === startTime ? state : undefined;
}

/** Finds the process of a run whose process was not noted. `soon`: it may be about to start. */
function findProcess(
  folder: InstanceFolder,
  run: InstanceRun,
  clock: LocalClock,
): ProcessStart | 'soon' | undefined {
  const { bootId, ms } = run.startedAt;
  const isOfThisBoot = bootId === ownProcessStart().bootId;
  const found = isOfThisBoot
    ? processesOfRuns(runName(folder.path, run.token)).find(({ isLeader }) => isLeader)
    : undefined;
  if (found === undefined && isOfThisBoot && clock.bootMs() - ms < SPAWN_MS) return 'soon';
  const { start } = found ?? {};
  noteRun(
    folder,
    start === undefined ? { ...run, refusal: NEVER_STARTED } : { ...run, process: start },
  );
  return start;
}

/** Writes the run unless the disk refuses it: the next look finds it out again. */
function noteRun(folder: InstanceFolder, run: InstanceRun): void {
  try {
    folder.writeRun(run);
  } catch {
    // Such as a full disk.
  }
}

/** Sends the signal to the process, or to its whole group, if it still is the process that was started. */
export function signalRun(folder: InstanceFolder, signal: 'SIGTERM' | 'SIGKILL'): void {
  const started = folder.lastRun?.process;
  if (started === undefined || processEnd(started) !== undefined) return;
  // The process that keeps a sandbox would end at once, and the program with it.
  const pid = sandboxedProgram(folder, started.pid) ?? started.pid;
  try {
    process.kill(signal === 'SIGKILL' ? -started.pid : pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/** Kills what is left of runs of the instance, such as children of a process that has ended. */
export function killLeftOver(folder: InstanceFolder): void {
  killAll(processesOfRuns(`${folder.path}#`));
}

/** Kills the processes of instances below the folder that are not of the last run of any: nobody would ever end them. */
export function killStrays(instancesFolder: string, known: readonly InstanceFolder[]): number {
  const runs = new Set(known.map(({ path, lastRun }) => runName(path, lastRun?.token ?? '')));
  const strays = processesOfRuns(`${instancesFolder}/`).filter(({ run }) => !runs.has(run));
  killAll(strays);
  return strays.length;
}
