// CallerAddress: the address to which a request counts where a limit is by address. It is the address of the connection, or what the
// gateway says of its client: its connections have its certificate, and it appends the client's address to X-Forwarded-For, behind
// whatever the client has written there. A service of the installation counts by its name, whichever instance has sent the request.
import { isIPv4, isIPv6 } from 'node:net';
import type { FieldList } from '@svc/http1';
import { type Caller, callerName } from './access.ts';

/** Address of all callers whose address is not known. */
const UNKNOWN = 'unknown';
const MAPPED = '::ffff:';
const FORWARDED_FOR = 'x-forwarded-for';
/** Groups of an IPv6 address, and those of its network. */
const GROUPS = 8;
const NETWORK_GROUPS = 4;

/** `isBehindGateway`: whether requests of the internet arrive from the gateway, which has shown who it is. */
export function callerAddress(
  caller: Caller,
  fields: FieldList,
  remoteAddress: string | undefined,
  isBehindGateway: boolean,
): string {
  if (caller.kind === 'service') return callerName(caller);
  const isForwarded = isBehindGateway && caller.kind !== 'local';
  const address = isForwarded ? fields.all(FORWARDED_FOR).at(-1)?.split(',').at(-1) : remoteAddress;
  return networkOf(address?.trim() ?? UNKNOWN);
}

/**
 * Returns what counts as one address: an IPv4 address, or the first 64 bits of an IPv6 address, because a customer of an internet provider
 * has at least so many. Returns `unknown` for any other text.
 */
export function networkOf(address: string): string {
  const lower = address.toLowerCase();
  const plain = lower.startsWith(MAPPED) ? lower.slice(MAPPED.length) : lower;
  if (isIPv4(plain)) return plain;
  if (!isIPv6(lower)) return UNKNOWN;
  const [head = '', tail] = lower.replace(/%.*$/, '').split('::');
  const before = groupsOf(head);
  const after = groupsOf(tail ?? '');
  const zeros = Array<string>(Math.max(0, GROUPS - before.length - after.length)).fill('0');
  const groups = [...before, ...zeros, ...after].slice(0, NETWORK_GROUPS);
  return `${groups.map((group) => Number.parseInt(group, 16).toString(16)).join(':')}::/64`;
}

/** Returns the groups of a part of an IPv6 address. The form of IPv4 at its end stands for two. */
function groupsOf(part: string): readonly string[] {
  return part === ''
    ? []
    : part.split(':').flatMap((group) => (group.includes('.') ? ['0', '0'] : [group]));
}
