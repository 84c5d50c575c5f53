// ObjectNames: every name, label and annotation of the objects of a service, each written once. No two services have an object of the same
// kind and name: namespaces are those of projects, and no suffix is the end of another one.
import { projectNamespace, type ServiceKey } from '@svc/client';
import type { ObjectReference } from './manifest.ts';

/** The field manager under which the control plane applies its objects. */
export const FIELD_MANAGER = 'svc-control-plane';

export const MANAGED_BY_LABEL = 'app.kubernetes.io/managed-by';
/** Value of that label. An object without it is not the control plane's, whatever its name. */
export const MANAGED_BY = 'svc';
export const PROJECT_LABEL = 'svc.dev/project';
export const SERVICE_LABEL = 'svc.dev/service';

export const INCARNATION_ANNOTATION = 'svc.dev/incarnation';
export const GENERATION_ANNOTATION = 'svc.dev/generation';
export const APPLIED_GENERATION_ANNOTATION = 'svc.dev/applied-generation';
export const INSTANCES_ANNOTATION = 'svc.dev/instances';
/** Where the journal of a service is: `volume`, `supplied`, `provisioned`. */
export const JOURNAL_ANNOTATION = 'svc.dev/journal';
/** The secret with the URL of a database that was declared. */
export const JOURNAL_SECRET_ANNOTATION = 'svc.dev/journal-secret';
/** Annotation of the namespace of a project: the id of the installation whose project it is. */
export const INSTALLATION_ANNOTATION = 'svc.dev/installation';
/** Annotation of pods: the time at which their workload last got instances after it had none. */
export const STARTED_ANNOTATION = 'svc.dev/started';
/** Annotation of pods: a digest of what is in their template beside its annotations. */
export const TEMPLATE_ANNOTATION = 'svc.dev/template';

/** Secret of the operator in the namespace of a project, with the secrets of its modules by their names. */
export const PROJECT_SECRETS = 'project-secrets';
/** Key of the URL in a secret that a descriptor names (`database.urlFrom`). */
export const SUPPLIED_URL_KEY = 'url';
/** Key of the authority of the server's certificate there, if it is one of the operator's own. */
export const SUPPLIED_AUTHORITY_KEY = 'ca.crt';
/** Key of the values of the configuration in their secret. */
export const CONFIGURATION_KEY = 'variables.json';
/** Keys of the certificate, its key and the authorities, as cert-manager writes them and every program of svc reads them. */
export const IDENTITY_KEYS = ['tls.crt', 'tls.key', 'ca.crt'] as const;

/** Names of the ports of a pod, at most 15 characters each. Other services look for `http` (SRV records). */
export const PORT_NAMES = {
  http: 'http',
  management: 'management',
  readiness: 'readiness',
  remoting: 'remoting',
} as const;

/** Names of the containers of a pod. `program` is the member's. */
export const CONTAINER_NAMES = {
  module: 'module',
  program: 'service',
  proxy: 'proxy',
  runtime: 'runtime',
} as const;

/** Name of the volume with the journal, and so the beginning of the name of its claim. */
export const JOURNAL_VOLUME = 'data';

/** Secret with the variables of a program. */
export function envSecretName({ service }: ServiceKey): string {
  return `${service}-env`;
}

/** Secret with the values of a module's configuration, and of components in a process. */
export function configurationSecretName({ service }: ServiceKey): string {
  return `${service}-configuration`;
}

/** Secret with the certificate of the service. */
export function identitySecretName({ service }: ServiceKey): string {
  return `${service}-identity`;
}

/** Custom resource of the database that the cluster makes for the service. */
export function databaseName({ service }: ServiceKey): string {
  return `${service}-database`;
}

/** Secret without a value, whose annotations say in which database the journal of the service is. */
export function journalNoteName({ service }: ServiceKey): string {
  return `${service}-journal`;
}

/** Claim of the volume with the journal of the service, as its StatefulSet names it. */
export function journalClaimName({ service }: ServiceKey): string {
  return `${JOURNAL_VOLUME}-${service}-0`;
}

/** Secret with the certificate of the hostnames of the service. */
export function hostnamesSecretName({ service }: ServiceKey): string {
  return `${service}-tls`;
}

/** Returns the labels of every object of a service, which are also the selector of its pods. */
export function serviceLabels({ project, service }: ServiceKey): Readonly<Record<string, string>> {
  return { [MANAGED_BY_LABEL]: MANAGED_BY, [PROJECT_LABEL]: project, [SERVICE_LABEL]: service };
}

export function projectLabels(project: string): Readonly<Record<string, string>> {
  return { [MANAGED_BY_LABEL]: MANAGED_BY, [PROJECT_LABEL]: project };
}

/** Returns the metadata of an object of a service. */
export function serviceMetadata(
  key: ServiceKey,
  name: string = key.service,
): {
  readonly name: string;
  readonly namespace: string;
  readonly labels: Readonly<Record<string, string>>;
} {
  return { name, namespace: projectNamespace(key.project), labels: serviceLabels(key) };
}

/**
 * Returns every object that a service may have and that goes with it, in the order in which they are removed: those that are no longer among its manifests,
 * and all of them once it is deleted. The namespace, the claim of a journal, the database and the note of it are not among them.
 */
export function removableObjects(
  key: ServiceKey,
  disruptionBudgets: string,
): readonly ObjectReference[] {
  const namespace = projectNamespace(key.project);
  const of = (apiVersion: string, kind: string, name = key.service): ObjectReference => ({
    apiVersion,
    kind,
    metadata: { name, namespace },
  });
  return [
    of('networking.k8s.io/v1', 'Ingress'),
    of('apps/v1', 'Deployment'),
    of('apps/v1', 'StatefulSet'),
    of(disruptionBudgets, 'PodDisruptionBudget'),
    of('v1', 'Service'),
    of('networking.k8s.io/v1', 'NetworkPolicy'),
    of('v1', 'Secret', envSecretName(key)),
    of('v1', 'Secret', configurationSecretName(key)),
  ];
}
