// `svc webhook-service` as a process that is killed again and again while it takes reports and delivers them to receivers that answer,
// fail at first, fail always, or stall: what it answered is delivered, and every request that a receiver got is in the log. It stores all in a
// folder, or in a database, where each start waits for the leases of the process before. SVC_TEST_KILLS sets how often, and SVC_TEST_SEED when.
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { LogEntry, WebhooksClient } from '@svc/client';
import { IdentityProvider } from '../support/identity-provider/identity-provider.ts';
import { KilledWebhooks } from '../support/killed-webhooks.ts';
import { PostgresServer } from '../support/postgres/postgres-server.ts';
import { Random } from '../support/random.ts';
import { temporaryFolder, temporaryFolderOfFile } from '../support/temporary-folder.ts';
import { WebhookLoad } from '../support/webhook-load.ts';
import { complaintsAbout, unloggedPosts } from '../support/webhook-promises.ts';
import { STORAGES } from '../webhooks/storage/storage-under-test.ts';
import { MANNERS, watchedReceiver, type WatchedReceiver } from '../support/webhook-receivers.ts';

const { SVC_TEST_KILLS: kills = '12', SVC_TEST_SEED: seed = '1' } = process.env;
const TENANT = { tenantId: 'acme' };
/** One in so many kills comes while the process starts. */
const EARLY_EVERY = 4;
const EARLY_MS = 700;
const LATE_MS = 1_000;
/** Few, since each holds a place for five seconds. */
const STALLED = 3;
/** Time in which retries and interruptions show after the last kill. */
const SETTLED_S = 100;
const MS_PER_KILL = 5_000;
/** A kill of a service on a database takes a lease longer. */
const MS_PER_LEASE = 8_000;
/** Tags of the datasets, and so where their events go besides the receivers of all events. */
const TAGS = [[], [], ['flaky'], ['flaky'], ['failing']];

let provider: IdentityProvider;

beforeAll(async () => {
  [provider] = await Promise.all([IdentityProvider.start(), PostgresServer.shared('18')]);
});
afterAll(() => provider.stop());

interface Subscribed {
  readonly id: string;
  readonly receiver: WatchedReceiver;
  /** Undefined: it gets all events. */
  readonly tag: string | undefined;
}

async function subscribed(
  client: WebhooksClient,
  manner: keyof typeof MANNERS,
  tag?: string,
): Promise<Subscribed> {
  const receiver = await watchedReceiver(MANNERS[manner]);
  const { id, secret } = await client.createWebhook({
    ...TENANT,
    body: {
      url: receiver.url,
      events: tag === undefined ? ['dataset.*', 'webhook.failing'] : ['dataset.*'],
      filters: tag === undefined ? {} : { tags: [tag] },
    },
  });
  receiver.secrets.push(secret!);
  return { id, receiver, tag };
}

async function wholeLog(client: WebhooksClient): Promise<LogEntry[]> {
  const all: LogEntry[] = [];
  for (let cursor: string | undefined, isFirst = true; isFirst || cursor !== undefined;) {
    isFirst = false;
    const page = await client.listDeliveries({
      ...TENANT,
      limit: 250,
      ...(cursor !== undefined && { cursor }),
    });
    all.push(...page.entries);
    cursor = page.cursor;
  }
  return all;
}

test.each(STORAGES)(
  'a service on %s that is killed under load delivers what it answered, and logs every request',
  async (_name, make) => {
    const random = new Random(Number(seed));
    const cwd = temporaryFolder();
    const { database } = await make();
    const env = {
      NODE_COMPILE_CACHE: temporaryFolderOfFile(),
      ...(database !== undefined && { SVC_DATABASE_URL_FILE: database.urlFile }),
    };
    const token = await provider.issue({
      subject: 'ann',
      roles: ['tenant-admin', 'platform'],
      claims: { tenants: ['acme'] },
      lifetimeS: 7_200,
    });
    const service = new KilledWebhooks({ provider, cwd, env, token });
    service.start();
    const first = await service.client;
    const subscriptions = [
      await subscribed(first, 'healthy'),
      await subscribed(first, 'healthy'),
      await subscribed(first, 'flaky', 'flaky'),
      await subscribed(first, 'failing', 'failing'),
      await subscribed(first, 'stalled', 'stalled'),
    ];
    const load = new WebhookLoad(() => service.client, TAGS);
    const stalls = new WebhookLoad(() => service.client, [['stalled']], 'stalled');
    await expect.poll(() => stalls.answered.length).toBeGreaterThanOrEqual(STALLED);
    await stalls.end();
    for (let kill = 0; kill < Number(kills); kill++) {
      const isEarly = random.below(EARLY_EVERY) === 0;
      if (!isEarly) await service.listening();
      await delay(random.below(isEarly ? EARLY_MS : LATE_MS));
      await service.kill();
      service.start();
    }
    await load.end();

    const posts = new Map(subscriptions.map(({ id, receiver }) => [id, [...receiver.posts]]));
    const answered = [...load.answered, ...stalls.answered].map(({ eventId, dataset, report }) => ({
      eventId,
      dataset,
      seq: report.seq,
      subscriptions: subscriptions
        .filter(({ tag }) => tag === undefined || report.tags.includes(tag))
        .map(({ id }) => id),
    }));
    const delivered = new Set(subscriptions.slice(0, 3).map(({ id }) => id));
    const client = await service.client;
    let entries: LogEntry[] = [];
    const missing = async (): Promise<string[]> => {
      entries = await wholeLog(client);
      const late = entries.filter(
        ({ subscriptionId, outcome }) => delivered.has(subscriptionId) && outcome !== 'delivered',
      );
      return [...late.map(({ id }) => id), ...unloggedPosts({ answered, entries, posts })];
    };
    await expect.poll(missing, { timeout: SETTLED_S * 1_000, interval: 1_000 }).toEqual([]);
    expect(complaintsAbout({ answered, entries, posts })).toEqual([]);
    expect(service.stderr).not.toContain('"level":"error"');
    const interrupted = entries
      .flatMap(({ attempts }) => attempts)
      .filter(({ error }) => error === 'interrupted').length;
    console.log(
      `${kills} kills: ${answered.length} events, ${entries.length} deliveries, ` +
        `${[...posts.values()].flat().length} requests, ${load.cutOff} reports cut off, ` +
        `${interrupted} attempts interrupted`,
    );
    // Kills come in the midst of work. How many reports they cut off depends on the machine; some receivers always stall.
    expect(answered.length).toBeGreaterThan(Number(kills));
    expect(load.cutOff + interrupted).toBeGreaterThan(Number(kills));
  },
  (MS_PER_KILL + MS_PER_LEASE) * Number(kills) + SETTLED_S * 1_000,
);
