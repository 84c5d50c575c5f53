// RemotingSettings: where an instance takes the calls of the other instances of its service, which share its database.
import { createServer } from 'node:net';
import { networkInterfaces } from 'node:os';
import type { SettingsReader } from '@svc/kit/settings-reader';
import type { NodeAddress } from '../storage/cluster-nodes.ts';

/** The port of the contract (document 2, ports). */
const REMOTING_PORT = 17_355;
const HOST = 'svc.remoting.host';
const PORT = 'svc.remoting.port';
const ADVERTISED = 'svc.remoting.advertised-host';
export const REMOTING_NAMES: readonly string[] = [HOST, PORT, ADVERTISED];

export interface RemotingSettings {
  /** The address to listen on. Port 0 takes a free one. */
  readonly listened: NodeAddress;
  /** The host by which other instances reach this one. */
  readonly advertisedHost: string;
}

/** `http`: the host that the service listens on for HTTP. */
export function readRemoting(
  reader: SettingsReader,
  { deployed, http }: { readonly deployed: boolean; readonly http: string },
): RemotingSettings {
  const host = reader.text(HOST) ?? http;
  return {
    // On a developer's machine several instances of a service may run side by side.
    listened: { host, port: reader.port(PORT, deployed ? REMOTING_PORT : 0) },
    advertisedHost: reader.text(ADVERTISED) ?? (isEveryAddress(host) ? ownAddress() : host),
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
