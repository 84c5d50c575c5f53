// ClusterServices: services of tests in a cluster, and where their objects are.
import { projectNamespace, type ServiceKey } from '../../../client/index.ts';
import type { KubeObject } from '../../../control-plane/kubernetes/api/kube-object.ts';
import { pathOf } from '../../../control-plane/kubernetes/manifests/manifest.ts';
import { manifestsOf } from '../../../control-plane/kubernetes/manifests/service-manifests.ts';
import type { DesiredService } from '../../../control-plane/orchestration/orchestrator.ts';
import { desiredService, WEB } from '../../support/kubernetes/installation-under-test.ts';
import { INSTALLATION } from './cluster-under-test.ts';
import { IMAGES } from './scripted-programs.ts';

/** A Deployment whose fields a test changes. */
export interface ChangedDeployment {
  metadata: { name: string };
  spec: {
    selector: { matchLabels: Record<string, string> };
    template: { spec: { containers: { image: string; ports: { name: string }[] }[] } };
  };
}

let projects = 0;

/** Returns the key of a service in a project that no other test has. */
export function newKey(service = 'cart'): ServiceKey {
  return { project: `p${++projects}`, service };
}

/** A web-hosted service of two instances in a project of its own. */
export function newService(): DesiredService {
  const descriptor = { ...WEB, name: 'cart', image: IMAGES.good, instances: 2, env: { A: '1' } };
  return desiredService(descriptor, { key: newKey(), generation: 1 });
}

export function withImage(desired: DesiredService, image: string): DesiredService {
  return { ...desired, descriptor: { ...desired.descriptor, image } };
}

export function pathsOf(desired: DesiredService): readonly string[] {
  return manifestsOf(desired, INSTALLATION).map((manifest) => pathOf(manifest));
}

/** Returns the path of the project's namespace. */
export function namespacePath({ project }: ServiceKey): string {
  return `/api/v1/namespaces/${projectNamespace(project)}`;
}

export function deploymentPath({ project, service }: ServiceKey): string {
  return `/apis/apps/v1/namespaces/${projectNamespace(project)}/deployments/${service}`;
}

/** Returns the Deployment of a service with a change. */
export function changedDeployment(
  desired: DesiredService,
  change: (object: ChangedDeployment) => void,
): KubeObject {
  const manifest = manifestsOf(desired, INSTALLATION).find(({ kind }) => kind === 'Deployment')!;
  const object = structuredClone(manifest) as unknown as ChangedDeployment;
  change(object);
  return object as unknown as KubeObject;
}
