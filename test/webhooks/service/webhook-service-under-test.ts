// WebhookServiceUnderTest: the whole webhook service on a folder or a database of the test, behind checks that take callers at their word, and receivers on loopback.
import { createServer, type IncomingMessage } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';
import { before } from '@svc/host';
import { DELIVERY_LIMITS_DEFAULT, type DeliveryLimits } from '../../../webhooks/deliveries.ts';
import { SENDER_LIMITS_DEFAULT } from '../../../webhooks/sending/sender-limits.ts';
import type { StorageChoice } from '../../../webhooks/storage/webhook-storage.ts';
import { startWebhooks, type WebhookService } from '../../../webhooks/webhook-service.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

export const TENANT = '/api/platform/v1/tenants/acme';

export class WebhookServiceUnderTest {
  readonly stored: StorageChoice;
  readonly masterKey = Buffer.alloc(32, 'the master key of the tests');
  readonly logged: string[] = [];
  #service: WebhookService | undefined;

  constructor(stored: StorageChoice = { dataFolder: temporaryFolder() }) {
    this.stored = stored;
    onTestFinished(() => this.#service?.stop(0));
  }

  get url(): string {
    return this.#service!.url;
  }

  async start(limits: Partial<DeliveryLimits> = {}): Promise<void> {
    const open = before((_request, { scopeIdempotencyKey }) => {
      scopeIdempotencyKey('anyone');
      return {};
    });
    this.#service = await startWebhooks({
      stored: this.stored,
      masterKey: this.masterKey,
      checkedFor: () => open,
      settings: {
        admitted: { networks: ['127.0.0.0/8'], domains: [] },
        nameTimeoutMs: 1_000,
        deliveries: { ...DELIVERY_LIMITS_DEFAULT, ...limits },
        sender: SENDER_LIMITS_DEFAULT,
      },
      host: { http: { port: 0 }, observability: { local: false } },
      log: ({ level, message, fields }) =>
        void this.logged.push(`${level} ${message} ${JSON.stringify(fields)}`),
    });
  }

  async stop(): Promise<void> {
    await this.#service?.stop();
    this.#service = undefined;
  }

  async send(
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<{ status: number; headers: Headers; json: unknown }> {
    const response = await fetch(`${this.url}${TENANT}${path}`, {
      method,
      headers,
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    const json: unknown = text === '' ? undefined : JSON.parse(text);
    return { status: response.status, headers: response.headers, json };
  }
}

export interface Received {
  readonly headers: IncomingMessage['headers'];
  readonly body: Buffer;
}

/** Starts a receiver that answers with what `answer` returns for the number of the request. */
export async function startReceiver(
  answer: (number: number) => number = () => 200,
): Promise<{ readonly url: string; readonly received: Received[] }> {
  const received: Received[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      received.push({ headers: request.headers, body: Buffer.concat(chunks) });
      response.writeHead(answer(received.length)).end();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/hook`, received };
}
