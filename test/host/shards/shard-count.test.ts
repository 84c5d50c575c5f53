import { expect, test } from 'vitest';
import { shardCount } from '../../../host/shards/shard-count.ts';
import type { LogEntry } from '../../../kit/log-entry.ts';

test.each([
  [1, 'linux', 1, 0],
  [4, 'linux', 4, 0],
  [4, 'freebsd', 4, 0],
  [1, 'darwin', 1, 0],
  [4, 'darwin', 1, 1],
  [2, 'win32', 1, 1],
] as const)('%i on %s are %i, with %i warnings', (set, platform, count, warnings) => {
  const log: LogEntry[] = [];
  expect(shardCount(set, platform, (entry) => log.push(entry))).toBe(count);
  expect(log.filter(({ level }) => level === 'warn')).toHaveLength(warnings);
});
