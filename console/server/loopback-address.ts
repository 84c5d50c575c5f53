// LoopbackAddress: where on this machine a service listens. Addresses come from files and answers that anybody may
// have written: only what is a plain http address of the loopback interface is ever connected to.

export interface LoopbackAddress {
  /** Numeric: no name is looked up. */
  readonly host: string;
  readonly port: number;
}

/** Undefined: the address is another machine's, or none. One of all interfaces is reached by the loopback one. */
export function loopbackAddress(text: string): LoopbackAddress | undefined {
  const url = URL.parse(text);
  if (url === null || url.protocol !== 'http:' || url.pathname !== '/') return undefined;
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '')
    return undefined;
  const host = loopbackHost(url.hostname);
  return host === undefined ? undefined : { host, port: url.port === '' ? 80 : Number(url.port) };
}

/** `hostname`: as URL writes it, numbers in their one form. */
function loopbackHost(hostname: string): string | undefined {
  if (/^127(?:\.\d+){3}$/.test(hostname)) return hostname;
  if (hostname === 'localhost' || hostname === '0.0.0.0') return '127.0.0.1';
  return hostname === '[::1]' || hostname === '[::]' ? '::1' : undefined;
}
