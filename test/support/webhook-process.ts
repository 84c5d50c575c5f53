// WebhookProcess: a real `svc webhook-service` process with a real identity provider, requests to it, and a receiver of its deliveries.
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';
import type { LogEntry } from '@svc/client';
import { providerSettings } from './control-plane-process.ts';
import { SvcProcess } from './host-process.ts';
import type { IdentityProvider } from './identity-provider/identity-provider.ts';

/** Path of the subscriptions of the tenant acme. */
export const WEBHOOKS = '/api/platform/v1/tenants/acme/webhooks';
export const DATASET = '/api/platform/v1/tenants/acme/datasets/d1';
/** A report that causes an event. */
export const REPORT = {
  name: 'monday',
  model: 'employees',
  modelVersion: '1',
  tags: [],
  status: 'SOLVING_COMPLETED',
  score: '0hard/-3soft',
  seq: 1,
  parentId: null,
  originId: null,
  supersededBy: null,
  runLink: 'https://example.org/runs/1',
  outputLink: 'https://example.org/runs/1/output',
};

/** A delivery as it arrived. */
export interface Received {
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** Starts a receiver that answers 200, once `ready` has resolved. */
export async function webhookReceiver(ready: () => Promise<void> = async () => {}) {
  const received: Received[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      received.push({ headers: request.headers, body: Buffer.concat(chunks) });
      void ready().then(() => response.end());
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return { received, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook` };
}

export class WebhookProcess extends SvcProcess {
  readonly #provider: IdentityProvider;
  #url: Promise<string> | undefined;

  constructor(
    provider: IdentityProvider,
    cwd: string,
    args: readonly string[] = [],
    env: NodeJS.ProcessEnv = {},
  ) {
    super(['webhook-service', '--port', '0', '--data', 'data', ...args], {
      cwd,
      env: {
        ...providerSettings(provider),
        SVC_WEBHOOKS_ADMITTED_NETWORKS: '127.0.0.0/8',
        ...env,
      },
    });
    this.#provider = provider;
    onTestFinished(async () => void (await this.end('SIGKILL')));
  }

  /** Sends a request as an administrator of the tenant acme, or as the platform. */
  async send(line: string, role: 'tenant-admin' | 'platform', json?: object) {
    const [method, path] = line.split(' ') as [string, string];
    this.#url ??= this.listening();
    const token = await this.#provider.issue({
      subject: 'ann',
      roles: [role],
      claims: { tenants: ['acme'] },
    });
    const response = await fetch(`${await this.#url}${path}`, {
      method,
      headers: { authorization: `Bearer ${token}` },
      ...(json === undefined ? {} : { body: JSON.stringify(json) }),
    });
    const text = await response.text();
    const body: unknown = text === '' ? undefined : JSON.parse(text);
    return { status: response.status, body };
  }

  /** Returns the first page of the log of the tenant. */
  async log(): Promise<readonly LogEntry[]> {
    const { body } = await this.send(`GET ${WEBHOOKS}/deliveries`, 'tenant-admin');
    return body as readonly LogEntry[];
  }
}
