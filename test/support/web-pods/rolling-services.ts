// RollingServices: two services of several pods each, `web` and `cart`, whose pods are replaced and get other certificates while
// both serve. web calls cart, and mounts it at /mounted; cart is either a web server or a component.
import { Agent, request, type RequestListener } from 'node:http';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { CertificateAuthority } from '../certificates/certificate-authority.ts';
import { certificateTexts, mountCertificates } from '../certificates/certificate-files.ts';
import { type PodStart, type ServedPod, startWebServer } from './served-pods.ts';
import { idOf } from './web-pod.ts';

/** Path of the mount of web under which cart is. */
export const MOUNT = '/mounted';
/** Time between the removal of a pod from the addresses and SIGTERM: longer than proxies take to read the file of services. */
const REMOVAL_MS = 3_000;

export type StartCart = (start: PodStart) => Promise<ServedPod>;

export class RollingServices {
  readonly pods = { web: [] as ServedPod[], cart: [] as ServedPod[] };
  /** Issues the first certificates of new pods. */
  authority: CertificateAuthority;
  readonly #folder: string;
  readonly #startCart: StartCart;
  readonly #calling = new Agent({ keepAlive: true });
  #count = 0;

  /** `startCart` starts a pod of cart in a folder that does not exist. */
  constructor(folder: string, authority: CertificateAuthority, startCart: StartCart) {
    this.#folder = folder;
    this.authority = authority;
    this.#startCart = startCart;
  }

  async add(service: 'web' | 'cart'): Promise<void> {
    const folder = join(this.#folder, `${service}-${(this.#count += 1)}`);
    const start = { folder, service, authority: this.authority };
    const pod = await (service === 'web' ? this.#startWeb(start) : this.#startCart(start));
    this.pods[service].push(pod);
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

  /** Gives all pods new certificates of an authority, and waits until they are in use. */
  async rotate(
    issuer: CertificateAuthority,
    trusted: readonly CertificateAuthority[],
  ): Promise<void> {
    await Promise.all(
      this.#all.map(async ([service, pod]) => {
        const before = rotationsOf(pod);
        const leaf = await issuer.issue({ uris: [idOf(service)] });
        mountCertificates(pod.certificates, certificateTexts(leaf, ...trusted));
        while (rotationsOf(pod) === before) await sleep(50);
      }),
    );
  }

  /** Stops all pods as a cluster does, those that call before those that are called. */
  async stop(): Promise<void> {
    await Promise.all(this.pods.web.map(async (pod) => pod.stop()));
    await Promise.all(this.pods.cart.map(async (pod) => pod.stop()));
  }

  /** Ends all pods at once, whether or not they were stopped. */
  async kill(): Promise<void> {
    await Promise.all(this.#all.map(async ([, pod]) => pod.kill()));
    this.#calling.destroy();
  }

  get #all(): readonly (readonly [string, ServedPod])[] {
    return Object.entries(this.pods).flatMap(([service, pods]) =>
      pods.map((pod) => [service, pod] as const),
    );
  }

  async #startWeb(start: PodStart): Promise<ServedPod> {
    const settings = { 'svc.proxy.mounts': `${MOUNT}=cart` };
    return startWebServer(start, { settings, respond: this.#passOn });
  }

  /** Passes each request on to cart. */
  readonly #passOn =
    (servicesUrl: () => string): RequestListener =>
    (incoming, response) => {
      const { method, url, headers } = incoming;
      const type = headers['content-type'];
      const call = request(`${servicesUrl()}/cart${url}`, {
        method: method!,
        agent: this.#calling,
        headers: type === undefined ? {} : { 'content-type': type },
      });
      call.on('response', (answer) => {
        response.writeHead(answer.statusCode!);
        answer.pipe(response);
      });
      call.on('error', (error) => response.writeHead(500).end(`the call failed: ${error.message}`));
      incoming.pipe(call);
    };

  #locate(): void {
    const ports = this.pods.cart.map(({ servicePort }) => servicePort);
    for (const [, pod] of this.#all) pod.locate({ 'shop/cart': ports });
  }
}

function rotationsOf({ svc }: ServedPod): number {
  return svc.stderr.split('"New certificates are in use"').length;
}
