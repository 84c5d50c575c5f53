// The console's requests to a webhook service, which is a real one on loopback.
import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import {
  createWebhooksClient,
  type ClientOptions,
  type LogEntry,
  type LogEntryWithBody,
  type Subscription,
} from '@svc/client';
import { SvcError } from '@svc/kit/svc-error';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { REPORT } from '../../support/webhook-process.ts';
import {
  startReceiver,
  WebhookServiceUnderTest,
} from '../../webhooks/service/webhook-service-under-test.ts';
import { ConsoleUnderTest } from '../support/console-under-test.ts';

const SUBSCRIPTIONS = '/api/webhooks/subscriptions';
const DELIVERIES = '/api/webhooks/deliveries';
const TOKEN = 'the-access-token';
const SOON = { timeout: 20_000 };

interface Page {
  readonly entries: readonly LogEntry[];
  readonly cursor?: string;
}

/** Starts a console for the tenant acme of what answers at the URL. */
async function consoleOf(
  baseUrl: string,
  token: ClientOptions['token'] = TOKEN,
): Promise<ConsoleUnderTest> {
  const client = createWebhooksClient({ baseUrl, token, retries: { attemptsMax: 1 } });
  const url = 'https://api.example.com';
  return ConsoleUnderTest.start({ webhooks: { url, tenant: 'acme', client } });
}

async function started(): Promise<{
  readonly service: WebhookServiceUnderTest;
  readonly served: ConsoleUnderTest;
}> {
  const service = new WebhookServiceUnderTest();
  await service.start();
  return { service, served: await consoleOf(service.url) };
}

/** Starts a server in place of a webhook service, and counts its requests. */
async function startServer(
  status: number,
  body: string,
): Promise<{ readonly url: string; readonly tokens: (string | undefined)[] }> {
  const tokens: (string | undefined)[] = [];
  const server = createServer((request, response) => {
    tokens.push(request.headers.authorization);
    response.writeHead(status, { 'content-type': 'application/json' }).end(body);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, tokens };
}

test('a subscription is created, changed, rotated and deleted, and its secret is in two answers alone', async () => {
  const { served } = await started();
  expect((await served.ask('/api/webhooks')).json).toEqual({
    tenant: 'acme',
    url: 'https://api.example.com',
  });
  const url = 'https://receiver.example/hook';
  const created = await served.change('POST', SUBSCRIPTIONS, { url });
  expect(created).toMatchObject({ status: 200, headers: { 'cache-control': 'no-store' } });
  const { id, secret } = created.json as Subscription;
  expect(secret).toMatch(/^[\w-]{43}$/);
  const path = `${SUBSCRIPTIONS}/${id}`;
  const changed = await served.change('PUT', path, { url, events: ['dataset.failed'] });
  expect(changed.json).toMatchObject({ id, events: ['dataset.failed'] });
  const rotated = await served.change('POST', `${path}/rotate-secret`, { gracePeriodSeconds: 60 });
  const other = (rotated.json as Subscription).secret;
  expect(other).toMatch(/^[\w-]{43}$/);
  expect(other).not.toBe(secret);
  for (const answer of [changed, await served.ask(path), await served.ask(SUBSCRIPTIONS)]) {
    expect(answer.status).toBe(200);
    expect(answer.text).not.toContain('secret');
    expect(answer.text).not.toContain(other);
  }
  expect(await served.change('DELETE', path)).toMatchObject({ status: 200, text: 'null' });
  expect((await served.ask(SUBSCRIPTIONS)).json).toEqual([]);
  expect(await served.ask(path)).toMatchObject({ status: 404 });
});

test('the log is filtered and paged, and a delivery has its body and is retried', async () => {
  const { service, served } = await started();
  const { url, received } = await startReceiver();
  const subscription = (await served.change('POST', SUBSCRIPTIONS, { url })).json as Subscription;
  for (let dataset = 0; dataset < 51; dataset += 1)
    // oxlint-disable-next-line no-await-in-loop -- the order of the events
    await service.send('PUT', `/datasets/ds-${dataset}`, REPORT);
  const listed = async (query: string) => (await served.ask(`${DELIVERIES}?${query}`)).json as Page;
  // A delivery is in the log once its event was matched with the subscriptions.
  const first = await vi.waitFor(async () => {
    const page = await listed(`outcome=delivered&subscription=${subscription.id}`);
    expect(page.entries).toHaveLength(50);
    expect(page.cursor).toBeDefined();
    return page;
  }, SOON);
  const next = await listed(
    new URLSearchParams({
      outcome: 'delivered',
      subscription: subscription.id,
      cursor: first.cursor!,
    }).toString(),
  );
  expect(next.entries.map(({ datasetId }) => datasetId)).toEqual(['ds-0']);
  expect(next.cursor).toBeUndefined();
  expect((await listed('dataset=ds-7')).entries).toMatchObject([{ datasetId: 'ds-7' }]);
  const [{ id, eventId }] = next.entries as [LogEntry];
  expect((await listed(`eventId=${eventId}`)).entries).toMatchObject([{ id }]);

  const path = `${DELIVERIES}/${id}`;
  const shown = (await served.ask(path)).json as LogEntryWithBody;
  expect(received.map(({ body }) => body.toString())).toContain(shown.body);
  expect((await served.change('POST', `${path}/retry`)).json).toMatchObject({
    id,
    outcome: 'pending',
  });
  await vi.waitFor(
    async () =>
      expect((await served.ask(path)).json).toMatchObject({
        outcome: 'delivered',
        attempts: [{ run: 1 }, { run: 2, number: 1, status: 200 }],
      }),
    SOON,
  );
});

test('a refusal has its status and every reason', async () => {
  const { served } = await started();
  const refused = await served.change('POST', SUBSCRIPTIONS, {
    url: 'ftp://x',
    events: [],
    headers: { Host: 'a' },
  });
  expect(refused.status).toBe(400);
  const { error } = refused.json as { readonly error: string };
  expect(error.split('\n').map((line) => line.split(':')[0])).toEqual([
    'events',
    'headers/Host',
    'url',
  ]);
  expect(await served.ask(`${DELIVERIES}?outcome=none`)).toMatchObject({ status: 400 });
  expect(await served.ask(`${DELIVERIES}?outcome=pending&dataset=a`)).toMatchObject({
    status: 400,
    json: { error: expect.stringContaining('go alone') as string },
  });
  const gone = `${DELIVERIES}/dl_1_${'a'.repeat(26)}`;
  for (const answer of [await served.ask(gone), await served.change('POST', `${gone}/retry`)])
    expect(answer).toMatchObject({ status: 404, json: { error: 'there is no such delivery' } });
});

describe('a change is refused', () => {
  const HEADERS = { 'content-type': 'application/json', 'x-svc-console': '1' };

  test.each([
    ['a form of another page', { 'content-type': 'text/plain' }, 403],
    ['a page without the header', { 'content-type': 'application/json' }, 403],
    ['a page of another origin', { ...HEADERS, origin: 'https://example.com' }, 403],
    ['a page of another site', { ...HEADERS, 'sec-fetch-site': 'cross-site' }, 403],
    ['a page of another port', { ...HEADERS, 'sec-fetch-site': 'same-site' }, 403],
    ['a name that leads here', { ...HEADERS, host: 'rebinding.example' }, 403],
  ])('if it comes from %s', async (_what, headers, status) => {
    const { url, tokens } = await startServer(200, '{}');
    const served = await consoleOf(url);
    for (const [method, path] of [
      ['POST', SUBSCRIPTIONS],
      ['PUT', `${SUBSCRIPTIONS}/wh_1`],
      ['DELETE', `${SUBSCRIPTIONS}/wh_1`],
      ['POST', `${SUBSCRIPTIONS}/wh_1/rotate-secret`],
      ['POST', `${DELIVERIES}/dl_1/retry`],
    ] as const)
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      expect(await served.ask(path, { method, headers, body: '{}' })).toMatchObject({ status });
    expect(tokens).toEqual([]);
  });

  test.each([
    ['no JSON', '{', 400],
    ['no object', '[]', 400],
    ['more than a subscription has', JSON.stringify({ url: 'x'.repeat(512 * 1024) }), 413],
  ])('if its body is %s', async (_what, body, status) => {
    const { url, tokens } = await startServer(200, '{}');
    const served = await consoleOf(url);
    const answer = await served.ask(SUBSCRIPTIONS, { method: 'POST', headers: HEADERS, body });
    expect(answer.status).toBe(status);
    expect(tokens).toEqual([]);
  });
});

test('other pages cannot read, and other paths and methods are not passed on', async () => {
  const { url, tokens } = await startServer(200, '[]');
  const served = await consoleOf(url);
  for (const headers of [{ host: 'rebinding.example' }, { 'sec-fetch-site': 'cross-site' }])
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    expect(await served.ask(SUBSCRIPTIONS, { headers })).toMatchObject({ status: 403 });
  for (const path of [
    '/api/webhooks/',
    '/api/webhooks/datasets/a',
    '/api/webhooksx',
    `${SUBSCRIPTIONS}/`,
    `${SUBSCRIPTIONS}/..`,
    `${SUBSCRIPTIONS}/%2e%2e`,
    `${SUBSCRIPTIONS}/a/b`,
    `${DELIVERIES}/a%2Fretry`,
  ])
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    expect([path, (await served.ask(path)).status]).toEqual([path, 404]);
  expect(await served.change('PATCH', `${SUBSCRIPTIONS}/wh_1`)).toMatchObject({
    status: 405,
    headers: { allow: 'GET, PUT, DELETE' },
  });
  expect(await served.ask(`${DELIVERIES}/dl_1/retry`)).toMatchObject({ status: 405 });
  expect(await served.change('POST', '/api/webhooks')).toMatchObject({ status: 405 });
  expect(tokens).toEqual([]);
});

test('the token is read when webhooks are asked for, and reaches no page', async () => {
  const { url, tokens } = await startServer(200, '[]');
  const token = vi.fn(() => TOKEN);
  const served = await consoleOf(url, token);
  await served.ask('/');
  await served.ask('/api/webhooks');
  expect(token).not.toHaveBeenCalled();
  const answer = await served.ask(SUBSCRIPTIONS);
  expect(answer).toMatchObject({ status: 200, text: '[]' });
  expect(JSON.stringify(answer.headers)).not.toContain(TOKEN);
  expect(tokens).toEqual([`Bearer ${TOKEN}`]);
});

describe('the page learns', () => {
  test('that no tenant is chosen', async () => {
    const served = await ConsoleUnderTest.start();
    expect((await served.ask('/api/webhooks')).json).toEqual({ tenant: null, url: null });
    expect(await served.ask(SUBSCRIPTIONS)).toMatchObject({ status: 404 });
    expect(await served.change('POST', SUBSCRIPTIONS)).toMatchObject({ status: 404 });
  });

  test.each([
    ['SVC_NOT_LOGGED_IN', 401],
    ['SVC_LOGIN_FAILED', 502],
  ] as const)(
    'in the words of the command line why there is no token: %s',
    async (code, status) => {
      const error = 'There is no token. Log in with svc login.';
      const served = await consoleOf('http://127.0.0.1:1', () =>
        Promise.reject(new SvcError(code, error)),
      );
      expect(await served.ask(SUBSCRIPTIONS)).toMatchObject({ status, json: { error } });
      expect(served.bugs).toEqual([]);
    },
  );

  test('that the login is not accepted', async () => {
    const { url } = await startServer(401, '{"status":401,"error":"the token has expired"}');
    const served = await consoleOf(url);
    const error = 'https://api.example.com does not accept the login: the token has expired';
    expect(await served.ask(SUBSCRIPTIONS)).toMatchObject({ status: 401, json: { error } });
  });

  test('that nobody answers, or somebody else', async () => {
    const nobody = await consoleOf('http://127.0.0.1:1');
    expect(await nobody.ask(SUBSCRIPTIONS)).toMatchObject({
      status: 502,
      json: {
        error:
          'The webhook service of https://api.example.com does not answer: the connection failed or was lost.',
      },
    });
    const { url } = await startServer(200, '<!doctype html>');
    expect(await (await consoleOf(url)).ask(SUBSCRIPTIONS)).toMatchObject({ status: 502 });
  });

  test('nothing of an error that nobody expects', async () => {
    const served = await consoleOf('http://127.0.0.1:1', () =>
      Promise.reject(new Error(`a bug near ${TOKEN}`)),
    );
    const answer = await served.ask(SUBSCRIPTIONS);
    expect(answer.status).toBe(500);
    expect(answer.text).not.toContain(TOKEN);
    expect(served.bugs).toHaveLength(1);
  });
});
