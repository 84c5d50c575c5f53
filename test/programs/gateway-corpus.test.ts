// The corpus of requests and responses (fixtures/http1) through the gateway, in front of it and behind it: a message that two programs could
// read differently is answered by the gateway, and never ends at the other side.
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createServer } from 'node:tls';
import { beforeAll, expect, test, vi } from 'vitest';
import { writeRouteFile } from '../../routing/route-file.ts';
import {
  certify,
  exposed,
  idOf,
  install,
  type Installation,
  TestGateway,
} from '../support/gateway/test-gateway.ts';
import { bytesOf } from '../support/http1/corpus.ts';
import { refusedCases } from '../support/http1/corpus-outcomes.ts';
import {
  CorpusPeer,
  expectHeadsRefused,
  expectResponsesJudged,
  expectUnfinished,
} from '../support/http1/corpus-peer.ts';
import { temporaryFolderOfFile } from '../support/temporary-folder.ts';

const HOST = 'a.test';
const folder = temporaryFolderOfFile();
let gateway: TestGateway;
const instancePeer = new CorpusPeer();

/** Starts an instance that takes bytes as they are, and routes the host to it. */
async function routeInstance(installation: Installation): Promise<() => void> {
  const { certificate: cert, key } = await installation.identities.issue({ uris: [idOf('web')] });
  const ca = installation.identities.certificate;
  const server = createServer(
    { cert, key, ca, requestCert: true, allowHalfOpen: true },
    instancePeer.serve,
  );
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const instance = { name: 'web-1-a', address: '127.0.0.1', port };
  const services = [exposed('web', [instance], { hostnames: [HOST] })];
  await writeRouteFile(join(folder, 'routes.json'), { version: 1, services });
  return () => void server.close();
}

beforeAll(async () => {
  const installation = await install(folder);
  await certify(installation, 'corpus', { dnsNames: [HOST] });
  const close = await routeInstance(installation);
  gateway = await TestGateway.start(installation, { 'svc.gateway.routes-socket': '' });
  return async () => {
    await gateway.svc.end('SIGKILL');
    close();
  };
});

/** Sends bytes, ends the side of the client, and reads to the end of the connection. */
async function exchange(bytes: Buffer): Promise<string> {
  const client = await gateway.connect(HOST);
  client.socket.end(bytes);
  return client.rest();
}

test('a request whose head is refused gets the answer of the gateway, and reaches nobody', async () => {
  expect(await expectHeadsRefused(instancePeer, exchange, 'gateway')).toBeGreaterThan(100);
});

test('a request whose body is refused never ends validly at the instance', async () => {
  const cases = refusedCases(true);
  expect(cases.length).toBeGreaterThan(30);
  const { arrived } = instancePeer;
  const before = arrived.length;
  for (const { name, in: input } of cases) {
    // The host of the corpus is none that a service may have.
    const text = bytesOf(input)
      .toString('latin1')
      .replace(/^(host:[ \t]*)a(?=[ \t]*\r\n)/im, `$1${HOST}`);
    const [head = '', ...body] = text.split(/(?<=\r\n\r\n)/);
    const client = await gateway.connect(HOST);
    const count = arrived.length;
    client.write(head);
    // The body is refused once its head has reached the instance.
    await vi.waitUntil(
      () => arrived.slice(count).some(({ text: got }) => got.endsWith('\r\n\r\n')),
      {
        interval: 2,
      },
    );
    client.socket.end(Buffer.from(body.join(''), 'latin1'));
    expect(`${name}: ${await client.rest()}`).toMatch(/: HTTP\/1\.1 4(?!21)\d\d [^]*\{"error":/);
  }
  expect(expectUnfinished(instancePeer, before)).toHaveLength(cases.length);
});

test('a response that is refused is 502 or breaks off, and any other one passes', async () => {
  expect(await expectResponsesJudged(instancePeer, exchange, HOST)).toBeGreaterThan(100);
});
