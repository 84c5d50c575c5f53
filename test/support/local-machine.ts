// LocalMachine: a real `svc control-plane` that runs services as processes of this machine, in a folder of its own.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { onTestFinished } from 'vitest';
import { observeState } from '@svc/kit/state-file';
import { writeLayoutFolder } from '@svc/oci/image-files';
import { moduleImage } from '@svc/oci/module-image';
import { InstanceFolder } from '../../control-plane/local/instance-folder.ts';
import { signalRun } from '../../control-plane/local/instance-process.ts';
import { ControlPlaneProcess } from './control-plane-process.ts';
import type { IdentityProvider } from './identity-provider/identity-provider.ts';
import { temporaryFolder } from './temporary-folder.ts';

export interface ShownStatus {
  readonly lifecycle: string;
  readonly generation: number;
  readonly readyInstances: number;
  readonly detail?: string;
}

export const isReady =
  (generation: number) =>
  (status: ShownStatus): boolean =>
    status.generation === generation && status.lifecycle === 'ready';

export class LocalMachine {
  readonly cwd = temporaryFolder();
  readonly #provider: IdentityProvider;
  readonly #env: Readonly<Record<string, string>>;
  svc: ControlPlaneProcess;

  /** `env`: settings beside those of the machine. */
  constructor(provider: IdentityProvider, env: Readonly<Record<string, string>> = {}) {
    this.#provider = provider;
    this.#env = env;
    this.svc = this.#start();
    mkdirSync(join(this.cwd, 'images'));
    onTestFinished(async () => {
      await this.svc.end('SIGKILL');
      for (const folder of this.instances()) signalRun(folder, 'SIGKILL');
    });
  }

  #start(env: Readonly<Record<string, string>> = {}): ControlPlaneProcess {
    return new ControlPlaneProcess(this.#provider, this.cwd, {
      env: {
        SVC_LOCAL_FOLDER: 'machine',
        SVC_LOCAL_NETWORK: '127.85',
        // Most tests ask instances as anybody may.
        SVC_LOCAL_PLAIN_INSTANCES: 'true',
        SVC_LOCAL_IMAGE_FOLDERS: 'images=images',
        SVC_ORCHESTRATOR_OBSERVATION_AGE_MAX_MS: '100',
        ...this.#env,
        ...env,
      },
    });
  }

  /** `env`: settings for this start alone. */
  async killAndStart(env: Readonly<Record<string, string>> = {}): Promise<void> {
    await this.svc.end('SIGKILL');
    this.svc = this.#start(env);
    await this.svc.listening();
  }

  async withProject(): Promise<this> {
    await this.svc.listening();
    await this.svc.send('POST /organizations/acme', 'ann', { name: 'Acme' });
    await this.svc.send('POST /projects/shop', 'ann', { name: 'Shop', organizationId: 'acme' });
    return this;
  }

  /** `runtime`: the version of svc that has built the image. */
  async store(layout: string, bytes: Uint8Array, runtime = '0.1.0'): Promise<void> {
    const image = moduleImage({ module: bytes, protocol: '0.2.0', runtime });
    await writeLayoutFolder(image, '1', join(this.cwd, 'images', layout));
  }

  /** `more`: further fields of the descriptor. */
  async apply(layout = 'counter', more: object = {}): Promise<ShownStatus> {
    const image = `oci:images/${layout}:1`;
    const descriptor = { name: 'counter', image, hosting: 'wasm', protocol: '0.2.0', ...more };
    const { status, body } = await this.svc.send('PUT /services/shop/counter', 'ann', descriptor);
    if (status !== 200)
      throw new Error(`the apply was answered ${status}: ${JSON.stringify(body)}`);
    return body as ShownStatus;
  }

  async until(condition: (status: ShownStatus) => boolean): Promise<ShownStatus> {
    for (;;) {
      const { body } = await this.svc.send('GET /services/shop/counter', 'ann');
      if (condition(body as ShownStatus)) return body as ShownStatus;
      await pause(50);
    }
  }

  instances(): readonly InstanceFolder[] {
    return InstanceFolder.readAll(join(this.cwd, 'machine', 'instances'));
  }

  async untilOneInstance(): Promise<void> {
    while (this.instances().length > 1) await pause(50);
  }

  /** Address of the instance that serves. */
  get url(): string {
    const serving = this.instances().find(({ stateFile }) => {
      const observed = observeState(stateFile);
      return observed.kind === 'running' && observed.state.phase === 'ready';
    });
    return `http://${serving!.spec.address}:9000`;
  }
}

/** Adds to the counter `one` of the fixture `counter`. Resolves with its state. */
export async function addToCounter(url: string, amount: number): Promise<unknown> {
  const headers = { 'content-type': 'application/json' };
  const body = JSON.stringify({ amount });
  const answer = await fetch(`${url}/counters/one`, { method: 'POST', headers, body });
  return await answer.json();
}
