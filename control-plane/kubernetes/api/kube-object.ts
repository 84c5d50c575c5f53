// KubeObject: an object of Kubernetes as the API server answers it. Only its metadata are checked.
import { KubeError } from './kube-error.ts';
import type { JsonObject } from './kube-transport.ts';

export interface KubeMetadata {
  readonly name: string;
  readonly namespace?: string;
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly generation?: number;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly creationTimestamp?: string;
  /** Present: the object is being deleted. */
  readonly deletionTimestamp?: string;
  readonly [field: string]: unknown;
}

export interface KubeObject {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata: KubeMetadata;
  readonly [field: string]: unknown;
}

/** Returns the value if it has metadata with a name. Throws KubeError. `where`: for the message. */
export function checkedObject(value: unknown, where: string): KubeObject {
  const metadata = (value as JsonObject | null | undefined)?.['metadata'] as JsonObject | undefined;
  if (typeof metadata?.['name'] !== 'string')
    throw new KubeError('invalid', `${where} of the API server is no object with a name`);
  return value as KubeObject;
}

/** Returns the version of a list or of an object, from which a watch can go on. Throws KubeError. */
export function versionOf(value: JsonObject | KubeObject, where: string): string {
  const metadata = value['metadata'] as JsonObject | undefined;
  const version = metadata?.['resourceVersion'];
  if (typeof version !== 'string' || version === '')
    throw new KubeError('invalid', `${where} of the API server has no resourceVersion`);
  return version;
}
