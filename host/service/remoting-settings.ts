// RemotingSettings: where an instance takes the calls of the other instances of its service, which share its database.
import { createServer } from 'node:net';
import { networkInterfaces } from 'node:os';
import { IDENTITY_NAMES, type IdentitySettings } from '@svc/identity/identity-settings';
import type { SettingsReader } from '@svc/kit/settings-reader';
import { SvcError } from '@svc/kit/svc-error';
import type { NodeAddress } from '../storage/cluster-nodes.ts';

/** The port of the contract (document 2, ports). */
const REMOTING_PORT = 17_355;
const HOST = 'svc.remoting.host';
const PORT = 'svc.remoting.port';
const ADVERTISED = 'svc.remoting.advertised-host';
const TLS = 'svc.remoting.tls';
export const REMOTING_NAMES: readonly string[] = [HOST, PORT, ADVERTISED, TLS];

export interface RemotingSettings {
  /** The address to listen on. Port 0 takes a free one. */
  readonly listened: NodeAddress;
  /** The host by which other instances reach this one. */
  readonly advertisedHost: string;
  /** Whether instances call each other with mutual TLS, by the certificates of the service. */
  readonly tls: boolean;
}

/** `http`: the host that the service listens on for HTTP. Throws SVC_SETTING_INVALID. */
export function readRemoting(
  reader: SettingsReader,
  {
    deployed,
    http,
    identity,
  }: {
    readonly deployed: boolean;
    readonly http: string;
    readonly identity: IdentitySettings | undefined;
  },
): RemotingSettings {
  const host = reader.text(HOST) ?? http;
  const tls = reader.boolean(TLS, false);
  if (tls && identity === undefined)
    throw new SvcError(
      'SVC_SETTING_INVALID',
      `${TLS} needs the certificates of the service: set ${IDENTITY_NAMES.join(', ')} as well, or leave it out. docs/reference/identity.md explains them.`,
    );
  return {
    // On a developer's machine several instances of a service may run side by side.
    listened: { host, port: reader.port(PORT, deployed ? REMOTING_PORT : 0) },
    advertisedHost: reader.text(ADVERTISED) ?? (isEveryAddress(host) ? ownAddress() : host),
    tls,
  };
}

/** Returns the settings with a port that is free, if they leave it open. All shards of the instance listen on it. */
export async function withRemotingPort(remoting: RemotingSettings): Promise<RemotingSettings> {
  const { host, port } = remoting.listened;
  return port === 0 ? { ...remoting, listened: { host, port: await freePort(host) } } : remoting;
}

function isEveryAddress(host: string): boolean {
  return host === '0.0.0.0' || host === '::';
}

/** Returns an address of this machine that others may reach, IPv4 first; the loopback address if there is none. */
function ownAddress(): string {
  const others = Object.values(networkInterfaces()).flatMap((addresses = []) =>
    addresses.filter(({ internal }) => !internal),
  );
  const found = others.find(({ family }) => family === 'IPv4') ?? others[0];
  return found?.address ?? '127.0.0.1';
}

/** Returns a port that nobody listens on. A host that cannot be listened on is reported by the shard that listens. */
async function freePort(host: string): Promise<number> {
  const server = createServer();
  const { promise, resolve } = Promise.withResolvers<number>();
  server.once('error', () => resolve(0));
  server.listen({ host, port: 0 }, () => {
    const address = server.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    server.close(() => resolve(port));
  });
  return promise;
}
