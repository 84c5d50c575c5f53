// Environment: the variables by which the command line finds an installation and proves who its user is. An empty variable is refused, since it usually comes
// from one that is not set.
import { UsageError } from '../usage-error.ts';
import { dockerConfigFile, userFolders, type UserFolders } from './user-folders.ts';

export const COMMAND_LINE_VARIABLES = [
  'SVC_URL',
  'SVC_CONTEXT',
  'SVC_PROJECT',
  'SVC_TENANT',
  'SVC_TOKEN',
  'SVC_CLIENT_ID',
  'SVC_CLIENT_SECRET',
  'SVC_WEBHOOK_SECRET',
] as const;
type Variable = (typeof COMMAND_LINE_VARIABLES)[number];

export interface PlatformEnvironment {
  readonly variables: Readonly<Partial<Record<Variable, string>>>;
  readonly folders: UserFolders;
  /** Absolute path of the credentials for registries that docker login writes. */
  readonly dockerConfigFile: string;
}

/** Reads the environment of this process. Throws UsageError. */
export function readEnvironment(): PlatformEnvironment {
  const { env } = process;
  const variables: Partial<Record<Variable, string>> = {};
  for (const name of COMMAND_LINE_VARIABLES) {
    const value = env[name];
    if (value === undefined) continue;
    if (value === '') throw new UsageError(`${name} is empty. Unset it, or give it a value.`);
    variables[name] = value;
  }
  if ((variables.SVC_CLIENT_ID === undefined) !== (variables.SVC_CLIENT_SECRET === undefined))
    throw new UsageError(
      'SVC_CLIENT_ID and SVC_CLIENT_SECRET are needed together. Set both, or none.',
    );
  if (variables.SVC_TOKEN !== undefined && variables.SVC_CLIENT_ID !== undefined)
    throw new UsageError('SVC_TOKEN and SVC_CLIENT_ID are both set. Unset one of them.');
  if (variables.SVC_URL !== undefined && variables.SVC_CONTEXT !== undefined)
    throw new UsageError('SVC_URL and SVC_CONTEXT are both set. Unset one of them.');
  return { variables, folders: userFolders(env), dockerConfigFile: dockerConfigFile(env) };
}
