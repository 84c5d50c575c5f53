// ClusterMemory: in which cluster the services of the installation run, and by which id their projects differ from those of others, as the journal of
// the control plane has it.
import { randomUUID } from 'node:crypto';
import type { Service } from '@svc/host';
import type { ClusterMemory } from '../kubernetes/cluster-identity.ts';
import { cluster, CLUSTER_ID } from '../model/cluster.ts';

export function clusterMemory(service: Pick<Service, 'call'>): ClusterMemory {
  return {
    async remember(uid, isNew) {
      const installation = randomUUID();
      const answer = await service.call(cluster, CLUSTER_ID).remember({ uid, isNew, installation });
      if (!answer.isOk) throw new Error(answer.message);
      return answer.value;
    },
  };
}
