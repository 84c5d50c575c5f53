import { expect, test } from 'vitest';
import { readPodLogs } from '../../../../control-plane/kubernetes/api/pod-logs.ts';
import { answerJson, ScriptedApi, statusObject } from '../../../support/kubernetes/scripted-api.ts';

const never = new AbortController().signal;
const CART = { namespace: 'svc-shop', pod: 'cart-1', container: 'service', previous: false };

/** Answers with the last lines, and with the first bytes of these, as a kubelet does. */
async function logsOf(text: string): Promise<ScriptedApi> {
  return ScriptedApi.start(({ query }, response) => {
    const lines = text.split(/(?<=\n)/);
    const tail = Number(query['tailLines']);
    const last = Buffer.from(tail === 0 ? '' : lines.slice(-tail).join(''));
    response.end(last.subarray(0, Number(query['limitBytes'])));
  });
}

test('the end of the output is what is kept', async () => {
  const text = Array.from({ length: 5000 }, (_, at) => `line ${at} of the output\n`).join('');
  await using api = await logsOf(text);
  const output = await readPodLogs(api.client(), { ...CART, bytesMax: 1000 }, never);
  expect(output).toBe(text.slice(-1000));
  expect(api.requests).toMatchObject([
    {
      path: '/api/v1/namespaces/svc-shop/pods/cart-1/log',
      query: { container: 'service', previous: 'false', tailLines: '20000' },
    },
  ]);
});

test('output that is more than the server may send is read again with fewer lines', async () => {
  const text = `${'x'.repeat(99)}\n`.repeat(1000) + 'the end\n';
  await using api = await logsOf(text);
  const output = await readPodLogs(api.client(), { ...CART, bytesMax: 50 }, never, 10_000);
  expect(output).toBe(text.slice(-50));
  expect(api.requests.map(({ query }) => query['tailLines'])).toEqual(['20000', '1250', '78']);
});

test('a line that is more than the server may send ends the reading', async () => {
  await using api = await logsOf('x'.repeat(50_000));
  const output = await readPodLogs(api.client(), { ...CART, bytesMax: 50 }, never, 10_000);
  expect(output).toBe('x'.repeat(50));
});

test('the output begins with a whole character', async () => {
  await using api = await logsOf('äöü');
  for (const [bytesMax, output] of [
    [0, ''],
    [1, ''],
    [2, 'ü'],
    [3, 'ü'],
    [4, 'öü'],
    [100, 'äöü'],
  ] as const)
    expect(await readPodLogs(api.client(), { ...CART, bytesMax }, never)).toBe(output);
});

test.each([
  [{ tail: 0 }, { tailLines: '0' }],
  [{ sinceS: 0 }, { tailLines: '0' }],
  [
    { tail: 7, sinceS: 5 },
    { tailLines: '7', sinceSeconds: '5' },
  ],
  [
    { tail: 1_000_000, previous: true },
    { tailLines: '20000', previous: 'true' },
  ],
])('the query %j is sent as %j', async (query, sent) => {
  await using api = await logsOf('one\n');
  await readPodLogs(api.client(), { ...CART, bytesMax: 100, ...query }, never);
  expect(api.requests[0]!.query).toMatchObject(sent);
  expect('sinceSeconds' in api.requests[0]!.query).toBe('sinceSeconds' in sent);
});

test('a refusal has the words of the server', async () => {
  await using api = await ScriptedApi.start((_, response) =>
    answerJson(response, 400, statusObject(400, 'BadRequest', 'container is waiting to start')),
  );
  await expect(readPodLogs(api.client(), { ...CART, bytesMax: 100 }, never)).rejects.toThrow(
    'container is waiting to start',
  );
});

test('output that does not end in time is late', async () => {
  await using api = await ScriptedApi.start((_, response) => void response.write('one\n'));
  const client = api.client({ answerTimeoutMs: 50 });
  await expect(readPodLogs(client, { ...CART, bytesMax: 100 }, never)).rejects.toThrow(
    'has not answered within 50 ms',
  );
});
