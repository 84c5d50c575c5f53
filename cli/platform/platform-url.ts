// PlatformUrl: the addresses of control planes and identity providers. Tokens go there, so a connection is encrypted unless it
// stays on this machine.

/** Returns whether a hostname, as the class URL writes it, is one of this machine's loopback interface. */
export function isLoopbackHostname(hostname: string): boolean {
  return (
    isLocalhostName(hostname) || hostname === '[::1]' || /^127(?:\.\d{1,3}){3}$/.test(hostname)
  );
}

/** Returns whether a name is `localhost` or ends in `.localhost` (RFC 6761), which not every resolver knows. */
export function isLocalhostName(hostname: string): boolean {
  return hostname === 'localhost' || hostname.endsWith('.localhost');
}

/** Returns whether tokens may be sent to the URL: by https, or by http within this machine. */
export function isConfidential({ protocol, hostname }: URL): boolean {
  return protocol === 'https:' || (protocol === 'http:' && isLoopbackHostname(hostname));
}

/**
 * Returns the URL of a control plane in the one form in which it is stored and compared: without a slash at its end. Returns
 * undefined for a text that is none.
 */
export function readPlatformUrl(text: string): string | undefined {
  const url = URL.parse(text);
  if (url === null || !isConfidential(url)) return undefined;
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '')
    return undefined;
  return `${url.origin}${url.pathname.replace(/\/+$/, '')}`;
}

/** Describes the URLs that `readPlatformUrl` takes, for messages. */
export const PLATFORM_URL_FORM =
  'a URL such as https://api.example.com (http only for loopback addresses)';

/**
 * Returns whether the authority of a context counts for a host: that of the control plane, and every host of the same base
 * domain if the control plane is at `api.` of it.
 */
export function isOfInstallation(platformUrl: string, hostname: string): boolean {
  const own = new URL(platformUrl).hostname;
  return hostname === own || (own.startsWith('api.') && hostname.endsWith(own.slice('api'.length)));
}
