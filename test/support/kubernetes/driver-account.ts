// DriverAccount: the ServiceAccount of the control plane in a cluster of a test, with the rights of the role with which svc is installed
// (deploy/kubernetes/).
import { vi } from 'vitest';
import type { AuditLog } from './audit-log.ts';
import { DRIVER_ACCOUNT, DRIVER_USER, driverRoles } from './installation-files.ts';
import type { ClusterUser, KubernetesServer } from './kubernetes-server.ts';

const REVIEWS = '/apis/authorization.k8s.io/v1/subjectaccessreviews';
const PATIENCE = { timeout: 60_000, interval: 20 };

/** Makes the account and its namespace, and waits until it has its rights. */
export async function driverAccount(server: KubernetesServer): Promise<ClusterUser> {
  const { namespace, name } = DRIVER_ACCOUNT;
  await server.createNamespace(namespace);
  const { platform, databases } = driverRoles();
  const rules = [...platform.rules, ...databases.rules];
  const account = await server.serviceAccount({ namespace, name, rules });
  // The API server has a role and its binding within moments.
  const [rule] = rules;
  const review = {
    apiVersion: 'authorization.k8s.io/v1',
    kind: 'SubjectAccessReview',
    spec: {
      user: DRIVER_USER,
      resourceAttributes: {
        group: rule!.apiGroups[0]!,
        resource: rule!.resources[0]!,
        verb: rule!.verbs[0]!,
      },
    },
  };
  await vi.waitFor(async () => {
    const { status } = await server.create(REVIEWS, review);
    if ((status as { readonly allowed?: boolean }).allowed !== true)
      throw new Error(`${DRIVER_USER} has no rights`);
  }, PATIENCE);
  return account;
}

/** Throws if the API server has refused a request of the account for want of rights. */
export function checkDriverRights({ forbidden }: Pick<AuditLog, 'forbidden'>): void {
  if (forbidden.length > 0)
    throw new Error(
      `the role of the control plane (deploy/kubernetes/chart/files/control-plane-role.yaml) lacks rights:\n${[...new Set(forbidden)].join('\n')}`,
    );
}
