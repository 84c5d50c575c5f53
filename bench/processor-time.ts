// ProcessorTime: the processor time of another process, all of its threads together, of user and system.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** A tick of /proc/PID/stat. Linux shows the same to every program, whatever its own is. */
const TICK_US = 10_000;
const US_PER_SECOND = 1e6;
/** Seconds of the parts of a time as ps prints it: days, hours, minutes, seconds. */
const SECONDS = [86_400, 3600, 60, 1];

/** Returns the processor time that a process has used so far, in microseconds, to a hundredth of a second. */
export function processorUs(pid: number): number {
  if (process.platform !== 'linux') {
    const { stdout } = spawnSync('ps', ['-o', 'time=', '-p', String(pid)], { encoding: 'utf8' });
    const parts = stdout.trim().split(/[-:]/).map(Number);
    const units = SECONDS.slice(-parts.length);
    return parts.reduce((sum, part, index) => sum + part * units[index]!, 0) * US_PER_SECOND;
  }
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
  // The name of the program, in parentheses, may contain anything.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * TICK_US;
}
