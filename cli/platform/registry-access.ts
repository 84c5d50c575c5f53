// RegistryAccess: the client for the registry of an image that a command pushes: that of the installation, with the login to the
// installation, or another one, with what docker login has stored.
//
// Invariant: the token of an installation goes to its own registry alone, which is registry. of the base domain where the control
// plane is api. of it.
import { CommandFailure } from '../command.ts';
import type { RegistryReference } from '@svc/oci/image-reference';
import type { RegistryClient } from '@svc/oci/registry-client';
import { readEnvironment } from './environment.ts';
import { Platform } from './platform.ts';

/** Time for all requests that pushing an image needs, in milliseconds: 2 GiB at 10 Mbit/s. */
const TOTAL_TIMEOUT_MS = 30 * 60_000;

/** Creates the client. Rejects with SVC_NOT_LOGGED_IN and SVC_LOGIN_FAILED. `platform`: found from the environment by default. */
export async function registryClientFor(
  { host }: Pick<RegistryReference, 'host'>,
  { platform = platformOfEnvironment(), privateHosts = [] }: RegistryAccessOptions = {},
): Promise<RegistryClient> {
  const { RegistryClient } = await import('@svc/oci/registry-client');
  const { readDockerConfig } = await import('@svc/oci/registry-credentials');
  const { dockerConfigFile } = readEnvironment();
  const isOwn = platform !== undefined && host === registryOf(platform.target.url);
  const token = isOwn ? await platform.accessToken() : undefined;
  const hostname = hostnameOf(host);
  return new RegistryClient({
    credentialsOf: async (asked) =>
      token === undefined
        ? (await readDockerConfig(dockerConfigFile))?.get(asked)
        : { kind: 'token', token },
    // Whoever runs the command has named the host.
    mayBePrivate: (asked) => hostnameOf(asked) === hostname || privateHosts.includes(asked),
    authority: isOwn ? platform.target.authority : undefined,
    limits: { totalTimeoutMs: TOTAL_TIMEOUT_MS },
  });
}

export interface RegistryAccessOptions {
  readonly platform?: Platform | undefined;
  /** Further hosts, with their ports, that may be in a private network. */
  readonly privateHosts?: readonly string[];
}

/** Returns the host of an installation's registry, with its port; undefined if its control plane has another address than `api.`. */
export function registryOf(platformUrl: string): string | undefined {
  const { host, hostname } = new URL(platformUrl);
  return hostname.startsWith('api.') ? `registry.${host.slice('api.'.length)}` : undefined;
}

/** Returns undefined if no installation is chosen, which a registry of others does not need. */
function platformOfEnvironment(): Platform | undefined {
  try {
    return Platform.open();
  } catch (error) {
    if (error instanceof CommandFailure && error.code === 'SVC_CONTEXT_INVALID') return undefined;
    throw error;
  }
}

function hostnameOf(host: string): string {
  return host.replace(/:\d+$/, '');
}
