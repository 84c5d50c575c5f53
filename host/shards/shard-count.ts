// shardCount returns how many shards a service runs: the number that is set, or one on systems where threads cannot
// share a port.
import type { Log } from '@svc/kit/log';

/** Systems that distribute the connections to a port among all of its listeners. */
const PORT_SHARING_PLATFORMS: ReadonlySet<NodeJS.Platform> = new Set([
  'aix',
  'freebsd',
  'linux',
  'sunos',
]);

export function shardCount(set: number, platform: NodeJS.Platform, log: Log): number {
  if (set === 1 || PORT_SHARING_PLATFORMS.has(platform)) return set;
  log({
    level: 'warn',
    message: 'the service runs as one shard: this system gives a port to one listener only',
    fields: { platform, 'svc.shards': set },
  });
  return 1;
}
