// A measured server has one processor, and its load has the others.
import { execFileSync, spawnSync } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { describe, expect, test } from 'vitest';
import {
  type Placement,
  listed,
  onProcessors,
  oneCoreForServer,
  working,
} from '../../bench/cores.ts';

const hasTaskset = spawnSync('taskset', ['-V']).error === undefined;
const hasSeveral = hasTaskset && availableParallelism() > 1;

/** Returns the processors of a process that is started with the prefix. */
function processorsOf(processors: string | undefined): number[] {
  const read = 'process.stdout.write(require("node:fs").readFileSync("/proc/self/status"))';
  const [command, args] = onProcessors(processors, process.execPath, ['-e', read]);
  const status = execFileSync(command, args, { encoding: 'utf8' });
  return listed(/^Cpus_allowed_list:\s+(\S+)$/m.exec(status)![1]!);
}

describe('processors', () => {
  test('are listed by taskset one by one and as ranges', () => {
    expect(listed('3')).toEqual([3]);
    expect(listed('0,2-4,7')).toEqual([0, 2, 3, 4, 7]);
  });

  test('are any where none are named', () => {
    expect(onProcessors(undefined, 'node', ['a'])).toEqual(['node', ['a']]);
  });

  test.runIf(hasSeveral)('of server and load are all that there are, and none is shared', () => {
    const placement = oneCoreForServer() as Extract<Placement, { kind: 'pinned' }>;
    const [server, load] = [processorsOf(placement.server), processorsOf(placement.load)];
    expect(server).toHaveLength(1);
    expect([...server, ...load]).toEqual(processorsOf(undefined));
  });

  test.skipIf(hasSeveral)('are not shared out where there is one, or no taskset', () => {
    expect(oneCoreForServer().kind).toBe('unpinned');
  });

  test.runIf(hasTaskset)('are those of this process for as long as a work takes', async () => {
    const before = processorsOf(undefined);
    const last = String(before.at(-1));
    expect(await working(last, async () => processorsOf(undefined))).toEqual([Number(last)]);
    expect(processorsOf(undefined)).toEqual(before);
  });
});
