// The metrics of an instance among the nodes that share a journal in a database.
import {
  type ClusterCounts,
  type ClusterNode,
  type NodeStatus,
  SLICE_ORIGINS,
} from '../../storage/cluster-nodes.ts';
import { NODE_CALLS, type NodeCall } from '../../shards/recorder/node-calls.ts';
import type { Family } from './metrics-text.ts';
import { counter, gauge, histogramSamples, labelledCounter } from './series.ts';

/** Numbers of the cluster of a service, as this instance knows them. */
export interface ClusterNumbers {
  readonly counts: ClusterCounts;
  readonly nodes: readonly Pick<ClusterNode, 'status'>[];
}

const STATUSES: readonly NodeStatus[] = ['Joining', 'Up', 'Leaving', 'Down'];
const MS_PER_S = 1_000;

/**
 * Makes no series for a service whose journal is in a folder. `calls`: returns the number of calls of a kind, over all
 * shards.
 */
export function clusterFamilies(
  numbers: ClusterNumbers | undefined,
  calls: (kind: NodeCall) => number,
): Family[] {
  if (numbers === undefined) return [];
  const { counts, nodes } = numbers;
  return [
    {
      name: 'svc_cluster_nodes',
      type: 'gauge',
      help: 'Nodes that use the journal, by status, as this instance knows them.',
      samples: STATUSES.map((status) => ({
        labels: { status },
        value: nodes.filter((node) => node.status === status).length,
      })),
    },
    gauge(
      'svc_cluster_lease_left_seconds',
      'Time until the lease of this instance ends unless it is renewed; 0 if it has none.',
      counts.leaseLeftMs / MS_PER_S,
    ),
    gauge('svc_cluster_slices', 'Slices that this instance owns, of 1,024.', counts.slices),
    labelledCounter(
      'svc_cluster_slices_acquired_total',
      'Slices that this instance has got: free ones, of nodes whose leases had ended, and handed over by another node.',
      'from',
      SLICE_ORIGINS.map((origin) => [origin, counts.acquired[origin]] as const),
    ),
    counter(
      'svc_cluster_slices_handed_over_total',
      'Slices that this instance has handed over to other nodes.',
      counts.handedOver,
    ),
    {
      name: 'svc_cluster_hand_over_seconds',
      type: 'histogram',
      help: 'Time for which this instance held calls of slices that it handed over together.',
      samples: histogramSamples(counts.handOverSeconds),
    },
    labelledCounter(
      'svc_cluster_calls_total',
      'Calls and requests between this instance and other nodes.',
      'kind',
      NODE_CALLS.map((kind) => [kind, calls(kind)] as const),
    ),
  ];
}
