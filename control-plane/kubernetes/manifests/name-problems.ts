// NameProblems: names of a service that Kubernetes refuses, or that its own objects would make too long. Most of them are no names of services
// either; they are checked here all the same, since an object with such a name would be refused half-way through a reconcile.
import {
  PROJECT_ID_LENGTH_MAX,
  Problems,
  type Problem,
  projectNamespace,
  quoted,
  SERVICE_NAME_LENGTH_MAX,
  type ServiceDescriptor,
  type ServiceKey,
} from '@svc/client';
import type { KubernetesInstallation } from './installation.ts';
import { journalStorage } from './journal-storage.ts';
import { databaseName } from './object-names.ts';

/** The name of a Service: a label of DNS that begins with a letter. A namespace may begin with a digit, but ours begins with `svc-`. */
const LABEL = /^[a-z]([-a-z0-9]*[a-z0-9])?$/;
/**
 * Pods of a StatefulSet have a label with its name and a hyphen and a hash of at most ten characters, and a label has 63 at most. Kubernetes takes a
 * longer name of a StatefulSet, and cannot make its pods.
 */
const STATEFUL_NAME_LENGTH_MAX = SERVICE_NAME_LENGTH_MAX - 11;

/** Returns what is wrong with the names; paths are JSON pointers into the descriptor, and empty for the project. */
export function nameProblems(
  key: ServiceKey,
  descriptor: ServiceDescriptor,
  installation: Pick<KubernetesInstallation, 'namespace' | 'databases'>,
): readonly Problem[] {
  const problems = new Problems();
  checkNamespace(key, installation.namespace, problems);
  checkName(key, descriptor, installation, problems.at('name'));
  return problems.sorted();
}

function checkNamespace({ project }: ServiceKey, own: string, problems: Problems): void {
  const namespace = projectNamespace(project);
  if (!LABEL.test(project) || project.length > PROJECT_ID_LENGTH_MAX)
    problems.add(
      `is of the project ${quoted(project)}, whose namespace would be ${quoted(namespace)}: Kubernetes takes at most ${SERVICE_NAME_LENGTH_MAX} lower-case letters, digits and hyphens, with no hyphen last`,
    );
  else if (namespace === own)
    problems.add(
      `is of the project ${quoted(project)}, whose namespace ${namespace} has the programs of the platform: use another project`,
    );
}

function checkName(
  key: ServiceKey,
  descriptor: ServiceDescriptor,
  installation: Pick<KubernetesInstallation, 'databases'>,
  problems: Problems,
): void {
  const { service } = key;
  if (!LABEL.test(service)) {
    problems.add(
      `is ${quoted(service)}: Kubernetes takes lower-case letters, digits and hyphens, with a letter first and no hyphen last`,
    );
    return;
  }
  if (service.length > SERVICE_NAME_LENGTH_MAX) {
    problems.add(
      `has ${service.length} characters: Kubernetes takes ${SERVICE_NAME_LENGTH_MAX} at most`,
    );
    return;
  }
  const storage = journalStorage(descriptor, installation);
  const longest =
    storage === 'volume'
      ? STATEFUL_NAME_LENGTH_MAX
      : storage === 'provisioned'
        ? installation.databases!.nameLengthMax - databaseName({ ...key, service: '' }).length
        : SERVICE_NAME_LENGTH_MAX;
  if (service.length > longest)
    problems.add(
      `has ${service.length} characters: ${storage === 'volume' ? 'a service with its journal on a volume' : 'a service whose database the cluster makes'} may have ${longest} in Kubernetes`,
    );
}
