// ServiceCluster is this instance among the nodes of its service, which share a database: it becomes a member that others hand
// entities over to once its shards serve, keeps the shards informed about the other nodes, and hands its entities over before the
// shards stop. A service whose journal is in a folder has no cluster.
import type { Phase } from '@svc/kit/phases';
import type { ClusterState } from '../introspection/management/cluster-members.ts';
import type { Supervisor } from '../shards/supervisor.ts';
import type { ClusterMembership, ClusterNode } from '../storage/cluster-nodes.ts';
import type { OpenedJournal } from '../storage/opened-journal.ts';
import type { RemotingSettings } from './remoting-settings.ts';

export interface ServiceClusterOptions {
  readonly remoting: RemotingSettings;
  /** Resolves once the journal is open. */
  readonly journal: Promise<OpenedJournal>;
  /** For how long entities are handed over at a stop, in milliseconds. */
  readonly leaveMs: number;
}

type InformedShards = Pick<Supervisor, 'renewNodes' | 'announceOwners' | 'unreachableNodes'>;

export class ServiceCluster {
  readonly #options: ServiceClusterOptions;
  #membership: ClusterMembership | undefined;
  #shards: InformedShards | undefined;

  constructor(options: ServiceClusterOptions) {
    this.#options = options;
    void options.journal.then(({ cluster }) => (this.#membership = cluster));
  }

  /** The nodes of the cluster; none before the journal is open. */
  get nodes(): readonly ClusterNode[] {
    return this.#membership?.nodes ?? [];
  }

  /** The cluster as introspection shows it; undefined: the instance is its only node. */
  get state(): ClusterState | undefined {
    const membership = this.#membership;
    if (membership === undefined) return undefined;
    const { self, nodes } = membership;
    return { self, nodes, unreachable: this.#shards?.unreachableNodes ?? new Set() };
  }

  /** A phase that follows the start of the shards. */
  phase(shards: InformedShards): Phase {
    return {
      start: async () => this.#serve(shards),
      stop: () => this.#membership?.leave(this.#options.leaveMs),
    };
  }

  async #serve(shards: InformedShards): Promise<void> {
    const { cluster } = await this.#options.journal;
    if (cluster === undefined) return;
    const { advertisedHost, listened } = this.#options.remoting;
    this.#shards = shards;
    cluster.onNodes(() => shards.renewNodes());
    cluster.onOwners(() => shards.announceOwners());
    await cluster.serve({ host: advertisedHost, port: listened.port });
    shards.renewNodes();
  }
}
