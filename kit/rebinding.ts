// Rebinding: the check that keeps web pages away from an endpoint on loopback. A browser on this machine can reach
// the endpoint: a page can send requests, and through a name that resolves to 127.0.0.1 (DNS rebinding) could also read
// the answers. The browser itself sends the name in Host and the page's site in Sec-Fetch-Site, which a page cannot
// change.
import type { IncomingHttpHeaders } from 'node:http';

const LOOPBACK_NAMES = ['127.0.0.1', 'localhost', '[::1]'];
/** Values of Sec-Fetch-Site for requests that no page of another site has made. */
const OWN_SITES = new Set<string | readonly string[]>(['same-origin', 'none']);

/** Returns the reason for refusing the request, worded for its sender; undefined if it is allowed. */
export function foreignRequest(headers: IncomingHttpHeaders, port: number): string | undefined {
  const { host, origin, 'sec-fetch-site': site } = headers;
  const names = LOOPBACK_NAMES.map((name) => `${name}:${port}`);
  if (host === undefined || !names.includes(host.toLowerCase()))
    return `This endpoint answers for ${names.join(', ')}, and was asked as another host.`;
  if (origin !== undefined && !names.some((name) => origin === `http://${name}`))
    return 'This endpoint does not answer pages of other origins.';
  if (site !== undefined && !OWN_SITES.has(site))
    return 'This endpoint does not answer pages of other sites.';
  return undefined;
}
