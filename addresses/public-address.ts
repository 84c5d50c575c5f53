// PublicAddress: whether a numeric address is one of the internet. Programs that connect to hosts which strangers name may connect to no
// other one: neither to this machine, nor to its networks, nor to the credentials endpoint of a cloud.
//
// Invariant: an address of IPv6 that stands for one of IPv4 (mapped, compatible, NAT64, 6to4, Teredo) is refused, whatever it stands for.
import { BlockList, isIP } from 'node:net';

/** The networks of IPv4 that are not of the internet: the special-purpose registry of IANA (RFC 6890), and multicast. */
const NOT_PUBLIC_IPV4: readonly (readonly [string, number])[] = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  // AS112, which answers for private addresses.
  ['192.31.196.0', 24],
  ['192.52.193.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['192.175.48.0', 24],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 3],
];
/** The addresses of IPv6 that are of the internet, and the networks among them that lead elsewhere or nowhere. */
const PUBLIC_IPV6 = ['2000::', 3] as const;
const NOT_PUBLIC_IPV6: readonly (readonly [string, number])[] = [
  // With Teredo, and networks of protocols.
  ['2001::', 23],
  ['2001:db8::', 32],
  // 6to4.
  ['2002::', 16],
  ['2620:4f:8000::', 48],
  ['3fff::', 20],
];

const notPublic = new BlockList();
for (const [network, bits] of NOT_PUBLIC_IPV4) notPublic.addSubnet(network, bits);
for (const [network, bits] of NOT_PUBLIC_IPV6) notPublic.addSubnet(network, bits, 'ipv6');
const publicIpv6 = new BlockList();
publicIpv6.addSubnet(...PUBLIC_IPV6, 'ipv6');

/** `address`: as `isIP` of Node takes it, without brackets. Anything else, and an address with a zone, is not public. */
export function isPublicAddress(address: string): boolean {
  const version = isIP(address);
  if (version === 4) return !notPublic.check(address);
  if (version !== 6 || address.includes('%')) return false;
  return publicIpv6.check(address, 'ipv6') && !notPublic.check(address, 'ipv6');
}
