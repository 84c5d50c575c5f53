// PlatformMachine: a control plane that runs services as processes of this machine, with a real identity provider, and what a member asks of it.
//
// Invariant: `close` ends the control plane and all instances.
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { writeLayoutFolder } from '@svc/oci/image-files';
import { moduleImage } from '@svc/oci/module-image';
import { InstanceFolder } from '../../control-plane/local/instance-folder.ts';
import { signalRun } from '../../control-plane/local/instance-process.ts';
import { compileFixture } from '../../test/support/compile-fixture.ts';
import { IdentityProvider } from '../../test/support/identity-provider/identity-provider.ts';
import { startControlPlane, type Service } from '../service.ts';

const MEMBER = 'ann';
const PROJECT = 'shop';
/** Longer than all measurements take. */
const TOKEN_LIFETIME_S = 14_400;
/** Interval at which a status is asked for until the service is ready, in milliseconds. */
const POLL_MS = 10;
const READY_MS_MAX = 120_000;
/** First two numbers of the addresses of instances; another control plane of the machine has 127.83. */
const NETWORK = '127.87';

interface Status {
  readonly lifecycle: string;
  readonly generation: number;
  readonly detail?: string;
}

export class PlatformMachine {
  readonly controlPlane: Service;
  readonly token: string;
  readonly #folder: string;
  readonly #provider: IdentityProvider;

  private constructor(
    folder: string,
    provider: IdentityProvider,
    controlPlane: Service,
    token: string,
  ) {
    this.#folder = folder;
    this.#provider = provider;
    this.controlPlane = controlPlane;
    this.token = token;
  }

  /** Starts it, with a project and the image of the shopping cart. */
  static async open(): Promise<PlatformMachine> {
    const folder = mkdtempSync(join(tmpdir(), 'svc-bench-'));
    const images = join(folder, 'images');
    mkdirSync(images);
    const module = await compileFixture('shopping-cart');
    const image = moduleImage({ module, protocol: '0.2.0', runtime: '0.1.0' });
    await writeLayoutFolder(image, '1', join(images, 'cart'));
    const provider = await IdentityProvider.start();
    const controlPlane = await startControlPlane(provider, join(folder, 'data'), undefined, {
      'svc.local.folder': join(folder, 'machine'),
      'svc.local.network': NETWORK,
      'svc.local.plain-instances': 'true',
      'svc.local.image-folders': `images=${images}`,
    });
    const token = await provider.issue({ subject: MEMBER, lifetimeS: TOKEN_LIFETIME_S });
    const machine = new PlatformMachine(folder, provider, controlPlane, token);
    await machine.#send('POST /organizations/acme', { name: 'Acme' });
    await machine.#send(`POST /projects/${PROJECT}`, { name: 'Shop', organizationId: 'acme' });
    return machine;
  }

  /** Deploys a service with the cart, and resolves once a member sees that it is ready. */
  async deploy(name: string): Promise<void> {
    const path = `/services/${PROJECT}/${name}`;
    const descriptor = { name, image: 'oci:images/cart:1', hosting: 'wasm', protocol: '0.2.0' };
    const { generation } = (await this.#send(`PUT ${path}`, descriptor)) as Status;
    const untilMs = performance.now() + READY_MS_MAX;
    for (;;) {
      const status = (await this.#send(`GET ${path}`)) as Status;
      if (status.lifecycle === 'ready' && status.generation === generation) return;
      if (status.lifecycle === 'failed' || performance.now() > untilMs)
        throw new Error(`${name} is ${status.lifecycle}: ${status.detail ?? ''}`);
      await pause(POLL_MS);
    }
  }

  async close(): Promise<void> {
    await this.controlPlane.stop();
    for (const instance of InstanceFolder.readAll(join(this.#folder, 'machine', 'instances')))
      signalRun(instance, 'SIGKILL');
    await this.#provider.stop();
    rmSync(this.#folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  }

  async #send(line: string, json?: object): Promise<unknown> {
    const [method, path] = line.split(' ') as [string, string];
    const response = await fetch(`${this.controlPlane.url}${path}`, {
      method,
      headers: { authorization: `Bearer ${this.token}` },
      ...(json === undefined ? {} : { body: JSON.stringify(json) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${line} was answered ${response.status}: ${text}`);
    return text === '' ? undefined : JSON.parse(text);
  }
}
