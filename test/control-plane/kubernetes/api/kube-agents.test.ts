// The connections to an API server: how many there are, and what they speak.
import { once } from 'node:events';
import { createSecureServer } from 'node:http2';
import type { AddressInfo } from 'node:net';
import type { ServerResponse } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { KubeClient } from '../../../../control-plane/kubernetes/api/kube-client.ts';
import { KubeTransport } from '../../../../control-plane/kubernetes/api/kube-transport.ts';
import { CertificateAuthority } from '../../../support/certificates/certificate-authority.ts';
import {
  answerJson,
  ScriptedApi,
  scriptedObject,
} from '../../../support/kubernetes/scripted-api.ts';

const MAPS = '/api/v1/namespaces/shop/configmaps';
const CART = `${MAPS}/cart`;
const never = new AbortController().signal;

test('HTTP/1.1 is spoken, also with a server that prefers HTTP/2', async () => {
  const authority = await CertificateAuthority.create('cluster');
  const { certificate, key } = await authority.issue({ addresses: ['127.0.0.1'] });
  const versions: string[] = [];
  const server = createSecureServer({ cert: certificate, key, allowHTTP1: true });
  server.on('request', ({ httpVersion }, response) => {
    versions.push(httpVersion);
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(scriptedObject('cart', 1)));
  });
  server.listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  await using transport = new KubeTransport({
    server: `https://127.0.0.1:${port}`,
    authority: authority.certificate,
  });
  await new KubeClient(transport, 'test').get(CART);
  expect(versions).toEqual(['1.1']);
});

test('requests wait for a free connection, and never for a watch', async () => {
  const waiting: ServerResponse[] = [];
  let waitingMax = 0;
  await using api = await ScriptedApi.start(async ({ query }, response) => {
    if (query['watch'] !== undefined) {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.write('{}\n');
      return;
    }
    waitingMax = Math.max(waitingMax, waiting.push(response));
    if (waiting.length < 2) return;
    // More of them would arrive meanwhile.
    await pause(10);
    for (const one of waiting.splice(0)) answerJson(one, 200, scriptedObject('cart', 1));
  });
  const client = api.client({ connectionsMax: 2 });
  const ended = new AbortController();
  const begun = Promise.withResolvers<void>();
  const stream = client.transport.stream(
    { method: 'GET', path: MAPS, query: { watch: true }, signal: ended.signal, endsInTime: false },
    async (pieces) => {
      for await (const _ of pieces) begun.resolve();
    },
  );
  const outcome = Promise.allSettled([stream]);
  await begun.promise;
  await Promise.all(Array.from({ length: 20 }, () => client.get(CART)));
  expect(waitingMax).toBe(2);
  ended.abort(new Error('ended'));
  expect(await outcome).toMatchObject([{ reason: { message: 'ended' } }]);
});

test('logs wait for a free connection, and neither requests nor watches wait for logs', async () => {
  const held: ServerResponse[] = [];
  await using api = await ScriptedApi.start(({ query, path }, response) => {
    if (path.endsWith('/log')) held.push(response);
    else if (query['watch'] === undefined) answerJson(response, 200, scriptedObject('cart', 1));
    else response.end('{}\n');
  });
  const client = api.client({ logConnectionsMax: 2 });
  const stream = (path: string, endsInTime: boolean) =>
    client.transport.stream(
      { method: 'GET', path, query: endsInTime ? {} : { watch: true }, signal: never, endsInTime },
      async (pieces) => {
        for await (const _ of pieces);
      },
    );
  const logs = Array.from({ length: 3 }, () => stream('/api/v1/namespaces/shop/pods/a/log', true));
  await expect.poll(() => held.length).toBe(2);
  await client.get(CART);
  await stream(MAPS, false);
  expect(held).toHaveLength(2);
  held[0]!.end();
  await expect.poll(() => held.length).toBe(3);
  for (const one of held) one.end();
  await Promise.all(logs);
});

test('a request that waits for a connection ends in its time, and is never sent', async () => {
  const held = Promise.withResolvers<ServerResponse>();
  await using api = await ScriptedApi.start((_, response) => held.resolve(response));
  const client = api.client({ connectionsMax: 1 });
  const first = client.get(CART);
  const response = await held.promise;
  const ended = new AbortController();
  const outcome = Promise.allSettled([client.get(MAPS, ended.signal)]);
  ended.abort(new Error('ended'));
  expect(await outcome).toMatchObject([{ reason: { message: 'ended' } }]);
  answerJson(response, 200, scriptedObject('cart', 1));
  await first;
  expect(api.requests.map(({ path }) => path)).toEqual([CART]);
});
