// IdentifiedNodes are nodes of the service `cart` that have certificates, and requests to their counters by the gateway.
import { Agent, request } from 'node:https';
import { onTestFinished } from 'vitest';
import { ca, GATEWAY, otherCa, textsOf } from './test-identities.ts';

export const COUNTERS = Array.from({ length: 20 }, (_, index) => `counter-${index}`);

/** Settings of a node whose certificates are in the folder. */
export function identifiedSettings(folder: string, remotingTls: boolean): string[] {
  return [
    'svc.name=cart',
    'svc.project=shop',
    `svc.identity.folder=${folder}`,
    'svc.identity.trust-domain=td',
    `svc.identity.gateway=${GATEWAY}`,
    `svc.remoting.tls=${remotingTls}`,
    'svc.shards=2',
  ];
}

/** Resolves with a function that resolves with the status of a request for a counter at the URL of a node. */
export async function gatewayTo(): Promise<(url: string, id: string) => Promise<number>> {
  const { certificate: cert, key, authorities } = await textsOf(GATEWAY, otherCa, [ca, otherCa]);
  const agent = new Agent({ keepAlive: true, maxCachedSessions: 0, cert, key, ca: authorities });
  onTestFinished(() => agent.destroy());
  return (url, id) => {
    const { promise, resolve, reject } = Promise.withResolvers<number>();
    const options = { agent, checkServerIdentity: () => undefined };
    request(`${url}/counters/${id}`, options, (response) => {
      response.resume().on('end', () => resolve(response.statusCode!));
    })
      .on('error', reject)
      .end();
    return promise;
  };
}
