// UserFolders: where the command line keeps a user's files, according to the XDG Base Directory Specification: contexts below
// the configuration, logins below the state, names for completion below the cache.
import { mkdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { isAbsolute, join, resolve } from 'node:path';

export interface UserFolders {
  readonly config: string;
  readonly state: string;
  readonly cache: string;
}

/** Returns the folders of svc, which need not exist. The specification ignores variables that are no absolute paths. */
export function userFolders(env: NodeJS.ProcessEnv): UserFolders {
  const below = (variable: string, ...otherwise: readonly string[]) => {
    const base = env[variable];
    return join(
      base !== undefined && isAbsolute(base) ? base : join(homedir(), ...otherwise),
      'svc',
    );
  };
  return {
    config: below('XDG_CONFIG_HOME', '.config'),
    state: below('XDG_STATE_HOME', '.local', 'state'),
    cache: below('XDG_CACHE_HOME', '.cache'),
  };
}

/** Returns the file in which `docker login` keeps credentials. */
export function dockerConfigFile(env: NodeJS.ProcessEnv): string {
  const folder = env['DOCKER_CONFIG'];
  return resolve(
    folder === undefined || folder === '' ? join(homedir(), '.docker') : folder,
    'config.json',
  );
}

/** Makes a folder that only its user may enter. Throws the errors of Node's file functions. */
export function makePrivateFolder(path: string): void {
  mkdirSync(path, { recursive: true, mode: 0o700 });
}
