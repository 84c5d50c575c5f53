// CredentialCommand: the credential plugin of a kubeconfig (`exec` of a user), from its fields.
import { resolve } from 'node:path';
import type { CredentialCommand } from './cluster-access.ts';
import { type Fail, type Fields, isFields } from './unusable-access.ts';

/** Versions in which a plugin can print its credentials; the fields that are read are equal in both. */
const API_VERSIONS = [
  'client.authentication.k8s.io/v1',
  'client.authentication.k8s.io/v1beta1',
] as const;

/** `folder`: that of the kubeconfig. `cluster`: what a plugin gets that asks for it. Returns undefined if there is no plugin. */
export function credentialCommand(
  exec: unknown,
  folder: string,
  cluster: () => Fields,
  fail: Fail,
): CredentialCommand | undefined {
  if (exec === undefined || exec === null) return undefined;
  const {
    command,
    args = [],
    env = [],
    apiVersion,
    provideClusterInfo,
  } = isFields(exec) ? exec : {};
  if (typeof command !== 'string' || command === '')
    fail('has a credential plugin without a command');
  if (!API_VERSIONS.some((known) => known === apiVersion))
    fail(
      `has a credential plugin whose \`apiVersion\` is not ${API_VERSIONS.join(' or ')}`,
      'Update the kubeconfig with the tool of the cluster that wrote it.',
    );
  if (!isTexts(args ?? [])) fail('has a credential plugin whose `args` are no list of texts');
  const info = {
    apiVersion,
    kind: 'ExecCredential',
    spec: {
      interactive: false,
      ...(provideClusterInfo === true ? { cluster: cluster() } : {}),
    },
  };
  return {
    // A name alone is looked for in the path, and anything else is relative to the kubeconfig.
    command: command.includes('/') ? resolve(folder, command) : command,
    args: (args ?? []) as readonly string[],
    env: variablesIn(env ?? [], fail),
    execInfo: JSON.stringify(info),
  };
}

function variablesIn(env: unknown, fail: Fail): Readonly<Record<string, string>> {
  const entries = Array.isArray(env) ? (env as readonly unknown[]) : [undefined];
  return Object.fromEntries(
    entries.map((entry): [string, string] => {
      const { name, value } = isFields(entry) ? entry : {};
      if (typeof name !== 'string' || name === '' || typeof value !== 'string')
        return fail('has a credential plugin whose `env` is no list of names and values');
      return [name, value];
    }),
  );
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((each) => typeof each === 'string');
}
