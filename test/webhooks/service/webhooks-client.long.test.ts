// The client of @svc/client against the whole service: what it sends is taken, and each answer has the schema of its route.
import { expect, test } from 'vitest';
import {
  createWebhooksClient,
  schemaProblems,
  WEBHOOK_ROUTES,
  type LogEntry,
  type Route,
  type WebhookRouteName,
  type WebhooksClient,
} from '../../../client/index.ts';
import { reported } from '../reported-dataset.ts';
import { startReceiver, WebhookServiceUnderTest } from './webhook-service-under-test.ts';

const ACME = { tenantId: 'acme' };
const SOON = { timeout: 5_000 };

/** Starts the service, and returns a client of it with the names of the routes whose answers it has checked. */
async function started(): Promise<{ client: WebhooksClient; checked: Set<string> }> {
  const service = new WebhookServiceUnderTest();
  await service.start();
  const checked = new Set<string>();
  const client = createWebhooksClient({ baseUrl: service.url, token: 'any' });
  const proxied = new Proxy(client, {
    get: (target, name: WebhookRouteName) => async (input: object) => {
      const call = target[name] as (given: object) => Promise<unknown>;
      const result = await call(input);
      const { answer }: Route<string> = WEBHOOK_ROUTES[name];
      const value = name === 'listDeliveries' ? (result as { entries: unknown }).entries : result;
      expect(answer === undefined ? [] : schemaProblems(answer, value)).toEqual([]);
      checked.add(name);
      return result;
    },
  });
  return { client: proxied, checked };
}

test('every answer has the schema of its route', async () => {
  const { client, checked } = await started();
  const { url, received } = await startReceiver();
  const created = await client.createWebhook({ ...ACME, body: { url, filters: { tags: ['t'] } } });
  const key = { ...ACME, webhookId: created.id };
  expect(await client.getWebhook(key)).toEqual({ ...created, secret: undefined });
  expect((await client.changeWebhook({ ...key, body: { filters: null } })).filters).toEqual({});
  await client.replaceWebhook({ ...key, body: { url, headers: { 'X-Key': 'abc' } } });
  expect((await client.rotateSecret({ ...key })).secret).not.toBe(created.secret);
  expect(await client.listWebhooks(ACME)).toHaveLength(1);
  const { eventId } = await client.reportDataset({ ...ACME, datasetId: 'd1', body: reported() });
  await expect.poll(() => received.length, SOON).toBe(1);
  const deliveryId = String(received[0]!.headers['x-hook-delivery']);
  await expect
    .poll(async () => (await client.listDeliveries({ ...ACME, eventId: eventId! })).entries, SOON)
    .toMatchObject([{ id: deliveryId, outcome: 'delivered' }]);
  const { body } = await client.getDelivery({ ...ACME, deliveryId });
  expect(body).toBe(String(received[0]!.body));
  expect((await client.retryDelivery({ ...ACME, deliveryId })).outcome).toBe('pending');
  await client.deleteWebhook(key);
  await client.removeTenant(ACME);
  expect([...checked].toSorted()).toEqual(Object.keys(WEBHOOK_ROUTES).toSorted());
});

test('the client walks the log from page to page, and meets each delivery once', async () => {
  const { client } = await started();
  const { url } = await startReceiver();
  const { id } = await client.createWebhook({ ...ACME, body: { url } });
  const ids = Array.from({ length: 7 }, (_, number) => `d&${number}`);
  for (const datasetId of ids) await client.reportDataset({ ...ACME, datasetId, body: reported() });
  const filters = { ...ACME, outcome: 'delivered', subscription: id, limit: 3 } as const;
  await expect
    .poll(
      async () => (await client.listDeliveries({ ...filters, limit: 250 })).entries.length,
      SOON,
    )
    .toBe(ids.length);
  const found: LogEntry[] = [];
  const lengths: number[] = [];
  let cursor: string | undefined;
  do {
    const page = await client.listDeliveries({
      ...filters,
      ...(cursor !== undefined && { cursor }),
    });
    found.push(...page.entries);
    lengths.push(page.entries.length);
    cursor = page.cursor;
  } while (cursor !== undefined && lengths.length < 9);
  expect(lengths).toEqual([3, 3, 1]);
  expect(found.map(({ datasetId }) => String(datasetId)).toSorted()).toEqual(ids);
});
