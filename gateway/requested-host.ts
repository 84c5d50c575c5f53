// RequestedHost: the hostname that a request names, in the one form in which hostnames are compared: lower case, without a port, without
// a dot at the end.

const AUTHORITY = /^([a-z0-9_-]+(?:\.[a-z0-9_-]+)*)\.?(?::\d{0,5})?$/;

/** Returns the hostname of an authority; undefined if it has none: it is an address in brackets, or something else. */
export function requestedHost(authority: string): string | undefined {
  return AUTHORITY.exec(authority.toLowerCase())?.[1];
}

/** Returns a name as TLS sends it in the form of `requestedHost`; undefined if the client has sent none. */
export function serverName(servername: string | false | null | undefined): string | undefined {
  return typeof servername === 'string' && servername !== ''
    ? servername.toLowerCase().replace(/\.$/, '')
    : undefined;
}

/** Returns the authority at which the gateway serves a hostname. `port`: the port of its URLs. */
export function publicAuthority(hostname: string, port: number): string {
  return port === 443 ? hostname : `${hostname}:${port}`;
}
