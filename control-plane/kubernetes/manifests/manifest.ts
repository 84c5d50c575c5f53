// Manifest: an object of Kubernetes as it is sent to its API, and where the API has it. A manifest is a value of JSON: no field of it is
// undefined, and equal inputs give manifests with equal texts.

export type Json =
  | string
  | number
  | boolean
  | null
  | readonly Json[]
  | { readonly [field: string]: Json };

export type JsonObject = { readonly [field: string]: Json };

export type Metadata = {
  readonly name: string;
  /** Absent: the object is in no namespace, as namespaces are. */
  readonly namespace?: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
};

export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: Metadata;
  readonly [field: string]: Json | Metadata;
}

/** Identifies an object in a cluster. */
export interface ObjectReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: Pick<Metadata, 'name' | 'namespace'>;
}

/** The kinds of the API itself that the driver uses, with the segment under which the API has them. */
const RESOURCES: Readonly<Record<string, string>> = {
  Deployment: 'deployments',
  Ingress: 'ingresses',
  Namespace: 'namespaces',
  NetworkPolicy: 'networkpolicies',
  PodDisruptionBudget: 'poddisruptionbudgets',
  Secret: 'secrets',
  Service: 'services',
  StatefulSet: 'statefulsets',
};

/**
 * Returns the path of an object: `/apis/apps/v1/namespaces/svc-shop/deployments/cart`. `resource`: the segment of a custom resource,
 * such as `clusters`. Throws for a kind whose segment is not known.
 */
export function pathOf(
  { apiVersion, kind, metadata: { name, namespace } }: ObjectReference,
  resource = RESOURCES[kind],
): string {
  if (resource === undefined) throw new Error(`the segment of ${apiVersion} ${kind} is not known`);
  const root = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
  const scope = namespace === undefined ? '' : `/namespaces/${namespace}`;
  return `${root}${scope}/${resource}/${name}`;
}
