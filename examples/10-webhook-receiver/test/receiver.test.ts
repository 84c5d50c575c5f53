// The receiver without a server: who is refused, what a repeat changes, and which event wins.
import { spawn, spawnSync } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { testEndpoints, testModule } from '@svc/guest-sdk/testing';
import { describe, expect, onTestFinished, test } from 'vitest';

const module = await testModule('assembly/index.ts');
const SECRET = 'a-secret-that-everybody-knows';
const NOW = '2026-02-28T12:30:00.000Z';

const event = (id: string, seq: number, status = 'SOLVING_COMPLETED') => ({
  id,
  type: 'dataset.completed',
  data: { id: 'd1', seq, status, score: '0hard/-120soft', runLink: 'https://api.example.com/d1' },
});

/** A delivery of an event: its body, and the headers that the sender adds. */
function delivery(content: object, timestamp = NOW, secret = SECRET) {
  const body = Buffer.from(JSON.stringify(content));
  const signature = createHmac('sha256', secret)
    .update(`${timestamp}.`)
    .update(body)
    .digest('base64');
  const headers = {
    'content-type': 'application/json',
    'x-hook-timestamp': timestamp,
    'x-hook-signature': signature,
  };
  return { body, headers };
}

function receiver() {
  const api = testEndpoints(module, { nowMs: NOW });
  return {
    api,
    deliver: ({ body, headers }: ReturnType<typeof delivery>) =>
      api.post('/hooks', body, { headers }),
    dataset: async () => (await api.get('/datasets/d1')).json,
  };
}

describe('a delivery', () => {
  test('is received, and changes the dataset', async () => {
    const { api, deliver, dataset } = receiver();
    expect((await deliver(delivery(event('e1', 1)))).text).toBe('received');
    await api.drain();
    expect(await dataset()).toMatchObject({ seq: 1, status: 'SOLVING_COMPLETED', changes: 1 });
  });

  test('that repeats an event changes nothing, whenever it was sent', async () => {
    const { api, deliver, dataset } = receiver();
    await deliver(delivery(event('e1', 1)));
    expect((await deliver(delivery(event('e1', 1)))).text).toBe('repeated');
    const later = delivery(event('e1', 1), '2026-02-28T12:30:10.000Z');
    expect((await deliver(later)).text).toBe('repeated');
    await api.drain();
    expect(await dataset()).toMatchObject({ seq: 1, changes: 1 });
    expect(await api.events('receipt', 'e1')).toHaveLength(1);
  });

  test('that arrives after a newer one does not replace it', async () => {
    const { api, deliver, dataset } = receiver();
    await deliver(delivery(event('e2', 2, 'SOLVING_FAILED')));
    await deliver(delivery(event('e1', 1)));
    await api.drain();
    expect(await dataset()).toMatchObject({ seq: 2, status: 'SOLVING_FAILED', changes: 1 });
  });

  test('of another event is answered, so that it is not repeated', async () => {
    const { deliver } = receiver();
    const failing = { id: 'e1', type: 'webhook.failing', data: { subscriptionId: 'wh_1' } };
    const answer = await deliver(delivery(failing));
    expect([answer.status, answer.text]).toEqual([200, 'ignored']);
  });
});

describe('a request is refused', () => {
  const good = delivery(event('e1', 1));
  test.each([
    ['missing-signature', { ...good, headers: { 'content-type': 'application/json' } as never }],
    ['stale-timestamp', delivery(event('e1', 1), '2026-02-28T12:24:59.999Z')],
    ['wrong-signature', { ...good, body: Buffer.from('{}') }],
    ['wrong-signature', delivery(event('e1', 1), NOW, 'another-secret')],
  ])('with %s', async (reason, request) => {
    const { api, deliver } = receiver();
    const answer = await deliver(request);
    expect([answer.status, answer.json.details]).toEqual([401, { reason }]);
    expect(await api.events('receipt', 'e1')).toEqual([]);
  });

  test('with a verified body that is no event', async () => {
    const { deliver } = receiver();
    expect((await deliver(delivery({ id: 'e1' }))).status).toBe(400);
  });
});

const missing = ['openssl', 'curl'].filter((name) => spawnSync(name, ['--help']).error);
if (missing.length > 0) console.log(`deliver.sh: not tested: there is no ${missing.join(', ')}`);

test.skipIf(missing.length > 0)('deliver.sh sends what the receiver verifies', async () => {
  const sent: { headers: IncomingHttpHeaders; body: Buffer }[] = [];
  const server = createServer((request, response) => {
    void buffer(request).then((body) => {
      sent.push({ headers: request.headers, body });
      response.end('received');
    });
  });
  onTestFinished(() => void server.close());
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hooks`;
  const file = join(import.meta.dirname, '..', 'deliver.sh');
  const script = spawn('sh', [file, 'e1', 'd1', '1', url], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  expect(await once(script, 'close')).toEqual([0, null]);

  const [{ headers, body } = { headers: {}, body: Buffer.of() }] = sent;
  const timestamp = String(headers['x-hook-timestamp']);
  const api = testEndpoints(module, { nowMs: timestamp });
  const signature = String(headers['x-hook-signature']);
  const answer = await api.post('/hooks', body, {
    headers: { 'x-hook-timestamp': timestamp, 'x-hook-signature': signature },
  });
  expect(answer.text).toBe('received');
});
