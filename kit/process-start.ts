// ProcessStart: which process of this machine has an id. An id is used again, so a process is known by its id, when it
// started, and the boot in which that was. Linux has both under /proc; elsewhere only the id is known.
import { readdirSync, readFileSync } from 'node:fs';
import { isProcessAlive } from './process-life.ts';

/** One process of one boot of this machine. */
export interface ProcessStart {
  readonly pid: number;
  /** When the process started, in clock ticks since boot: field 22 of /proc/PID/stat. Null where there is no /proc. */
  readonly startTime: number | null;
  /** Id of the boot, which is drawn anew at each. Null where there is no /proc. */
  readonly bootId: string | null;
}

/** Why a process does not run any more. */
export type ProcessEnd = 'gone' | 'zombie' | 'other-process' | 'other-boot';

const BOOT_ID_FILE = '/proc/sys/kernel/random/boot_id';
/** Index of field 22 among the fields that follow the command: the first of them is field 3. */
const START_TIME_INDEX = 19;
/** Index of field 4, the process that has started it. */
const PARENT_INDEX = 1;
/** States of a process that runs no more: it has ended, and nobody has asked for its exit status. */
const ENDED_STATES: ReadonlySet<string> = new Set(['Z', 'X', 'x']);

/** Returns which process this one is. */
export function ownProcessStart(): ProcessStart {
  return processStartOf(process.pid);
}

/** Returns which process has the id now. */
export function processStartOf(pid: number): ProcessStart {
  return { pid, startTime: statOf(pid)?.startTime ?? null, bootId: bootId() };
}

/** Returns why the process does not run any more; undefined if it runs, as far as the system shows that. */
export function processEnd({ pid, startTime, bootId: boot }: ProcessStart): ProcessEnd | undefined {
  if (!isProcessAlive(pid)) {
    const own = bootId();
    return boot !== null && own !== null && own !== boot ? 'other-boot' : 'gone';
  }
  if (boot !== null && bootId() !== boot) return 'other-boot';
  if (startTime === null) return undefined;
  const stat = statOf(pid);
  if (stat === undefined) return 'gone';
  if (stat.startTime !== startTime) return 'other-process';
  return ENDED_STATES.has(stat.state) ? 'zombie' : undefined;
}

/** Returns the id of the only process that was started by a child of the process; undefined if there is none, or more than one. */
export function onlyGrandchildOf(pid: number): number | undefined {
  const processes = readdirSync('/proc').flatMap((name) => {
    const stat = /^\d+$/.test(name) ? statOf(Number(name)) : undefined;
    return stat === undefined ? [] : [{ pid: Number(name), parent: stat.parent }];
  });
  const children = new Set(processes.filter(({ parent }) => parent === pid).map((one) => one.pid));
  const [found, ...others] = processes.filter(({ parent }) => children.has(parent));
  return others.length === 0 ? found?.pid : undefined;
}

/** Undefined until it is read: this process and its boot are the same for good. */
let ownBootId: string | null | undefined;

function bootId(): string | null {
  ownBootId ??= readProc(BOOT_ID_FILE)?.trim() ?? null;
  return ownBootId;
}

interface ProcessStat {
  readonly state: string;
  readonly parent: number;
  readonly startTime: number;
}

/** Returns undefined if there is no such process, or no /proc. */
function statOf(pid: number): ProcessStat | undefined {
  const text = readProc(`/proc/${pid}/stat`);
  if (text === undefined) return undefined;
  // The command is in parentheses, and may have parentheses and spaces of its own.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return {
    state: fields[0]!,
    parent: Number(fields[PARENT_INDEX]),
    startTime: Number(fields[START_TIME_INDEX]),
  };
}

function readProc(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}
