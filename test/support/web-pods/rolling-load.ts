// RollingLoad: clients that send requests to any pod of web, each the next one when it has its response. Half of the requests
// post one order each, and half of them go to cart under the mount of web.
import { once } from 'node:events';
import type { ClientRequest, IncomingMessage } from 'node:http';
import { Agent, request } from 'node:https';
import type { CertificateAuthority } from '../certificates/certificate-authority.ts';
import { MOUNT, type RollingServices } from './rolling-services.ts';
import { GATEWAY_ID } from './web-pod.ts';

const CLIENTS = 8;
/** Path of orders, and of what is read. */
export const ORDERS = '/counters';
const ORDER = JSON.stringify({ amount: 1 });

export class RollingLoad {
  readonly failures: string[] = [];
  /** Ids of the orders that were posted. */
  readonly posts: string[] = [];
  gets = 0;
  #agent: Agent | undefined;
  readonly #services: RollingServices;
  #isOver = false;
  #running: Promise<unknown> = Promise.resolve();

  constructor(services: RollingServices) {
    this.#services = services;
  }

  /** Opens connections with a certificate of the issuer from now on. */
  async identify(
    issuer: CertificateAuthority,
    trusted: readonly CertificateAuthority[],
  ): Promise<void> {
    const { certificate: cert, key } = await issuer.issue({ uris: [GATEWAY_ID] });
    this.#agent = new Agent({
      keepAlive: true,
      // Shorter than the second for which a proxy keeps an idle connection that has to close.
      timeout: 500,
      maxCachedSessions: 0,
      cert,
      key,
      ca: trusted.map(({ certificate }) => certificate),
      checkServerIdentity: () => undefined,
    });
  }

  start(): void {
    this.#running = Promise.all(Array.from({ length: CLIENTS }, (_, index) => this.#client(index)));
  }

  async stop(): Promise<void> {
    this.#isOver = true;
    await this.#running;
    this.#agent?.destroy();
  }

  async #client(index: number): Promise<void> {
    for (let turn = 0; !this.#isOver; turn += 1) {
      const isPost = turn % 2 === 0;
      const isMounted = turn % 4 < 2;
      const id = isPost ? `${index}-${turn}` : 'none';
      const path = `${isMounted ? MOUNT : ''}${ORDERS}/${id}`;
      try {
        await answered(this.#send(path, isPost));
        if (isPost) this.posts.push(id);
        else this.gets += 1;
      } catch (error) {
        this.failures.push(`${path}: ${String(error)}`);
      }
    }
  }

  #send(path: string, isPost: boolean): ClientRequest {
    const { web } = this.#services.pods;
    const { servicePort: port } = web[Math.floor(Math.random() * web.length)]!;
    const sent = request({
      host: '127.0.0.1',
      port,
      path,
      agent: this.#agent!,
      method: isPost ? 'POST' : 'GET',
      headers: isPost ? { 'content-type': 'application/json' } : {},
    });
    return sent.end(isPost ? ORDER : undefined);
  }
}

/** Waits for the whole response. Rejects unless it is 200 and complete. */
async function answered(sent: ClientRequest): Promise<void> {
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  let text = '';
  for await (const piece of response) text += String(piece);
  if (response.statusCode !== 200) throw new Error(`${response.statusCode} ${text}`);
}
