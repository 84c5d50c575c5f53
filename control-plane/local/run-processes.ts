// RunProcesses: which processes of this machine belong to runs of instances. Each is started with a variable that names its run, and all
// that it starts inherit the variable, so a process is found although nobody could note its id. Linux shows environments below
// /proc, to the same user and to root; elsewhere nothing is found.
import { readdirSync, readFileSync } from 'node:fs';
import { type ProcessStart, processEnd, processStartOf } from '@svc/kit/process-start';

/** Name of the variable with the run: `<folder of the instance>#<token>`. */
export const RUN_VARIABLE = 'SVC_LOCAL_RUN';
/** Index of field 5 of /proc/PID/stat, the process group, among the fields that follow the command. */
const GROUP_INDEX = 2;

export interface RunProcess {
  readonly start: ProcessStart;
  /** Value of the variable. */
  readonly run: string;
  /** True: the process was started as the run; false: by a process of the run. */
  readonly isLeader: boolean;
}

export function runName(instanceFolder: string, token: string): string {
  return `${instanceFolder}#${token}`;
}

/** Returns all processes whose run has a name that begins so. Those that have ended are left out. */
export function processesOfRuns(prefix: string): readonly RunProcess[] {
  const found: RunProcess[] = [];
  for (const name of pids()) {
    const pid = Number(name);
    // The start comes first: an id that is used again meanwhile is another process then.
    const start = processStartOf(pid);
    const run = runOf(name);
    if (run === undefined || !run.startsWith(prefix)) continue;
    const isLeader = groupOf(name) === pid;
    if (start.startTime !== null && processEnd(start) === undefined)
      found.push({ start, run, isLeader });
  }
  return found;
}

function pids(): readonly string[] {
  try {
    return readdirSync('/proc').filter((name) => /^\d+$/.test(name) && Number(name) > 1);
  } catch {
    return [];
  }
}

function runOf(pid: string): string | undefined {
  const start = `${RUN_VARIABLE}=`;
  const variable = readProc(pid, 'environ')
    ?.split('\0')
    .find((one) => one.startsWith(start));
  return variable?.slice(start.length);
}

function groupOf(pid: string): number | undefined {
  const stat = readProc(pid, 'stat');
  // The command is in parentheses, and may have parentheses and spaces of its own.
  return stat === undefined
    ? undefined
    : Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[GROUP_INDEX]);
}

/** Returns undefined for a process that is gone, or of another user. */
function readProc(pid: string, name: string): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'utf8');
  } catch {
    return undefined;
  }
}

/** Kills the processes, and all that are in their groups. */
export function killAll(processes: readonly RunProcess[]): void {
  for (const { start, isLeader } of processes) {
    if (processEnd(start) !== undefined) continue;
    killOne(isLeader ? -start.pid : start.pid);
  }
}

function killOne(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
