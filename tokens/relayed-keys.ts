// RelayedKeys: the keys of an identity provider as a runtime reads them at the socket of a relay (key-relay.ts), in place of the provider's
// own addresses.
import { request } from 'node:http';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import type { Fetch } from './provider-document.ts';

export type { Fetch };

/** Returns the path at which a relay has the keys of the issuer, and which another relay answers 404. */
export function relayPath(issuer: string): string {
  return `/${encodeURIComponent(issuer)}`;
}

/** Answers in place of the identity provider: keys are at the URL of the issuer, and come from the socket. */
export function relayedKeys(socketPath: string, issuer: string): Fetch {
  return async (input, init) => {
    if (input !== issuer) return Response.json({ issuer, jwks_uri: issuer });
    const { promise, resolve, reject } = Promise.withResolvers<Response>();
    const signal = init?.signal;
    request({ socketPath, path: relayPath(issuer), agent: false, ...(signal && { signal }) })
      .on('response', (incoming) => {
        if (incoming.statusCode === 200)
          resolve(new Response(Readable.toWeb(incoming) as ReadableStream));
        else void text(incoming).then((problem) => reject(new Error(problem)), reject);
      })
      .on('error', (error) => reject(new Error(withoutPath(error))))
      .end();
    return promise;
  };
}

/** The message of the system has the path of the socket, and the log of a service is read by others than the operator. */
function withoutPath({ code = 'unknown' }: NodeJS.ErrnoException): string {
  return `the control plane does not answer: ${code}`;
}
