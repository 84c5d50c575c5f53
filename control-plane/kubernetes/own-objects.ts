// OwnObjects: which objects of a cluster are those of a service or of a project. All others are left as they are.
import type { KubeObject } from './api/kube-object.ts';
import { MANAGED_BY_LABEL, PROJECT_LABEL, SERVICE_LABEL } from './manifests/object-names.ts';

type Labels = Readonly<Record<string, string>>;

const OWNING_LABELS = [MANAGED_BY_LABEL, PROJECT_LABEL, SERVICE_LABEL];

/** Whether an object has the labels of a service, or of a project. */
export function isOwn({ metadata }: KubeObject, labels: Labels): boolean {
  return OWNING_LABELS.every((name) => metadata.labels?.[name] === labels[name]);
}
