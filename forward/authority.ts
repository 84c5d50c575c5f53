// Authority: the address to which a request was sent, as the process is informed of it. It is read from what the connection
// proves, and from the request only where the gateway or a trusted proxy has routed by it.
import { clusterHost } from '@svc/client';
import type { RequestHead } from '@svc/http1';
import type { Arrival, OwnService } from './arrival.ts';

export type Scheme = 'http' | 'https';

export interface AddressedTo {
  readonly scheme: Scheme;
  /** Host, and the port unless it is the scheme's own. */
  readonly authority: string;
  readonly port: number;
}

interface HostAndPort {
  readonly host: string;
  readonly port: number | undefined;
}

const AUTHORITY = /^(\[[0-9a-z:.%_-]+\]|[^\s:/?#@[\]\\]+)(?::(\d{0,5}))?$/;
const OWN_PORT: Readonly<Record<Scheme, number>> = { http: 80, https: 443 };

/**
 * Returns the address of an admitted request; undefined if the process is to get no `X-Forwarded-*` and `Host` as it
 * arrived: for a request of the internet in an installation without a base domain.
 */
export function addressedTo(
  head: Pick<RequestHead, 'authority' | 'fields'>,
  arrival: Arrival,
  own: OwnService,
): AddressedTo | undefined {
  if (arrival.isMounted) return statedAddress(head);
  switch (arrival.caller.kind) {
    case 'service':
      return addressOf({ host: ownHost(own), port: own.port }, 'https');
    case 'local':
      return (
        addressOfText(head.authority, 'http') ??
        addressOf({ host: '127.0.0.1', port: own.port }, 'http')
      );
    case 'internet':
      if (own.baseDomain === undefined) return undefined;
      return routedAddress(head.authority, own) ?? addressOfText(derivedAuthority(own), 'https');
  }
}

/** Returns the value of `Host` for the process. */
export function processHost(
  head: Pick<RequestHead, 'authority'>,
  address: AddressedTo | undefined,
  own: OwnService,
): string {
  if (address !== undefined) return address.authority;
  if (head.authority !== '') return head.authority;
  return authorityText({ host: ownHost(own), port: own.port }, 'https');
}

/** Returns the authority of a service within the cluster, as `Host` names it. */
export function serviceAuthority(host: string, port: number, scheme: Scheme): string {
  return authorityText({ host, port }, scheme);
}

/** Returns what the proxy of the mounting service stated; undefined if it stated no address, or several. */
function statedAddress({ fields }: Pick<RequestHead, 'fields'>): AddressedTo | undefined {
  const hosts = fields.all('x-forwarded-host');
  if (hosts.length !== 1) return undefined;
  const schemes = fields.all('x-forwarded-proto');
  return addressOfText(hosts[0]!, schemes.length === 1 && schemes[0] === 'http' ? 'http' : 'https');
}

function ownHost({ service, project }: OwnService): string {
  return project === undefined ? '127.0.0.1' : clusterHost({ service, project });
}

/** Returns the address at which the gateway has routed; undefined if the text names none of the service. */
function routedAddress(text: string, own: OwnService): AddressedTo | undefined {
  const { hostnames = [] } = own;
  const parsed = parseAuthority(text);
  if (parsed === undefined) return undefined;
  const isOwn =
    hostnames.length === 0 ||
    hostnames.includes(parsed.host) ||
    parsed.host === parseAuthority(derivedAuthority(own))?.host;
  return isOwn ? addressOf(parsed, 'https') : undefined;
}

/** Returns the hostname that the platform derives from the names of service and project. */
function derivedAuthority({ service, project, baseDomain }: OwnService): string {
  return `${service}-${project}.${baseDomain}`;
}

function addressOfText(text: string, scheme: Scheme): AddressedTo | undefined {
  const parsed = parseAuthority(text);
  return parsed === undefined ? undefined : addressOf(parsed, scheme);
}

function addressOf(parsed: HostAndPort, scheme: Scheme): AddressedTo {
  return {
    scheme,
    authority: authorityText(parsed, scheme),
    port: parsed.port ?? OWN_PORT[scheme],
  };
}

/** Writes the host in lower case, without the dot at its end, and the port unless it is the scheme's own. */
function authorityText({ host, port }: HostAndPort, scheme: Scheme): string {
  return port === undefined || port === OWN_PORT[scheme] ? host : `${host}:${port}`;
}

/** Parses an authority without userinfo; returns undefined if it has another form. */
function parseAuthority(text: string): HostAndPort | undefined {
  const found = AUTHORITY.exec(text.toLowerCase());
  if (found === null) return undefined;
  const [, name = '', digits = ''] = found;
  const host = name.endsWith('.') ? name.slice(0, -1) : name;
  if (host === '') return undefined;
  if (digits === '') return { host, port: undefined };
  const port = Number(digits);
  return port >= 1 && port <= 65_535 ? { host, port } : undefined;
}
