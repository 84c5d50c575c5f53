// KubernetesInstallation: what the manifests of all services have in common, as the operator has set it and as the cluster is. It is a plain
// value, without secrets.
import type { JsonObject } from './manifest.ts';

export interface KubernetesInstallation {
  /** Random, and kept in the journal of the control plane. It distinguishes the projects of this installation from those of another one in the cluster. */
  readonly id: string;
  /** Image of svc, which is the runtime, and the proxy of web-hosted services as well. */
  readonly image: string;
  /** Namespace of the platform's own programs. No project may have it. */
  readonly namespace: string;
  /** Names of the secrets by which images are pulled, in the namespace of each project. */
  readonly pullSecrets: readonly string[];
  /** Host of the installation's own registry; undefined: it has none. Its images are for services of the same project only. */
  readonly registry: string | undefined;
  /** Domain of the derived hostnames; undefined: there are none. */
  readonly baseDomain: string | undefined;
  readonly trustDomain: string;
  /** SPIFFE ID of the gateway. */
  readonly gatewayId: string;
  /** How hostnames lead to services; undefined: no Ingress is made. */
  readonly ingress: IngressChoices | undefined;
  /** Volumes of journals in folders. */
  readonly journals: JournalVolumes;
  /** How the cluster makes databases; undefined: a service has its journal on a volume unless it declares a database. */
  readonly databases: ProvisionedDatabases | undefined;
  /** The pods that reach the port of remoting: all of the cluster, as the contract has it, or those of the service alone. */
  readonly remotingFrom: 'cluster' | 'service';
  /** Variables of a runtime that takes access tokens (`auth: platform`); undefined: no service does. */
  readonly tokens: Readonly<Record<string, string>> | undefined;
  /** Time that requests in flight have when an instance ends, in milliseconds. */
  readonly drainMs: number;
  /** Resources of a service that declares none. */
  readonly defaultResources: ResourceAmounts;
  /** Resources of the platform's container beside a member's program. */
  readonly sidecarResources: ResourceAmounts;
  readonly cluster: ClusterFeatures;
}

/** Quantities in the notation of Kubernetes. */
export interface ResourceAmounts {
  readonly cpu: string;
  readonly memory: string;
}

export interface IngressChoices {
  /** The class, whose controller connects to services with the certificate of the gateway. */
  readonly className: string;
  /** Annotations for the controller. */
  readonly annotations: Readonly<Record<string, string>>;
  /** `controller`: the certificate is the controller's own. `service`: it is in a secret for each service. */
  readonly certificates: 'controller' | 'service';
}

export interface JournalVolumes {
  /** Undefined: the default class of the cluster. */
  readonly storageClass: string | undefined;
  /** Size of the volume of a journal, such as `10Gi`. */
  readonly size: string;
}

/** A custom resource by which an operator of databases makes one for each service, and the secret that it writes. */
export interface ProvisionedDatabases {
  readonly apiVersion: string;
  readonly kind: string;
  readonly spec: JsonObject;
  /** Longest name that such a resource may have. */
  readonly nameLengthMax: number;
  /** The end of the name of the secret, after that of the resource: `-app`. */
  readonly secretSuffix: string;
  /** Key of the URL in the secret. */
  readonly urlKey: string;
  /** The secret with the authority that signs the certificates of the databases; undefined: one that every program trusts. */
  readonly authority: DatabaseAuthority | undefined;
}

export interface DatabaseAuthority {
  /** The end of the name of the secret, after that of the resource: `-ca`. */
  readonly secretSuffix: string;
  /** Key of the certificates in the secret, as PEM: `ca.crt`. */
  readonly key: string;
}

/** The version of the cluster, as far as manifests depend on it. */
export interface ClusterFeatures {
  /** Version of the API with PodDisruptionBudget: `policy/v1` from 1.21 on. */
  readonly disruptionBudgets: 'policy/v1' | 'policy/v1beta1';
  /** Whether a pod can wait before it is stopped without a program in its image, as from 1.30 on. */
  readonly hasSleepAction: boolean;
}
