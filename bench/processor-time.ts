// ProcessorTime: the processor time of another process, all of its threads together, of user and system.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** A tick of /proc/PID/stat. Linux shows the same to every program, whatever its own is. */
const TICK_US = 10_000;
const US_PER_SECOND = 1e6;
/** Seconds of the parts of a time as ps prints it: days, hours, minutes, seconds. */
const SECONDS = [86_400, 3600, 60, 1];
/** Fields of /proc/PID/stat after the name: the times of the process, and those of its children that have ended. */
const OWN = [11, 12];
const ENDED_CHILDREN = [13, 14];

/** Returns the processor time that a process has used so far, in microseconds, to a hundredth of a second. */
export function processorUs(pid: number): number {
  if (process.platform !== 'linux') {
    const { stdout } = spawnSync('ps', ['-o', 'time=', '-p', String(pid)], { encoding: 'utf8' });
    const parts = stdout.trim().split(/[-:]/).map(Number);
    const units = SECONDS.slice(-parts.length);
    return parts.reduce((sum, part, index) => sum + part * units[index]!, 0) * US_PER_SECOND;
  }
  return linuxUs(pid, OWN);
}

/**
 * Returns the processor time that a process and its children have used so far, in microseconds. Children that have ended count on
 * Linux alone.
 */
export function familyUs(pid: number): number {
  const { stdout } = spawnSync('pgrep', ['-P', String(pid)], { encoding: 'utf8' });
  const ended = process.platform === 'linux' ? linuxUs(pid, ENDED_CHILDREN) : 0;
  const pids = [pid, ...stdout.split('\n').filter(Boolean).map(Number)];
  return pids.reduce((sum, member) => sum + usUnlessEnded(member), ended);
}

function usUnlessEnded(pid: number): number {
  try {
    return processorUs(pid);
  } catch {
    // It has ended since it was listed.
    return 0;
  }
}

function linuxUs(pid: number, columns: readonly number[]): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
  // The name of the program, in parentheses, may contain anything.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return columns.reduce((sum, column) => sum + Number(fields[column]), 0) * TICK_US;
}
