// ClusterNodes are the runs of the runtime that write one journal together. Each owns some of its slices. This file has the interfaces
// by which the main thread and the shards of one of these nodes see them; a journal in a folder has one writer and no cluster.
import type { EntityRef } from '@svc/model/entity';
import type { HistogramCounts } from '@svc/model/shared-histogram';

/** Number of the owner of what belongs to no node that is known. Numbers of nodes begin at 1, and none is given twice. */
export const NOBODY = 0;

/** `Joining`: it does not serve yet. `Leaving`: it hands over what it owns. `Down`: its lease has ended. */
export type NodeStatus = 'Joining' | 'Up' | 'Leaving' | 'Down';

/** The address at which a node takes calls of others. */
export interface NodeAddress {
  readonly host: string;
  readonly port: number;
}

export interface ClusterNode {
  readonly number: number;
  /** Another one for each start. */
  readonly uid: string;
  readonly status: NodeStatus;
  /** Name of the machine. */
  readonly machine: string;
  /** Undefined until the node serves. */
  readonly address: NodeAddress | undefined;
  /** Version of the runtime. */
  readonly version: string;
  /** Fingerprint of the module that the node runs. */
  readonly fingerprint: string;
  /** When the node joined, in milliseconds since 1970. */
  readonly joinedMs: number;
}

/** A module, or the code of a process, that nodes of a cluster run. */
export interface RunningModule {
  readonly fingerprint: string;
  /** JSON text. */
  readonly descriptor: string;
  /** Name of the machine of one of these nodes. */
  readonly machine: string;
}

/** A cluster of several nodes, as one of them sees it. */
export interface ClusterState {
  /** Number of this node; NOBODY while it is not a member. */
  readonly self: number;
  /** In the order in which they joined. */
  readonly nodes: readonly ClusterNode[];
  /** Numbers of the nodes that this one cannot reach. */
  readonly unreachable: ReadonlySet<number>;
}

/** From whom a node has got a slice: nobody owned it, its owner's lease had ended, or its owner has handed it over. */
export const SLICE_ORIGINS = ['free', 'ended', 'node'] as const;
export type SliceOrigin = (typeof SLICE_ORIGINS)[number];

/** Counts of this node since it was started, and its present values. */
export interface ClusterCounts {
  /** For so long the lease lasts, in milliseconds; 0: it has ended. */
  readonly leaseLeftMs: number;
  /** Slices that this node owns. */
  readonly slices: number;
  /** Slices that this node has got. */
  readonly acquired: Readonly<Record<SliceOrigin, number>>;
  /** Slices that this node has handed over. */
  readonly handedOver: number;
  /** For how long calls of the slices of a hand-over were held, in seconds. */
  readonly handOverSeconds: HistogramCounts;
}

/** The cluster for the thread that has opened the journal. */
export interface ClusterMembership {
  /** Id of the cluster, which is that of the journal. */
  readonly id: string;
  /** This node's number; NOBODY while it is not a member. */
  readonly self: number;
  /** All members, as the database named them last, in the order in which they joined. */
  readonly nodes: readonly ClusterNode[];
  /** Counts for the metrics. */
  readonly counts: ClusterCounts;
  /** Calls a listener whenever `nodes` has changed. */
  onNodes(listener: () => void): void;
  /** Calls a listener whenever this node has changed who owns slices, or has joined or left: the others should look. */
  onOwners(listener: () => void): void;
  /**
   * Calls a function before the shards let go of slices, with their numbers. They are handed over once it has resolved, or after some
   * seconds: whoever delivers their events and fires their timers stops before.
   */
  beforeRelease(stop: (slices: readonly number[]) => Promise<void>): void;
  /** Names of the slices that this node owns, which differ when a slice was lost and owned again meanwhile. */
  own(): readonly string[];
  /** Calls a listener whenever the owner of a slice has changed, whoever has changed it. */
  onTable(listener: () => void): void;
  /** Calls a listener after operators have changed the stored lanes of consumers, maybe by another process. */
  onWork(listener: () => void): void;
  /** Makes this node `Up`, because it serves at an address: from now on others hand their slices over to it. */
  serve(address: NodeAddress): Promise<void>;
  /** Hands over all slices to other nodes, if there are any, and resolves once this is done, or after `timeoutMs`. Never rejects. */
  leave(timeoutMs: number): Promise<void>;
  /** Asks the database for nodes and owners now: another node has said that they have changed. */
  look(): void;
}

/** Slices that this node lets go of. */
export interface ReleasedSlices {
  has(entity: EntityRef): boolean;
  /** Resolves when the slices belong to another node, or stay with this one after all. */
  readonly ended: Promise<void>;
}

/** The cluster for a shard. */
export interface ClusterSlices {
  /** Id of the cluster, which is that of the journal. */
  readonly id: string;
  /** This node's uid: another one for each start. */
  readonly uid: string;
  /** Number of this node; NOBODY while it is not a member. */
  readonly self: number;
  /** Changes whenever the owner of a slice has changed. */
  readonly version: number;
  /** Returns the number of the node that owns the entity, as far as this node knows. */
  ownerOf(component: string, id: string): number;
  /** Resolves when the version differs from `version`, or after `timeoutMs` milliseconds. */
  changed(version: number, timeoutMs: number): Promise<void>;
  /** Asks the main thread to look at nodes and owners now. */
  look(): void;
  /** Returns the slice of an entity, and the number of the last record of the slice that is on disk as far as this node knows. */
  headOf(component: string, id: string): readonly [slice: number, head: number];
  /** Notes the head of a slice that another node has named. */
  advance(slice: number, head: number): void;
  /**
   * Calls a function before this node lets go of slices that this shard writes. It resolves once nothing of their entities is
   * under way; the slices are handed over then.
   */
  onRelease(release: (slices: ReleasedSlices) => Promise<void>): void;
}
