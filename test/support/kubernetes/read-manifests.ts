// ReadManifests: the parts of manifests that tests look at.
import type { JsonObject, Manifest } from '../../../control-plane/kubernetes/manifests/manifest.ts';
import { installation } from './installation-under-test.ts';

export interface Container {
  readonly name: string;
  readonly image: string;
  readonly command?: readonly string[];
  readonly env?: readonly { readonly name: string; readonly value?: string }[];
  readonly envFrom?: readonly object[];
  readonly ports?: readonly { readonly containerPort: number }[];
  readonly resources: { readonly requests: object; readonly limits: object };
  readonly securityContext: JsonObject;
  readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string }[];
  readonly lifecycle?: { readonly preStop: { readonly sleep: { readonly seconds: number } } };
}

export interface Pod {
  readonly automountServiceAccountToken: boolean;
  readonly enableServiceLinks: boolean;
  readonly terminationGracePeriodSeconds: number;
  readonly securityContext: JsonObject;
  readonly initContainers?: readonly Container[];
  readonly containers: readonly Container[];
  readonly volumes: readonly { readonly name: string }[];
}

export function ofKind(manifests: readonly Manifest[], kind: string): Manifest {
  const found = manifests.find((manifest) => manifest.kind === kind);
  if (found === undefined) throw new Error(`there is no ${kind}`);
  return found;
}

export function workload(manifests: readonly Manifest[]): Manifest {
  return ofKind(
    manifests,
    manifests.some(({ kind }) => kind === 'StatefulSet') ? 'StatefulSet' : 'Deployment',
  );
}

export function template(manifests: readonly Manifest[]): JsonObject {
  return (workload(manifests)['spec'] as JsonObject)['template'] as JsonObject;
}

export const podOf = (manifests: readonly Manifest[]) =>
  template(manifests)['spec'] as unknown as Pod;
export const allContainers = ({ initContainers = [], containers }: Pod) => [
  ...initContainers,
  ...containers,
];

const PLATFORM_IMAGE = installation().image;
export const isPlatforms = ({ image }: Container) => image === PLATFORM_IMAGE;

export function valueOf({ env = [] }: Container, name: string): string | undefined {
  return env.find((variable) => variable.name === name)?.value;
}

/** Ports that the network policy admits, with those who may reach each. */
export function admitted(manifests: readonly Manifest[]): Readonly<Record<number, string>> {
  const { ingress } = ofKind(manifests, 'NetworkPolicy')['spec'] as unknown as {
    readonly ingress: readonly {
      readonly from?: readonly object[];
      readonly ports: readonly { readonly port: number }[];
    }[];
  };
  return Object.fromEntries(
    ingress.flatMap(({ from, ports }) =>
      ports.map(({ port }) => [port, from === undefined ? 'anyone' : JSON.stringify(from)]),
    ),
  );
}
