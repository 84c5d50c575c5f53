// ClusterMemory: in which cluster the services of the installation run, as the journal of the control plane has it.
import type { Service } from '@svc/host';
import type { ClusterMemory } from '../kubernetes/cluster-identity.ts';
import { cluster, CLUSTER_ID } from '../model/cluster.ts';

export function clusterMemory(service: Pick<Service, 'call'>): ClusterMemory {
  return {
    async remember(uid, isNew) {
      const answer = await service.call(cluster, CLUSTER_ID).remember({ uid, isNew });
      if (!answer.isOk) throw new Error(answer.message);
      return answer.value.uid;
    },
  };
}
