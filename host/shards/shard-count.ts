// shardCount: how many shards a service really has: as many as are set, where the system lets several threads
// listen on one port, and one elsewhere.
import type { Log } from '@svc/kit/log';

/** Their systems give each connection of a port to one of those who listen there. */
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
