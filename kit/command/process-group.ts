// ProcessGroup: the processes that a command has started, as far as they have stayed in the group of its first process.
// A signal to the group reaches all of them.
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';

/** Pause between two looks at a group that is ending, in milliseconds. */
const LOOK_EVERY_MS = 20;
/** Time in which the system ends a killed process, in milliseconds. */
const KILLED_MS = 1_000;

/** Sends a signal to every process of the group. A group that has ended receives nothing. */
export function signalGroup(groupId: number, signal: NodeJS.Signals): void {
  try {
    process.kill(process.platform === 'win32' ? groupId : -groupId, signal);
  } catch {
    // All processes have ended, or they belong to another user.
  }
}

/**
 * Ends all processes of the group: with SIGTERM, and after `graceMs` with SIGKILL. Resolves once none is left, and a
 * second after SIGKILL in any case.
 */
export async function endGroup(groupId: number, graceMs: number): Promise<void> {
  signalGroup(groupId, 'SIGTERM');
  if (await isGoneWithin(groupId, graceMs)) return;
  signalGroup(groupId, 'SIGKILL');
  await isGoneWithin(groupId, KILLED_MS);
}

async function isGoneWithin(groupId: number, limitMs: number): Promise<boolean> {
  const endMs = performance.now() + limitMs;
  while (isAlive(groupId)) {
    if (performance.now() >= endMs) return false;
    await delay(LOOK_EVERY_MS);
  }
  return true;
}

/** Returns whether the group has a process that has not ended. */
export function isAlive(groupId: number): boolean {
  try {
    process.kill(process.platform === 'win32' ? groupId : -groupId, 0);
  } catch {
    return false;
  }
  // The signal also finds processes that have ended, until their parent has read their exit code: in a container
  // whose first process never does, this is for good.
  return process.platform !== 'linux' || hasRunningProcess(groupId);
}

function hasRunningProcess(groupId: number): boolean {
  return readdirSync('/proc').some((name) => {
    if (!/^\d+$/.test(name)) return false;
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'latin1');
      // The name of the program stands in parentheses and may contain any character.
      const [state, , group] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      return Number(group) === groupId && state !== 'Z' && state !== 'X';
    } catch {
      // The process has ended.
      return false;
    }
  });
}
