// RegistryAddress: the addresses to which a registry may lead. Names of images come from members, and answers of registries from
// anybody: neither may make this machine send requests into its own network.
//
// Invariant: what was checked is what is connected to. A name is resolved once for each connection, and the connection goes to the
// addresses that were found in order.
import { lookup, type LookupAddress } from 'node:dns';
import { BlockList, isIP, type LookupFunction } from 'node:net';
import { isPublicAddress } from '@svc/addresses/public-address';
import { ImageError } from './image-error.ts';

/** Whether a host may be on this machine or in a private network. `host`: name or address, with the port if the URL has one. */
export type PrivateHosts = (host: string) => boolean;

const loopback = new BlockList();
loopback.addSubnet('127.0.0.0', 8);
loopback.addAddress('::1', 'ipv6');

/** Returns whether a host of a URL is on this machine: an address of loopback, or a name below `localhost` (RFC 6761). */
export function isLoopbackHostname(hostname: string): boolean {
  const address = withoutBrackets(hostname);
  if (isLocalhostName(hostname)) return true;
  const version = isIP(address);
  return version !== 0 && loopback.check(address, version === 6 ? 'ipv6' : 'ipv4');
}

/** Refuses a URL whose host is a numeric address that it may not be. Throws SVC_REGISTRY_ADDRESS_REFUSED. */
export function checkHost(url: URL, mayBePrivate: PrivateHosts): void {
  const address = withoutBrackets(url.hostname);
  if (isIP(address) !== 0 && !isPublicAddress(address) && !mayBePrivate(url.host))
    throw addressRefused(url.host, address);
}

/** Returns how names of one host are resolved: to addresses that it may have. */
export function checkedLookup(host: string, mayBePrivate: PrivateHosts): LookupFunction {
  return (hostname, options, callback) => {
    const answer = (found: readonly LookupAddress[]) => {
      const allowed = mayBePrivate(host)
        ? found
        : found.filter(({ address }) => isPublicAddress(address));
      if (allowed.length === 0)
        return callback(addressRefused(host, found[0]?.address ?? 'no address'), []);
      if (options.all === true) return callback(null, [...allowed]);
      return callback(null, allowed[0]!.address, allowed[0]!.family);
    };
    if (isLocalhostName(hostname)) return answer([{ address: '127.0.0.1', family: 4 }]);
    lookup(hostname, { ...options, all: true }, (error, found) => {
      if (error === null) answer(found);
      else callback(error, []);
    });
  };
}

function isLocalhostName(hostname: string): boolean {
  return hostname === 'localhost' || hostname.endsWith('.localhost');
}

function withoutBrackets(hostname: string): string {
  return hostname.replace(/^\[(.*)\]$/, '$1');
}

function addressRefused(host: string, address: string): ImageError {
  return new ImageError(
    'SVC_REGISTRY_ADDRESS_REFUSED',
    `${host} is at ${address}, which is on this machine or in a private network. ` +
      'Name a registry of the internet, or let the operator allow this host.',
  );
}
