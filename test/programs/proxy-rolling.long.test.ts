// Pods of two services that call one another are replaced one by one, and their certificates and authority are rotated, while
// clients send requests. No request fails, and each POST is done once.
import { createServer, Agent as PlainAgent, request as plainRequest } from 'node:http';
import { once } from 'node:events';
import { Agent, request } from 'node:https';
import type { IncomingMessage, RequestListener, ClientRequest } from 'node:http';
import type { AddressInfo } from 'node:net';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { CertificateAuthority } from '../support/certificates/certificate-authority.ts';
import { certificateTexts, mountCertificates } from '../support/certificates/certificate-files.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { GATEWAY_ID, idOf, WebPod } from '../support/web-pods/web-pod.ts';

const CLIENTS = 8;
/** Time between the removal of a pod from the addresses and SIGTERM: longer than proxies take to read the file of services. */
const REMOVAL_MS = 3_000;

/** One pod with its process, which answers every request by `respond`. */
class ServedPod {
  readonly pod: WebPod;
  readonly #close: () => void;

  private constructor(pod: WebPod, close: () => void) {
    this.pod = pod;
    this.#close = close;
  }

  static async start(
    folder: string,
    service: string,
    authority: CertificateAuthority,
    respond: (servicesUrl: () => string) => RequestListener,
  ): Promise<ServedPod> {
    let servicesUrl = '';
    const server = createServer(respond(() => servicesUrl));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    mkdirSync(folder);
    const pod = await WebPod.start({
      authority,
      folder,
      service,
      processPort: (server.address() as AddressInfo).port,
      settings: { 'svc.proxy.callers': 'web' },
    });
    servicesUrl = `http://127.0.0.1:${pod.callingPort}`;
    return new ServedPod(pod, () => {
      server.closeAllConnections();
      server.close();
    });
  }

  /** Stops the pod as a cluster does. The process ends after the proxy, and so it answers what the proxy still passes. */
  async stop(): Promise<void> {
    const { code } = await this.pod.svc.end('SIGTERM');
    if (code !== 0) throw new Error(`the proxy ended with ${code}`);
    this.#close();
  }

  async end(): Promise<void> {
    await this.pod.end();
    this.#close();
  }
}

/** Waits for the whole response. Rejects unless it is 200 and complete. */
async function answered(sent: ClientRequest): Promise<void> {
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  let text = '';
  for await (const piece of response) text += String(piece);
  if (response.statusCode !== 200) throw new Error(`${response.statusCode} ${text}`);
}

class RollingServices {
  readonly pods = { web: [] as ServedPod[], cart: [] as ServedPod[] };
  /** How often each order has arrived at a process of cart. */
  readonly orders = new Map<string, number>();
  authority: CertificateAuthority;
  readonly #folder: string;
  readonly #calling = new PlainAgent({ keepAlive: true });
  #count = 0;

  constructor(folder: string, authority: CertificateAuthority) {
    this.#folder = folder;
    this.authority = authority;
  }

  async add(service: 'web' | 'cart'): Promise<void> {
    const folder = join(this.#folder, `${service}-${(this.#count += 1)}`);
    const respond = service === 'web' ? this.#web : this.#cart;
    this.pods[service].push(await ServedPod.start(folder, service, this.authority, respond));
    this.#locate();
  }

  /** Starts another pod of the service, and stops the oldest one. */
  async replaceOldest(service: 'web' | 'cart'): Promise<void> {
    await this.add(service);
    const oldest = this.pods[service].shift()!;
    this.#locate();
    await sleep(REMOVAL_MS);
    await oldest.stop();
  }

  get all(): readonly (readonly [string, WebPod])[] {
    return Object.entries(this.pods).flatMap(([service, pods]) =>
      pods.map(({ pod }) => [service, pod] as const),
    );
  }

  /** Gives all pods new certificates of an authority, and waits until they are in use. */
  async rotate(
    issuer: CertificateAuthority,
    trusted: readonly CertificateAuthority[],
  ): Promise<void> {
    await Promise.all(
      this.all.map(async ([service, pod]) => {
        const before = rotationsOf(pod);
        const leaf = await issuer.issue({ uris: [idOf(service)] });
        mountCertificates(pod.certificates, certificateTexts(leaf, ...trusted));
        while (rotationsOf(pod) === before) await sleep(50);
      }),
    );
  }

  async end(): Promise<void> {
    await Promise.all([...this.pods.web, ...this.pods.cart].map((pod) => pod.end()));
    this.#calling.destroy();
  }

  readonly #cart = (): RequestListener => (incoming, response) => {
    incoming.resume().on('end', () => {
      if (incoming.method === 'POST')
        this.orders.set(incoming.url!, (this.orders.get(incoming.url!) ?? 0) + 1);
      setTimeout(() => response.end('done'), 20 * Math.random());
    });
  };

  /** Passes each request on to cart. */
  readonly #web =
    (servicesUrl: () => string): RequestListener =>
    (incoming, response) => {
      const { method, url } = incoming;
      const call = plainRequest(`${servicesUrl()}/cart${url}`, {
        method: method!,
        agent: this.#calling,
      });
      call.on('response', (answer) => {
        response.writeHead(answer.statusCode!);
        answer.pipe(response);
      });
      call.on('error', (error) => response.writeHead(500).end(`the call failed: ${error.message}`));
      incoming.pipe(call);
    };

  #locate(): void {
    const ports = this.pods.cart.map(({ pod }) => pod.servicePort);
    for (const [, pod] of this.all) pod.locate({ 'shop/cart': ports });
  }
}

function rotationsOf(pod: WebPod): number {
  return pod.svc.stderr.split('"New certificates are in use"').length;
}

/** Clients that send requests to any pod of web, each the next one when it has its response. */
class Load {
  readonly failures: string[] = [];
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
  }

  async #client(index: number): Promise<void> {
    for (let turn = 0; !this.#isOver; turn += 1) {
      const isPost = turn % 2 === 0;
      const path = isPost ? `/orders/${index}-${turn}` : '/items';
      const { web } = this.#services.pods;
      const { servicePort: port } = web[Math.floor(Math.random() * web.length)]!.pod;
      const agent = this.#agent!;
      const sent = request({
        host: '127.0.0.1',
        port,
        path,
        agent,
        method: isPost ? 'POST' : 'GET',
      });
      sent.end(isPost ? 'x'.repeat(1000) : undefined);
      try {
        await answered(sent);
        if (isPost) this.posts.push(path);
        else this.gets += 1;
      } catch (error) {
        this.failures.push(`${path}: ${String(error)}`);
      }
    }
  }
}

test('P32: pods are replaced, and leaf and authority rotated, under load, and no request fails or is done twice', async () => {
  const first = await CertificateAuthority.create('first');
  const second = await CertificateAuthority.create('second');
  const services = new RollingServices(temporaryFolder(), first);
  onTestFinished(() => services.end());
  await Promise.all([
    services.add('web'),
    services.add('web'),
    services.add('cart'),
    services.add('cart'),
  ]);
  const load = new Load(services);
  await load.identify(first, [first]);
  load.start();

  await Promise.all([services.replaceOldest('web'), services.replaceOldest('cart')]);
  await services.rotate(first, [first]);
  await services.rotate(first, [first, second]);
  await load.identify(second, [first, second]);
  await services.rotate(second, [first, second]);
  await services.rotate(second, [second]);
  services.authority = second;
  await Promise.all([services.replaceOldest('web'), services.replaceOldest('cart')]);
  await load.stop();

  expect(load.failures).toEqual([]);
  expect([...services.orders].filter(([, times]) => times !== 1)).toEqual([]);
  expect([...services.orders.keys()].toSorted()).toEqual(load.posts.toSorted());
  expect(Math.min(load.posts.length, load.gets)).toBeGreaterThan(100);
});
