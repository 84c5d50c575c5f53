// Rebinding: what keeps pages of the internet away from an endpoint on loopback. A browser of this machine reaches it as
// any program does: a page can send it requests, and by a name that it makes lead to 127.0.0.1 it could read the
// answers too. A browser says by which name it asks and for whose page, and no page can make it lie.
import type { IncomingHttpHeaders } from 'node:http';

const LOOPBACK_NAMES = ['127.0.0.1', 'localhost', '[::1]'];
/** What a browser says of a request that no page of somebody else has made. */
const OWN_SITES = new Set<string | readonly string[]>(['same-origin', 'none']);

/** Why a request is refused, for its sender; undefined: it is not. */
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
