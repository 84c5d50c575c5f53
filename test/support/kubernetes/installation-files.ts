// InstallationFiles: the files by which svc is installed in a cluster (deploy/kubernetes/), as tests read them.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse, parseAllDocuments } from 'yaml';
import type { JsonObject, Manifest } from '../../../control-plane/kubernetes/manifests/manifest.ts';

export interface ClusterRole {
  readonly metadata: { readonly name: string };
  readonly rules: readonly (JsonObject & {
    readonly apiGroups: readonly string[];
    readonly resources: readonly string[];
    readonly verbs: readonly string[];
  })[];
}

export const INSTALLATION_FOLDER = join(import.meta.dirname, '../../../deploy/kubernetes');
export const CHART = join(INSTALLATION_FOLDER, 'chart');
/** Namespace and name of the ServiceAccount of the control plane. */
export const DRIVER_ACCOUNT = { namespace: 'svc-platform', name: 'control-plane' };
export const DRIVER_USER = `system:serviceaccount:${DRIVER_ACCOUNT.namespace}:${DRIVER_ACCOUNT.name}`;

export interface DriverRoles {
  readonly platform: ClusterRole;
  /** The rights to make databases with CloudNativePG, which not every installation has. */
  readonly databases: ClusterRole;
}

/** Reads the roles of the control plane. */
export function driverRoles(): DriverRoles {
  return { platform: roleIn('control-plane-role.yaml'), databases: roleIn('databases-role.yaml') };
}

function roleIn(file: string): ClusterRole {
  return parse(readFileSync(join(CHART, 'files', file), 'utf8')) as ClusterRole;
}

/** Returns the default values of the chart. */
export function chartValues(): object {
  return parse(readFileSync(join(CHART, 'values.yaml'), 'utf8')) as object;
}

/** Returns the objects of a file of YAML, without empty documents. Throws if the file is none. */
export function objectsIn(text: string): readonly Manifest[] {
  const documents = parseAllDocuments(text, { uniqueKeys: true });
  if ('empty' in documents) return [];
  return documents.flatMap((document) => {
    const [problem] = [...document.errors, ...document.warnings];
    if (problem !== undefined) throw problem;
    const object = document.toJS() as Manifest | null;
    return object === null ? [] : [object];
  });
}
