// LoopbackHost: whether a server that listens on a host is reached from this machine only.
import { BlockList, isIP } from 'node:net';

const loopback = new BlockList();
loopback.addSubnet('127.0.0.0', 8);
loopback.addAddress('::1', 'ipv6');

/** `host`: an address without brackets, or a name, of which only `localhost` counts. */
export function isLoopbackHost(host: string): boolean {
  const version = isIP(host);
  if (version === 0) return host === 'localhost';
  return loopback.check(host, version === 6 ? 'ipv6' : 'ipv4');
}
