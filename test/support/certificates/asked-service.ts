// AskedService: a request to a service with mutual TLS, on a connection of its own.
import { Agent, request } from 'node:https';
import type { TLSSocket } from 'node:tls';
import { onTestFinished } from 'vitest';
import type { CertificateTexts } from '../../../identity/certificates.ts';

export interface IdentifiedAnswer {
  readonly status: number;
  readonly body: string;
  /** Certificate of the service, in PEM. */
  readonly leaf: string;
}

/** Asks on a new connection. Rejects if the service proves another identity, or refuses the certificate. */
export function ask(
  url: string,
  { certificate, key, authorities }: CertificateTexts,
): Promise<IdentifiedAnswer> {
  const agent = new Agent({ maxCachedSessions: 0 });
  onTestFinished(() => agent.destroy());
  const { promise, resolve, reject } = Promise.withResolvers<IdentifiedAnswer>();
  request(
    url,
    { agent, cert: certificate, key, ca: authorities, checkServerIdentity: () => undefined },
    (response) => {
      const leaf = (response.socket as TLSSocket).getPeerX509Certificate()!;
      let body = '';
      response.setEncoding('utf8').on('data', (text: string) => (body += text));
      response.on('end', () =>
        resolve({ status: response.statusCode!, body, leaf: leaf.toString() }),
      );
    },
  )
    .on('error', reject)
    .end();
  return promise;
}
