// RegistryUnderTest: a registry in the process of the test, and the control plane that it asks, which knows who is a member of what.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { ImageStore } from '../../registry/image-store.ts';
import { REGISTRY_DEFAULTS, type RegistrySection } from '../../registry/registry-section.ts';
import { RegistryServer } from '../../registry/registry-server.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

export const PULL_TOKEN = 'p'.repeat(40);
const NO_LOG = () => {};
/** Token → the projects of its owner. */
type Members = Map<string, readonly string[]>;

export class RegistryUnderTest {
  readonly members: Members = new Map([
    ['ann', ['shop', 'depot']],
    ['bob', ['bank']],
  ]);
  readonly folder: string;
  /** Number of questions to the control plane. */
  asked = 0;
  isControlPlaneDown = false;
  isDisabled = false;
  nowMs = Date.now();
  store!: ImageStore;
  url!: string;
  #server!: RegistryServer;
  #controlPlaneUrl!: string;
  readonly #section: RegistrySection;

  private constructor(section: Partial<RegistrySection>, folder: string) {
    this.folder = folder;
    this.#section = { ...REGISTRY_DEFAULTS, port: 0, ...section };
  }

  /** `controlPlaneUrl`: a control plane in place of the one that knows `members`. */
  static async start(
    section: Partial<RegistrySection> = {},
    controlPlaneUrl?: string,
    folder = join(temporaryFolder(), 'registry'),
  ): Promise<RegistryUnderTest> {
    const registry = new RegistryUnderTest(section, folder);
    registry.#controlPlaneUrl = controlPlaneUrl ?? (await registry.#startControlPlane());
    await registry.#open();
    onTestFinished(async () => await registry.#close());
    return registry;
  }

  get host(): string {
    return new URL(this.url).host;
  }

  /** Stops it, and starts it again on the same folder. */
  async restart(): Promise<void> {
    await this.#close();
    await this.#open();
  }

  /** Sends a request with Ann's token, unless there is another one. `path`: what follows /v2/. */
  async send(
    method: string,
    path: string,
    { token = 'ann', headers = {}, body }: Sending = {},
  ): Promise<Response> {
    const url = path.startsWith('/') ? `${this.url}${path}` : `${this.url}/v2/${path}`;
    return await fetch(url, {
      method,
      headers: { ...(token === '' ? {} : { authorization: `Bearer ${token}` }), ...headers },
      ...(body === undefined ? {} : { body, duplex: 'half' as const }),
    });
  }

  /** Begins an upload, and returns its path. */
  async begin(repository = 'shop/cart'): Promise<string> {
    const begun = await this.send('POST', `${repository}/blobs/uploads/`);
    return begun.headers.get('location')!;
  }

  async #open(): Promise<void> {
    const section = this.#section;
    this.store = ImageStore.open({
      folder: this.folder,
      section,
      log: NO_LOG,
      nowMs: () => this.nowMs,
    });
    this.#server = await RegistryServer.start({
      settings: { host: '127.0.0.1', section, controlPlaneUrl: this.#controlPlaneUrl },
      store: this.store,
      pullToken: PULL_TOKEN,
      log: NO_LOG,
    });
    this.url = this.#server.url;
  }

  async #close(): Promise<void> {
    await this.#server.stop(0);
    await this.store[Symbol.asyncDispose]();
  }

  async #startControlPlane(): Promise<string> {
    const server = createServer(({ headers, url }, response) => {
      this.asked += 1;
      const [, token = ''] = /^Bearer (.+)$/.exec(headers.authorization ?? '') ?? [];
      const projects = this.members.get(token);
      const [, project] = /\/projects\/([^/]+)$/.exec(url!) ?? [];
      const answer = (status: number, body: object) =>
        response
          .writeHead(status, { 'content-type': 'application/json' })
          .end(JSON.stringify(body));
      if (this.isControlPlaneDown) return answer(503, { error: 'it is down' });
      if (projects === undefined) return answer(401, { error: 'who are you?' });
      if (url!.endsWith('/auth/whoami')) return answer(200, { subject: token });
      if (url!.endsWith('/organizations/acme'))
        return answer(200, {
          id: 'acme',
          name: 'Acme',
          projects: 2,
          disabled: this.isDisabled,
          role: 'member',
        });
      return project !== undefined && projects.includes(project)
        ? answer(200, { id: project, name: project, organizationId: 'acme', services: 0 })
        : answer(403, { error: 'you are no member' });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => {
      server.closeAllConnections();
      server.close();
    });
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }
}

interface Sending {
  /** An empty one: none. */
  readonly token?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: NonNullable<RequestInit['body']>;
}

/** Returns status and code of an answer. */
export async function refusalOf(
  answer: Response,
): Promise<{ readonly status: number; readonly code: string | undefined }> {
  const { errors } = (await answer.json()) as { errors?: readonly { code: string }[] };
  return { status: answer.status, code: errors?.[0]?.code };
}
