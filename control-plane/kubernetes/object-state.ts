// ObjectState: the state of an object, by which it is compared with what was found, from its metadata alone.
import { createHash } from 'node:crypto';
import type { KubeObject } from './api/kube-object.ts';

/** Annotations of the controller of Deployments, which it writes after each apply. */
const CONTROLLER_ANNOTATIONS = 'deployment.kubernetes.io/';

/** Returns the state of everything in the object, its status included. */
export function versionState({ metadata }: KubeObject): string {
  return metadata.resourceVersion ?? '';
}

/**
 * Returns the state of what an apply writes. It is the same before and after a change of the status, where the kind counts the changes of its fields
 * (`generation`). Services and namespaces do not, so each of their versions is another state.
 */
export function contentState(object: KubeObject): string {
  const { uid, generation, labels, annotations, deletionTimestamp } = object.metadata;
  const counted = generation === undefined ? versionState(object) : String(generation);
  const kept = Object.entries(annotations ?? {}).filter(
    ([name]) => !name.startsWith(CONTROLLER_ANNOTATIONS),
  );
  const parts = [
    uid,
    counted,
    deletionTimestamp,
    sorted(Object.entries(labels ?? {})),
    sorted(kept),
  ];
  return createHash('sha256').update(JSON.stringify(parts)).digest('base64');
}

/** Returns the path of an object by that of all objects of its kind. */
export function objectPath(collection: string, { metadata }: KubeObject): string {
  const { namespace, name } = metadata;
  const at = collection.lastIndexOf('/');
  return namespace === undefined
    ? `${collection}/${name}`
    : `${collection.slice(0, at)}/namespaces/${namespace}${collection.slice(at)}/${name}`;
}

function sorted(entries: [string, string][]): readonly [string, string][] {
  return entries.toSorted(([one], [other]) => (one < other ? -1 : 1));
}
