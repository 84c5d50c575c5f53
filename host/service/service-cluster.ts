// ServiceCluster is this instance among the nodes of its service, which share a database: it becomes a member that others hand
// entities over to once its shards serve, keeps the shards informed about the other nodes, and hands its entities over before the
// shards stop. A service whose journal is in a folder has no cluster.
//
// Invariant: events are delivered to consumers only of slices that this instance owns. Their delivery pauses before slices are handed
// over, and begins again some moments after the last change.
import type { Phase } from '@svc/kit/phases';
import type { Supervisor } from '../shards/supervisor.ts';
import type { ClusterMembership, ClusterNode, ClusterState } from '../storage/cluster-nodes.ts';
import type { OpenedJournal } from '../storage/opened-journal.ts';
import type { ConsumerDispatch } from './consumer-dispatch.ts';
import type { RemotingSettings } from './remoting-settings.ts';

/** Time for deliveries to end before their slices are handed over, in milliseconds. */
const DELIVERIES_END_MS = 2_000;
/** Delivery begins again so long after the last change of owners, in milliseconds: slices move in batches. */
const SETTLED_MS = 300;

export interface ServiceClusterOptions {
  readonly remoting: RemotingSettings;
  /** Resolves once the journal is open. */
  readonly journal: Promise<OpenedJournal>;
  /** For how long entities are handed over at a stop, in milliseconds. */
  readonly leaveMs: number;
}

/** The parts of the service that follow the cluster. */
export interface ClusterFollowers {
  readonly shards: Pick<Supervisor, 'renewNodes' | 'announceOwners' | 'unreachableNodes'>;
  readonly consumers: Pick<ConsumerDispatch, 'pause' | 'resume' | 'renew'>;
}

export class ServiceCluster {
  readonly #options: ServiceClusterOptions;
  #membership: ClusterMembership | undefined;
  #followers: ClusterFollowers | undefined;
  /** The slices whose events are delivered to consumers, as a text. */
  #consumed: string | undefined;
  #resuming: NodeJS.Timeout | undefined;
  #isLeaving = false;

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
    return { self, nodes, unreachable: this.#followers?.shards.unreachableNodes ?? new Set() };
  }

  /** The numbers of the cluster for the metrics; undefined if the journal is in a folder, or not open yet. */
  read(): Pick<ClusterMembership, 'counts' | 'nodes'> | undefined {
    return this.#membership;
  }

  /** A phase between the start of the shards and that of delivery, which so begins with the slices that are noted here, or is paused. */
  phase(followers: ClusterFollowers): Phase {
    return { start: () => this.#serve(followers), stop: () => this.#leave() };
  }

  async #serve(followers: ClusterFollowers): Promise<void> {
    const { cluster } = await this.#options.journal;
    if (cluster === undefined) return;
    const { shards } = followers;
    const { advertisedHost, listened } = this.#options.remoting;
    this.#followers = followers;
    this.#consumed = ownText(cluster);
    cluster.onNodes(() => shards.renewNodes());
    cluster.onOwners(() => shards.announceOwners());
    cluster.onTable(() => this.#owns(cluster));
    cluster.onWork(() => followers.consumers.renew());
    cluster.beforeRelease(() => this.#pause());
    await cluster.serve({ host: advertisedHost, port: listened.port });
    shards.renewNodes();
  }

  async #leave(): Promise<void> {
    this.#isLeaving = true;
    clearTimeout(this.#resuming);
    await this.#membership?.leave(this.#options.leaveMs);
  }

  /** Called when owners have changed. */
  #owns(cluster: ClusterMembership): void {
    if (ownText(cluster) !== this.#consumed) void this.#pause();
  }

  async #pause(): Promise<void> {
    const paused = this.#followers!.consumers.pause(DELIVERIES_END_MS);
    clearTimeout(this.#resuming);
    if (!this.#isLeaving) this.#resuming = setTimeout(() => this.#resume(), SETTLED_MS);
    await paused;
  }

  #resume(): void {
    this.#consumed = ownText(this.#membership!);
    this.#followers!.consumers.resume();
  }
}

function ownText(cluster: ClusterMembership): string {
  return cluster.own().join(' ');
}
