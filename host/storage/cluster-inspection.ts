// ClusterInspection is the nodes of a journal in a database and the owners of its slices, as the database has them at one moment. Tools
// show it, whether nodes run or not.
import type { ClusterNode } from './cluster-nodes.ts';

export interface InspectedNode extends Omit<ClusterNode, 'status'> {
  /** `Ended`: its lease has ended, and its slices go to others. */
  readonly status: Exclude<ClusterNode['status'], 'Down'> | 'Ended';
  /** For so long it has been a member, in milliseconds by the clock of the database. */
  readonly memberMs: number;
  /** For so long its lease lasts by the clock of the database, in milliseconds; 0: it has ended. */
  readonly leaseLeftMs: number;
  /** Number of slices that it owns. */
  readonly slices: number;
}

export interface InspectedSlice {
  readonly slice: number;
  /** Number of the node that owns it; undefined: it is free. */
  readonly owner: number | undefined;
  readonly epoch: number;
  /** Number of the slice's last record. */
  readonly head: number;
}

export interface InspectedCluster {
  /** Id of the journal. */
  readonly id: string;
  /** Raised by each change of nodes and owners. */
  readonly version: number;
  /** In the order in which they joined. */
  readonly nodes: readonly InspectedNode[];
  /** In ascending order. */
  readonly slices: readonly InspectedSlice[];
  /** For so long nothing is taken from nodes whose leases have ended, in milliseconds: the history of the database has changed. */
  readonly takeoverPauseMs: number;
  /** The server's setting synchronous_standby_names; empty: a commit is on the disk of one server alone. */
  readonly synchronousStandbys: string;
}
