// EnvSecret: the secrets with the variables of a descriptor. They have `data`, never `stringData`: a key that is dropped from the latter
// would stay in the cluster.
import { hostingKind, moduleVariables } from '@svc/client';
import type { DesiredService } from '../../orchestration/orchestrator.ts';
import type { Manifest } from './manifest.ts';
import {
  CONFIGURATION_KEY,
  configurationSecretName,
  envSecretName,
  serviceMetadata,
} from './object-names.ts';
import { sortedEntries } from './pod-settings.ts';
import { hasConfiguration } from './runtime-variables.ts';

/** Returns the secrets of a service: the variables of its program, and the values that the platform's runtime reads for its code. */
export function envSecrets(desired: DesiredService): readonly Manifest[] {
  const { key, descriptor } = desired;
  const kind = hostingKind({ ...descriptor });
  const { env = {} } = descriptor;
  const hasProgram = kind !== 'wasm' && Object.keys(env).length > 0;
  const hasValues = (kind === 'wasm' || kind === 'process') && hasConfiguration(desired);
  return [
    ...(hasProgram ? [secret(desired, envSecretName(key), env)] : []),
    ...(hasValues
      ? [secret(desired, configurationSecretName(key), { [CONFIGURATION_KEY]: valuesText(env) })]
      : []),
  ];
}

function valuesText(env: Readonly<Record<string, string>>): string {
  return JSON.stringify(Object.fromEntries(sortedEntries(moduleVariables(env).configuration)));
}

function secret(
  { key }: DesiredService,
  name: string,
  texts: Readonly<Record<string, string>>,
): Manifest {
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: serviceMetadata(key, name),
    type: 'Opaque',
    data: Object.fromEntries(
      sortedEntries(texts).map(([variable, text]) => [
        variable,
        Buffer.from(text).toString('base64'),
      ]),
    ),
  };
}
