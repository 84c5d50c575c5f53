// LoopbackAddress: the address on this machine at which a service listens. Addresses come from files and
// responses that anybody may have written: the console connects only to a plain http address of the loopback
// interface.

export interface LoopbackAddress {
  /** Numeric address, so that no name is looked up. */
  readonly host: string;
  readonly port: number;
}

/**
 * Returns the address in a URL; undefined if the URL is not a plain http address of this machine. The name
 * localhost and the addresses of all interfaces, 0.0.0.0 and ::, become loopback addresses.
 */
export function loopbackAddress(text: string): LoopbackAddress | undefined {
  const url = URL.parse(text);
  if (url === null || url.protocol !== 'http:' || url.pathname !== '/') return undefined;
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '')
    return undefined;
  const host = loopbackHost(url.hostname);
  return host === undefined ? undefined : { host, port: url.port === '' ? 80 : Number(url.port) };
}

/**
 * Returns the numeric loopback address of a host; undefined for another machine. `hostname`: as the class URL writes
 * it, with numbers in their canonical form.
 */
function loopbackHost(hostname: string): string | undefined {
  if (/^127(?:\.\d+){3}$/.test(hostname)) return hostname;
  if (hostname === 'localhost' || hostname === '0.0.0.0') return '127.0.0.1';
  return hostname === '[::1]' || hostname === '[::]' ? '::1' : undefined;
}
