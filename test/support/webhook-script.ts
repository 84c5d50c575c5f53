// WebhookScript: the same few requests each time, to a webhook service that may be killed and started again at any moment of them: two
// subscriptions, one of which fails at first, reports, another secret, a change, a deletion, a retry, and a tenant that is removed. A request
// without an answer is repeated with its idempotency key.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import {
  ApiError,
  type CallOptions,
  type DatasetReport,
  type LogEntry,
  NoAnswerError,
  type Subscription,
  type WebhooksClient,
} from '@svc/client';
import { REPORT } from './webhook-process.ts';
import {
  type AnsweredEvent,
  complaintsAbout,
  unloggedPosts,
  type WebhookHistory,
} from './webhook-promises.ts';
import { MANNERS, watchedReceiver, type WatchedReceiver } from './webhook-receivers.ts';

export interface WebhookScriptOptions {
  /** Resolves with the client of the process that runs now. */
  readonly client: () => Promise<WebhooksClient>;
  /** Folder with the data of the service. */
  readonly dataFolder: string;
}

type Request<Answer> = (client: WebhooksClient, options: CallOptions) => Promise<Answer>;

/** The caller is an administrator of both, and the platform. */
export const SCRIPT_TENANTS = ['acme', 'gone'] as const;
const [KEPT, REMOVED] = SCRIPT_TENANTS;
const SECOND = { seq: 2, status: 'DATASET_COMPUTED' } as const;
const PAUSE_MS = 100;
/** An attempt that was cut off, one that fails, the next, and a start while several processes start. */
const SETTLED_MS = 180_000;

export class WebhookScript {
  readonly #options: WebhookScriptOptions;
  /** Receivers of the tenant that stays, by subscription. */
  readonly #receivers = new Map<string, WatchedReceiver>();
  readonly #events: AnsweredEvent[] = [];
  readonly #complaints: string[] = [];
  /** Subscriptions of the tenant that stays, as they were answered last. */
  #shown: readonly Subscription[] = [];
  #entries: readonly LogEntry[] = [];
  #keys = 0;

  constructor(options: WebhookScriptOptions) {
    this.#options = options;
  }

  /** Returns the broken promises. */
  async play(): Promise<readonly string[]> {
    const healthy = await this.#subscribed('healthy');
    const flaky = await this.#subscribed('flaky', { tags: ['flaky'] });
    await this.#reported('d1', { seq: 1, tags: ['flaky'] }, [healthy, flaky]);
    await this.#reported('d2', { seq: 1 }, [healthy]);
    const { secret, ...rotated } = await this.#answered((client, options) =>
      client.rotateSecret({ tenantId: KEPT, webhookId: healthy }, options),
    );
    this.#receivers.get(healthy)!.secrets.push(secret!);
    this.#expect('the subscription with another secret', rotated, this.#shown[0]);
    const body = { headers: { 'X-Changed': 'yes' } };
    const changed = await this.#answered((client, options) =>
      client.changeWebhook({ tenantId: KEPT, webhookId: healthy, body }, options),
    );
    this.#expect('the changed headers', changed.headers, body.headers);
    this.#shown = this.#shown.map((each) => (each.id === healthy ? changed : each));
    await this.#reported('d1', SECOND, [healthy]);
    await this.#settled();
    await this.#answered((client, options) =>
      client.deleteWebhook({ tenantId: KEPT, webhookId: flaky }, options),
    );
    this.#shown = this.#shown.filter(({ id }) => id !== flaky);
    await this.#reported('d2', { ...SECOND, tags: ['flaky'] }, [healthy]);
    await this.#settled();
    this.#complaints.push(...complaintsAbout(this.#history()));
    await this.#retried(this.#entries[0]!.id);
    await this.#removedTenant();
    return await this.compared();
  }

  /** Compares what was answered with what is stored now, and returns all broken promises. */
  async compared(): Promise<readonly string[]> {
    const listed = (tenantId: string) =>
      this.#answered((client) => client.listWebhooks({ tenantId }));
    const posts = [...this.#receivers.values()].flatMap((receiver) => receiver.posts);
    const bodies = new Map(posts.map((post) => [post.deliveryId, post.body]));
    this.#expect('the subscriptions', await listed(KEPT), this.#shown);
    this.#expect('the log', await this.#log(KEPT), this.#entries);
    for (const { id: deliveryId } of this.#entries) {
      // oxlint-disable-next-line no-await-in-loop -- there are five
      const { body } = await this.#answered((client) =>
        client.getDelivery({ tenantId: KEPT, deliveryId }),
      );
      this.#expect(`the body of ${deliveryId}`, body, bodies.get(deliveryId));
    }
    this.#expect('the subscriptions of a removed tenant', await listed(REMOVED), []);
    this.#expect('the log of a removed tenant', await this.#log(REMOVED), []);
    return this.#complaints;
  }

  async #subscribed(
    manner: keyof typeof MANNERS,
    filters: Subscription['filters'] = {},
  ): Promise<string> {
    const receiver = await watchedReceiver(MANNERS[manner]);
    const shown = await this.#created(KEPT, receiver, filters);
    this.#receivers.set(shown.id, receiver);
    this.#shown = [...this.#shown, shown];
    return shown.id;
  }

  async #created(
    tenantId: string,
    { url, secrets }: WatchedReceiver,
    filters: Subscription['filters'] = {},
  ): Promise<Subscription> {
    const body = { url, filters };
    const { secret, ...shown } = await this.#answered((client, options) =>
      client.createWebhook({ tenantId, body }, options),
    );
    secrets.push(secret!);
    return shown;
  }

  async #reported(
    dataset: string,
    change: Partial<DatasetReport> & { readonly seq: number },
    subscriptions: readonly string[],
  ): Promise<void> {
    const body = { ...REPORT, ...change };
    const { eventId } = await this.#answered((client, options) =>
      client.reportDataset({ tenantId: KEPT, datasetId: dataset, body }, options),
    );
    if (eventId === null)
      this.#complaints.push(`the report ${change.seq} of ${dataset} is no event`);
    else this.#events.push({ eventId, dataset, seq: change.seq, subscriptions });
  }

  /** The log gets another run of a delivery. */
  async #retried(deliveryId: string): Promise<void> {
    const former = this.#entries.find(({ id }) => id === deliveryId)!;
    const { attempts } = await this.#answered((client, options) =>
      client.retryDelivery({ tenantId: KEPT, deliveryId }, options),
    );
    this.#expect(
      'the attempts before the retry',
      attempts.slice(0, former.attempts.length),
      former.attempts,
    );
    await this.#settled();
    const again = this.#entries
      .find(({ id }) => id === deliveryId)!
      .attempts.slice(former.attempts.length);
    const isOneRun = again.every(({ run, number }, at) => run === 2 && number === at + 1);
    if (!isOneRun || again.at(-1)?.status !== 200)
      this.#complaints.push(`the retry has the attempts ${JSON.stringify(again)}`);
  }

  async #removedTenant(): Promise<void> {
    const receiver = await watchedReceiver(MANNERS.healthy);
    await this.#created(REMOVED, receiver);
    await this.#answered((client, options) =>
      client.reportDataset({ tenantId: REMOVED, datasetId: 'd1', body: REPORT }, options),
    );
    await this.#until('the delivery of the other tenant', () => receiver.posts.length > 0);
    await this.#answered((client, options) => client.removeTenant({ tenantId: REMOVED }, options));
    const salts = join(this.#options.dataFolder, 'salts');
    await this.#until(
      'the key of the removed tenant to be gone',
      () => readdirSync(salts).length === 1,
    );
  }

  /** Waits until nothing of the tenant that stays is pending, and each request to a receiver is in the log. */
  async #settled(): Promise<void> {
    const expected = this.#events.flatMap(({ subscriptions }) => subscriptions).length;
    await this.#until('the deliveries to end', async () => {
      const entries = await this.#log(KEPT);
      this.#entries = entries;
      return (
        entries.length >= expected &&
        entries.every(({ outcome }) => outcome !== 'pending') &&
        unloggedPosts(this.#history()).length === 0
      );
    });
  }

  /** The log of a tenant is shorter than a page. */
  async #log(tenantId: string): Promise<readonly LogEntry[]> {
    const { entries } = await this.#answered((client) => client.listDeliveries({ tenantId }));
    return entries;
  }

  async #until(what: string, isSo: () => boolean | Promise<boolean>): Promise<void> {
    for (const sinceMs = performance.now(); ;) {
      // oxlint-disable-next-line no-await-in-loop -- until it is so
      if (await isSo()) return;
      if (performance.now() - sinceMs > SETTLED_MS)
        throw new Error(`waited in vain for ${what}: ${JSON.stringify(this.#entries)}`);
      // oxlint-disable-next-line no-await-in-loop -- until it is so
      await delay(PAUSE_MS);
    }
  }

  /** Sends a request until it is answered with more than that it should be sent again. */
  async #answered<Answer>(request: Request<Answer>): Promise<Answer> {
    const idempotencyKey = `request-${++this.#keys}`;
    for (;;)
      try {
        // oxlint-disable-next-line no-await-in-loop -- it is sent again only without an answer
        return await request(await this.#options.client(), { idempotencyKey });
      } catch (error) {
        if (!(error instanceof NoAnswerError) && !isForLater(error)) throw error;
        // oxlint-disable-next-line no-await-in-loop -- the process is started again
        await delay(PAUSE_MS);
      }
  }

  #expect(what: string, found: unknown, expected: unknown): void {
    if (!isDeepStrictEqual(found, expected))
      this.#complaints.push(
        `${what}: ${JSON.stringify(found)} instead of ${JSON.stringify(expected)}`,
      );
  }

  #history(): WebhookHistory {
    const posts = new Map([...this.#receivers].map(([id, receiver]) => [id, receiver.posts]));
    return { answered: this.#events, entries: this.#entries, posts };
  }
}

/** Such as while the process, which has started on a busy machine, has not read the keys of the provider. */
function isForLater(error: unknown): boolean {
  return error instanceof ApiError && error.status === 503;
}
