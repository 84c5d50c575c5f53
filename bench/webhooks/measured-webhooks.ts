// MeasuredWebhooks: a webhook service as a process on one core, its tenants, and receivers in this process.
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { createWebhooksClient, type WebhooksClient } from '@svc/client';
import { IdentityProvider } from '../../test/support/identity-provider/identity-provider.ts';
import { REPORT } from '../../test/support/webhook-process.ts';
import { startWebhookService, type WebhookService } from '../service.ts';

const TOKEN_LIFETIME_S = 14_400;
const MASTER_KEY_BYTES = 32;
/** Metrics whose sum is the number of records that the consumers and the views still have to read. */
const LAG = /^webhooks_(?:consumer|view)_lag_records\{[^}]*\} (\d+)$/gm;
/** Attempts never end, so that a few records are always unread. */
const LAG_AT_REST_MAX = 1_000;
/** The service counts the lag of its consumers once a second. */
const LAG_LOOK_MS = 1_000;
/** How often the lag is at rest in a row before the service counts as at rest. */
const LOOKS_AT_REST = 3;
/** No figure is about the limits of what a tenant may do. */
const UNLIMITED = {
  'svc.webhooks.deliveries-per-second-max': '1000000',
  'svc.webhooks.deliveries-burst-max': '10000000',
  'svc.webhooks.requests-per-minute-max': '0',
  'svc.webhooks.writes-per-minute-max': '0',
};

export class MeasuredWebhooks {
  readonly #provider: IdentityProvider;
  readonly #parent = mkdtempSync(join(tmpdir(), 'svc-bench-'));
  readonly #processors: string | undefined;
  readonly #clients = new Map<string, WebhooksClient>();
  readonly #receivers: Server[] = [];
  #service: WebhookService | undefined;
  #seq = 0;

  private constructor(provider: IdentityProvider, processors: string | undefined) {
    this.#provider = provider;
    this.#processors = processors;
  }

  static async open(processors: string | undefined): Promise<MeasuredWebhooks> {
    const webhooks = new MeasuredWebhooks(await IdentityProvider.start(), processors);
    const masterKey = randomBytes(MASTER_KEY_BYTES).toString('hex');
    writeFileSync(join(webhooks.#parent, 'master-key'), masterKey, { mode: 0o600 });
    await webhooks.start();
    return webhooks;
  }

  get pid(): number {
    return this.#service!.pid;
  }

  /** Starts the service over its folder. */
  async start(): Promise<void> {
    const dataFolder = join(this.#parent, 'data');
    const masterKeyFile = join(this.#parent, 'master-key');
    this.#service = await startWebhookService(
      this.#provider,
      { dataFolder, masterKeyFile },
      this.#processors,
      UNLIMITED,
    );
    this.#clients.clear();
  }

  async stop(): Promise<void> {
    await this.#service?.stop();
    this.#service = undefined;
  }

  /** Returns how many records the consumers and the views of the service still have to read, as a sum over them. */
  async lagRecords(): Promise<number> {
    const metrics = await (await fetch(this.#service!.metricsUrl)).text();
    const lags = [...metrics.matchAll(LAG)].map(([, records]) => Number(records));
    if (lags.length === 0) throw new Error('the service has no metrics of its lag');
    return lags.reduce((sum, records) => sum + records, 0);
  }

  /** Resolves once the consumers and the views of the service have caught up with what is stored. */
  async atRest(): Promise<void> {
    for (let looks = 0; looks < LOOKS_AT_REST;) {
      // oxlint-disable-next-line no-await-in-loop -- until it is at rest
      await pause(LAG_LOOK_MS);
      // oxlint-disable-next-line no-await-in-loop -- as above
      looks = (await this.lagRecords()) <= LAG_AT_REST_MAX ? looks + 1 : 0;
    }
  }

  /** A client with all rights in a tenant. */
  async clientOf(tenantId: string): Promise<WebhooksClient> {
    const known = this.#clients.get(tenantId);
    if (known !== undefined) return known;
    const token = await this.#provider.issue({
      subject: `of ${tenantId}`,
      roles: ['tenant-admin', 'platform'],
      lifetimeS: TOKEN_LIFETIME_S,
      claims: { tenants: [tenantId] },
    });
    const client = createWebhooksClient({ baseUrl: this.#service!.url, token });
    this.#clients.set(tenantId, client);
    return client;
  }

  /** Subscribes receivers at as many addresses of this machine. */
  async subscribe(tenantId: string, urls: readonly string[]): Promise<void> {
    const client = await this.clientOf(tenantId);
    for (const url of urls)
      // oxlint-disable-next-line no-await-in-loop -- the order of a tenant's subscriptions is that of the loop
      await client.createWebhook({ tenantId, body: { url } });
  }

  /** Reports a dataset that nobody has reported before, and resolves with the id of its event and the time of the answer. */
  async report(tenantId: string): Promise<{ readonly eventId: string; readonly atMs: number }> {
    const client = await this.clientOf(tenantId);
    const datasetId = `d${++this.#seq}`;
    const { eventId } = await client.reportDataset({ tenantId, datasetId, body: REPORT });
    return { eventId: eventId!, atMs: performance.now() };
  }

  /**
   * Starts a server on all loopback addresses, and returns its URLs at `count` of them, from 127.0.`network`.1 on. `received` gets the id of each event;
   * undefined: it takes requests and never answers.
   */
  async receivers(
    count: number,
    network: number,
    received: ((eventId: string) => void) | undefined,
  ): Promise<readonly string[]> {
    const server = createServer((request, response) => {
      if (received !== undefined) answer(request, response, received);
    });
    server.listen(0, '0.0.0.0');
    await once(server, 'listening');
    this.#receivers.push(server);
    const { port } = server.address() as AddressInfo;
    return Array.from(
      { length: count },
      (_, index) => `http://127.0.${network}.${index + 1}:${port}/`,
    );
  }

  async close(): Promise<void> {
    await this.stop();
    for (const server of this.#receivers) {
      server.closeAllConnections();
      server.close();
    }
    await this.#provider.stop();
    rmSync(this.#parent, { recursive: true, force: true });
  }
}

function answer(
  request: IncomingMessage,
  response: ServerResponse,
  received: (eventId: string) => void,
): void {
  const parts: Buffer[] = [];
  request.on('data', (part: Buffer) => parts.push(part));
  request.on('end', () => {
    received((JSON.parse(Buffer.concat(parts).toString()) as { readonly id: string }).id);
    response.writeHead(204).end();
  });
}
