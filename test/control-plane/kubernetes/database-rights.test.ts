// The rights by which the control plane makes databases: those that its requests need, and no others.
import { expect, test } from 'vitest';
import { KubernetesOrchestrator } from '../../../control-plane/kubernetes/kubernetes-orchestrator.ts';
import { rightsOf } from '../../support/kubernetes/audit-log.ts';
import { driverRoles } from '../../support/kubernetes/installation-files.ts';
import {
  CLOUD_NATIVE_PG,
  desiredService,
  installation,
  PROCESS,
} from '../../support/kubernetes/installation-under-test.ts';
import type { ReceivedRequest } from '../../support/kubernetes/scripted-api.ts';
import { StoredObjects } from './stored-objects.ts';

const never = new AbortController().signal;
const KIND = { name: 'clusters', kind: CLOUD_NATIVE_PG.kind };

/** Verbs of RBAC that a request needs. An apply may create. */
function verbsOf({ method, query }: ReceivedRequest): readonly string[] {
  if (method === 'PATCH') return ['patch', 'create'];
  if (method === 'DELETE') return ['delete'];
  if ('watch' in query) return ['watch'];
  return 'limit' in query ? ['list'] : ['get'];
}

test('the role for databases has every right that the control plane uses, and no other', async () => {
  await using cluster = await StoredObjects.start();
  const group = `/apis/${CLOUD_NATIVE_PG.apiVersion}`;
  cluster.objects.set(group, { metadata: { name: 'resources' }, resources: [KIND] });
  await using orchestrator = new KubernetesOrchestrator({
    client: cluster.api.client(),
    installation: installation({ databases: CLOUD_NATIVE_PG }),
    log: () => undefined,
  });
  const desired = desiredService(PROCESS);
  const { key } = desired;
  using _watch = orchestrator.watch(() => undefined);
  await orchestrator.reconcile(desired, never);
  await orchestrator.observe(key, never);
  await orchestrator.reconcile({ ...desired, generation: 8 }, never);
  await orchestrator.reconcile({ kind: 'removed', key }, never);
  const used = () => {
    const requests = cluster.api.requests.filter(({ path }) => path.startsWith(`${group}/`));
    const rights = requests.flatMap((request) =>
      verbsOf(request).map((verb) => `${verb} ${KIND.name}.postgresql.cnpg.io`),
    );
    return [...new Set(rights)].toSorted();
  };
  const { rules } = driverRoles().databases;
  await expect.poll(used).toEqual(rightsOf(rules));
});
