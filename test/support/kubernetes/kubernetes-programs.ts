// KubernetesPrograms are the programs of a Kubernetes API server that scripts/kubernetes-server.sh has built into a folder of the user's
// cache. Nothing is built by the tests.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

export interface KubernetesPrograms {
  readonly apiServer: string;
  readonly controllerManager: string;
  readonly etcd: string;
  readonly kubectl: string;
}

const SCRIPT = join(import.meta.dirname, '../../../scripts/kubernetes-server.sh');

/** Returns the programs. Throws if they were not built. */
export function kubernetesPrograms(): KubernetesPrograms {
  const missing = missingKubernetes();
  if (missing !== undefined) throw new Error(missing);
  const folder = folderOfPrograms();
  const kubectl = join(folder, 'kubectl');
  return {
    apiServer: join(folder, 'kube-apiserver'),
    controllerManager: join(folder, 'kube-controller-manager'),
    etcd: join(folder, 'etcd'),
    kubectl: existsSync(kubectl) ? kubectl : 'kubectl',
  };
}

/** Returns why this machine has no Kubernetes API server; undefined: it has one. */
export function missingKubernetes(): string | undefined {
  const folder = folderOfPrograms();
  if (!existsSync(folder)) {
    const failure = `${folder}.failure`;
    return existsSync(failure)
      ? readFileSync(failure, 'utf8').trim()
      : 'there is no Kubernetes API server; scripts/kubernetes-server.sh builds one';
  }
  const trial = spawnSync(join(folder, 'etcd'), ['--version'], { encoding: 'utf8' });
  return trial.status === 0
    ? undefined
    : `etcd does not run here (${trial.error?.message ?? trial.stderr.trim()})`;
}

/** Returns the same as `missingKubernetes`, and prints it. `file`: what is skipped. */
export function printedMissingKubernetes(file: string): string | undefined {
  const missing = missingKubernetes();
  if (missing !== undefined) console.log(`${file} is skipped: ${missing}`);
  return missing;
}

function folderOfPrograms(): string {
  const key = createHash('sha256').update(readFileSync(SCRIPT)).digest('hex').slice(0, 16);
  const cache = process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache');
  return join(cache, 'svc-test', `kubernetes-${key}`);
}
