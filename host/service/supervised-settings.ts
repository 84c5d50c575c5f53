// SupervisedSettings are the start data that all shards of a service share.
import { shardLimits } from '../shards/shard-limits.ts';
import type { SupervisedService } from '../shards/supervisor.ts';
import type { RunnableSettings } from './run-options.ts';

interface SharedByShards {
  /** How many shards there are. */
  readonly count: number;
  /** Whether the main thread verifies access tokens. */
  readonly verifiesTokens: boolean;
  /** Whether other instances of the service may use the journal at the same time. */
  readonly isShared: boolean;
}

export function supervisedSettings(
  { name, deployed, host, port, http, identity, network, remoting, sections }: RunnableSettings,
  { count, verifiesTokens, isShared }: SharedByShards,
): SupervisedService['settings'] {
  return {
    name,
    deployed,
    address: { host, port },
    http,
    remoting: isShared ? { ...remoting.listened, tls: remoting.tls } : undefined,
    identity,
    verifiesTokens,
    network,
    count,
    sections: shardLimits(sections, count),
  };
}
