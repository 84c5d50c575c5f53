// Cores: assigns processors to a measured server, with all of its threads, and to the load generator. taskset of
// util-linux pins both, so that the load takes no time from the server.
import { spawnSync } from 'node:child_process';

export type Placement =
  /** Lists of processors in the format of taskset. */
  | { readonly kind: 'pinned'; readonly server: string; readonly load: string }
  | { readonly kind: 'unpinned'; readonly reason: string };

/**
 * Returns one processor for the server, and all other processors of this process for the load; `unpinned` if there is
 * no taskset, or only one processor.
 */
export function oneCoreForServer(): Placement {
  const allowed = processorsOf(process.pid);
  if (allowed === undefined) return { kind: 'unpinned', reason: 'there is no taskset' };
  const [server, ...load] = listed(allowed);
  return load.length === 0
    ? { kind: 'unpinned', reason: 'there is one core only' }
    : { kind: 'pinned', server: String(server), load: load.join(',') };
}

/** Returns the command line that runs `command` on these processors; undefined: on any processor. */
export function onProcessors(
  processors: string | undefined,
  command: string,
  args: readonly string[],
): [command: string, args: string[]] {
  return processors === undefined
    ? [command, [...args]]
    : ['taskset', ['-c', processors, command, ...args]];
}

/**
 * Runs `work` while this process, with all of its threads, is pinned to these processors; undefined: without pinning.
 */
export async function working<T>(
  processors: string | undefined,
  work: () => Promise<T>,
): Promise<T> {
  if (processors === undefined) return work();
  const before = processorsOf(process.pid);
  move(processors);
  try {
    return await work();
  } finally {
    if (before !== undefined) move(before);
  }
}

function move(processors: string): void {
  spawnSync('taskset', ['-a', '-c', '-p', processors, String(process.pid)]);
}

/**
 * Returns the processors on which a process may run, as taskset prints them (`pid 7's current affinity list: 0,2-4`);
 * undefined if there is no taskset.
 */
function processorsOf(pid: number): string | undefined {
  const { stdout } = spawnSync('taskset', ['-c', '-p', String(pid)], { encoding: 'utf8' });
  return /list: ([0-9,-]+)/.exec(stdout ?? '')?.[1];
}

/** Returns the processors of a list such as `0,2-4`. */
export function listed(list: string): number[] {
  return list.split(',').flatMap((part) => {
    const [first, last = first] = part.split('-').map(Number);
    return Array.from({ length: last! - first! + 1 }, (_, index) => first! + index);
  });
}
