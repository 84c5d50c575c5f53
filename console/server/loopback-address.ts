// LoopbackAddress: the address on this machine at which a service listens. Addresses come from files and
// responses that anybody may have written: the console connects only to a plain http address of the loopback
// interface.

export interface LoopbackAddress {
  /** Numeric address: no name is looked up. */
  readonly host: string;
  readonly port: number;
}

/**
 * Returns undefined for another machine's address, or an invalid one. An address of all interfaces becomes the
 * loopback one.
 */
export function loopbackAddress(text: string): LoopbackAddress | undefined {
  const url = URL.parse(text);
  if (url === null || url.protocol !== 'http:' || url.pathname !== '/') return undefined;
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '')
    return undefined;
  const host = loopbackHost(url.hostname);
  return host === undefined ? undefined : { host, port: url.port === '' ? 80 : Number(url.port) };
}

/** `hostname`: as URL writes it, with numbers in their canonical form. */
function loopbackHost(hostname: string): string | undefined {
  if (/^127(?:\.\d+){3}$/.test(hostname)) return hostname;
  if (hostname === 'localhost' || hostname === '0.0.0.0') return '127.0.0.1';
  return hostname === '[::1]' || hostname === '[::]' ? '::1' : undefined;
}
