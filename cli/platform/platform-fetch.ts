// PlatformFetch: `fetch` for the requests to a control plane and its identity provider.
//
// Invariants: no redirect is followed. What is not encrypted goes to this machine alone. Names below `localhost` are loopback
// addresses, whatever a resolver says. It needs node:https and not `fetch` of Node, which takes neither an authority nor a lookup.
import type { LookupFunction } from 'node:net';
import { request as requestPlain } from 'node:http';
import { request as requestEncrypted, type RequestOptions } from 'node:https';
import { Readable } from 'node:stream';
import { isConfidential, isLocalhostName, isOfInstallation } from './platform-url.ts';

type Fetch = typeof globalThis.fetch;

interface PlatformFetchOptions {
  /** URL of the control plane. */
  readonly platformUrl: string;
  /** Certificates of the authority of the installation, as PEM, which replaces those of this machine for its hosts. */
  readonly authority: string | undefined;
}

/** Statuses of answers that have no body. */
const WITHOUT_BODY: ReadonlySet<number> = new Set([204, 205, 304]);

/** Creates a `fetch` for texts as bodies. It rejects with TypeError for an address to which no token may go. */
export function platformFetch({ platformUrl, authority }: PlatformFetchOptions): Fetch {
  return async (input, init = {}) => {
    const url = new URL(input instanceof Request ? input.url : input);
    if (!isConfidential(url))
      throw new TypeError(`${url.origin} is neither encrypted nor a loopback address`);
    const options: RequestOptions = {
      method: init.method ?? 'GET',
      headers: Object.fromEntries(new Headers(init.headers)),
      signal: init.signal ?? undefined,
      ...(isLocalhostName(url.hostname) ? { lookup: lookupLoopback } : {}),
      ...(authority !== undefined && isOfInstallation(platformUrl, url.hostname)
        ? { ca: authority }
        : {}),
    };
    return await exchanged(url, options, bodyText(init.body));
  };
}

function bodyText(body: RequestInit['body']): string | undefined {
  if (body === undefined || body === null) return undefined;
  if (typeof body === 'string') return body;
  if (body instanceof URLSearchParams) return body.toString();
  throw new TypeError('a body is a text');
}

function exchanged(url: URL, options: RequestOptions, body: string | undefined): Promise<Response> {
  return new Promise((resolve, reject) => {
    const send = url.protocol === 'https:' ? requestEncrypted : requestPlain;
    const request = send(url, { ...options, agent: false }, (message) => {
      const status = message.statusCode!;
      const headers = new Headers();
      for (let at = 0; at < message.rawHeaders.length; at += 2)
        headers.append(message.rawHeaders[at]!, message.rawHeaders[at + 1]!);
      if (WITHOUT_BODY.has(status)) message.resume();
      const content = WITHOUT_BODY.has(status)
        ? null
        : (Readable.toWeb(message) as unknown as ReadableStream<Uint8Array>);
      resolve(new Response(content, { status, headers }));
    });
    request.on('error', reject);
    if (body !== undefined) request.setHeader('Content-Length', Buffer.byteLength(body));
    request.end(body);
  });
}

const lookupLoopback: LookupFunction = (_hostname, { all }, callback) => {
  if (all === true) callback(null, [{ address: '127.0.0.1', family: 4 }]);
  else callback(null, '127.0.0.1', 4);
};
