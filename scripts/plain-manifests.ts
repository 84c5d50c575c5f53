// PlainManifests: the files of deploy/kubernetes/ for those who do not use Helm. They are what Helm makes of the chart, so that the chart is the one
// source of both.
//
// `node scripts/plain-manifests.ts HELM` writes them with the program HELM (scripts/helm.sh). A test of the long tier compares them with the chart.
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

interface PlainManifest {
  readonly file: string;
  /** Words about the databases, for the head of the file. */
  readonly databases: string;
  readonly values: readonly string[];
}

const FOLDER = join(import.meta.dirname, '../deploy/kubernetes');
const RELEASE = 'svc';
const NAMESPACE = 'svc-platform';
/** Stands for what everybody has to choose. */
const EXAMPLES = [
  'image=registry.example.com/svc:0.1.0',
  'baseDomain=example.org',
  'auth.issuer=https://id.example.org',
  'webhooks.enabled=true',
  'services.ingressClass=nginx',
  'createNamespace=true',
];

export const PLAIN_MANIFESTS: readonly PlainManifest[] = [
  {
    file: 'svc.yaml',
    databases: 'The URLs of the databases are in secrets',
    values: EXAMPLES,
  },
  {
    file: 'svc-with-cloudnativepg.yaml',
    databases: 'CloudNativePG makes the databases, also those of services',
    values: [...EXAMPLES, 'cloudNativePg.enabled=true', 'services.databases.enabled=true'],
  },
];

/** Returns the text of a file. Throws the words of Helm if the chart is wrong. */
export function plainManifest(helm: string, { databases, values }: PlainManifest): string {
  const head = [
    `# svc in a Kubernetes cluster, with the webhook service. ${databases}. docs/how-to/kubernetes.md says how to`,
    '# use this file, and what to replace in it: the image, the domain example.org, the identity provider, and the class of Ingresses.',
    '# Made from the chart beside it by scripts/plain-manifests.ts.',
    '',
  ];
  return head.join('\n') + helmTemplate(helm, values);
}

/** Returns what Helm makes of the chart with some values. Throws its words if it makes nothing. */
export function helmTemplate(helm: string, values: readonly string[]): string {
  const chosen = values.flatMap((value) => ['--set', value]);
  const args = ['template', RELEASE, join(FOLDER, 'chart'), '--namespace', NAMESPACE, ...chosen];
  const { status, stdout, stderr, error } = spawnSync(helm, args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`helm ${args[0]}: ${error?.message ?? stderr.trim()}`);
  return stdout;
}

if (import.meta.main) {
  const [helm] = process.argv.slice(2);
  if (helm === undefined)
    throw new Error('the path of helm is missing: scripts/helm.sh prints its folder');
  for (const manifest of PLAIN_MANIFESTS)
    writeFileSync(join(FOLDER, manifest.file), plainManifest(helm, manifest));
}
