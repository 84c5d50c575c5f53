// The whole service: its API over HTTP, and what a receiver gets.
import { beforeAll, describe, expect, test } from 'vitest';
import { verifyWebhook } from '../../../client/webhooks/verify-webhook.ts';
import { PostgresServer } from '../../support/postgres/postgres-server.ts';
import { reported } from '../reported-dataset.ts';
import { STORAGES } from '../storage/storage-under-test.ts';
import { startReceiver, WebhookServiceUnderTest } from './webhook-service-under-test.ts';

// Starting the server is no part of a test.
beforeAll(async () => void (await PostgresServer.shared('18')));

describe.each(STORAGES)('in %s', (_name, make) => {
  test('a subscription hears of a dataset, its receiver verifies the delivery, and the log shows it', async () => {
    const service = new WebhookServiceUnderTest(await make());
    await service.start();
    const receiver = await startReceiver();
    const created = await service.send('POST', '/webhooks', { url: receiver.url });
    expect(created.status).toBe(201);
    const { id, secret } = created.json as { id: string; secret: string };
    expect(created.headers.get('location')).toBe(`/api/platform/v1/tenants/acme/webhooks/${id}`);
    expect(created.json).toMatchObject({
      url: receiver.url,
      events: ['dataset.*'],
      filters: {},
      signing: { method: 'hmac-sha256', over: 'body' },
      headers: {},
      secret: expect.stringMatching(/^[\w-]{43}$/),
    });
    const answer = await service.send('PUT', '/datasets/d1', reported());
    expect(answer).toMatchObject({
      status: 200,
      json: { eventId: expect.stringMatching(/^evt_/) },
    });
    await expect.poll(() => receiver.received.length).toBe(1);
    const { headers, body } = receiver.received[0]!;
    expect(await verifyWebhook({ headers, body, secrets: [secret] })).toEqual({ kind: 'verified' });
    expect(headers).toMatchObject({ 'x-hook-event': 'dataset.completed' });
    const { eventId } = answer.json as { eventId: string };
    expect(JSON.parse(String(body))).toMatchObject({
      id: eventId,
      tenant: 'acme',
      data: { id: 'd1' },
    });
    await expect
      .poll(async () => (await service.send('GET', '/webhooks/deliveries?outcome=delivered')).json)
      .toMatchObject([
        { id: headers['x-hook-delivery'], subscriptionId: id, eventId, datasetId: 'd1' },
      ]);
    const entry = await service.send(
      'GET',
      `/webhooks/deliveries/${String(headers['x-hook-delivery'])}`,
    );
    expect(entry.json).toMatchObject({ body: String(body), attempts: [{ status: 200 }] });
  });

  test('what was answered survives a restart, and a repeated request shows the same secret', async () => {
    const service = new WebhookServiceUnderTest(await make());
    await service.start();
    const receiver = await startReceiver();
    const request = [
      'POST',
      '/webhooks',
      { url: receiver.url },
      { 'idempotency-key': 'k1' },
    ] as const;
    const created = await service.send(...request);
    await service.stop();
    await service.start();
    expect((await service.send(...request)).json).toEqual(created.json);
    const { secret, ...shown } = created.json as { secret: string };
    expect((await service.send('GET', '/webhooks')).json).toEqual([shown]);
    expect(service.logged.join('\n')).not.toContain(secret);
    await service.send('PUT', '/datasets/d1', reported());
    await expect.poll(() => receiver.received.length).toBe(1);
    const verified = await verifyWebhook({ ...receiver.received[0]!, secrets: [secret] });
    expect(verified).toEqual({ kind: 'verified' });
  });

  test('an administrator sends a delivery again, and pages through the log by its links', async () => {
    const service = new WebhookServiceUnderTest(await make());
    await service.start();
    const receiver = await startReceiver();
    await service.send('POST', '/webhooks', { url: receiver.url });
    for (const id of ['d1', 'd2', 'd3']) await service.send('PUT', `/datasets/${id}`, reported());
    await expect.poll(() => receiver.received.length).toBe(3);
    const all = async () => (await service.send('GET', '/webhooks/deliveries')).json;
    await expect.poll(all).toHaveLength(3);
    const found: string[] = [];
    let query = '?limit=2';
    for (let pages = 0; query !== '' && pages < 5; pages++) {
      const page = await service.send('GET', `/webhooks/deliveries${query}`);
      expect(page.status).toBe(200);
      found.push(...(page.json as { datasetId: string }[]).map(({ datasetId }) => datasetId));
      query = /<(\?.*)>; rel="next"/.exec(page.headers.get('link') ?? '')?.[1] ?? '';
    }
    expect(found.toSorted()).toEqual(['d1', 'd2', 'd3']);
    const id = String(receiver.received[0]!.headers['x-hook-delivery']);
    const retry = async () =>
      (
        await service.send('POST', `/webhooks/deliveries/${id}/retry`, undefined, {
          'idempotency-key': 'again',
        })
      ).status;
    await expect.poll(retry).toBe(202);
    await expect.poll(() => receiver.received.length).toBe(4);
    expect(await retry()).toBe(202);
    expect(receiver.received[3]!.headers['x-hook-delivery']).toBe(id);
    expect(receiver.received[3]!.body).toEqual(receiver.received[0]!.body);
    const entry = await service.send('GET', `/webhooks/deliveries/${id}`);
    const { attempts } = entry.json as { readonly attempts: readonly { readonly run: number }[] };
    expect(attempts.every(({ run }) => run <= 2)).toBe(true);
  });
});

test('requests that are wrong are refused with every problem', async () => {
  const service = new WebhookServiceUnderTest();
  await service.start();
  const refusal = async (...request: Parameters<typeof service.send>) => {
    const { status, json } = await service.send(...request);
    return [status, (json as { error: string }).error] as const;
  };
  expect(await refusal('POST', '/webhooks', { url: 'http://10.0.0.1/', events: [], x: 1 })).toEqual(
    [400, expect.stringMatching(/x[^]*events[^]*url/)],
  );
  const filters = await refusal('GET', '/webhooks/deliveries?dataset=a&outcome=pending&limit=0');
  expect(filters).toEqual([400, expect.stringContaining('limit')]);
  expect(await refusal('GET', '/webhooks/deliveries?dataset=a&outcome=pending')).toEqual([
    400,
    expect.stringContaining('go alone'),
  ]);
  expect(await refusal('GET', '/webhooks/deliveries?cursor=x')).toEqual([
    400,
    expect.stringContaining('cursor'),
  ]);
  expect(await refusal('GET', '/webhooks/deliveries?outcome=lost')).toEqual([
    400,
    expect.stringContaining('outcome'),
  ]);
  expect(await refusal('PUT', '/datasets/d1', { ...reported(), seq: 2 ** 53 })).toEqual([
    400,
    expect.stringContaining('seq:'),
  ]);
  for (const path of ['/webhooks/wh_x', '/webhooks/deliveries/dl_x'])
    expect(await refusal('GET', path)).toEqual([404, expect.any(String)]);
});
