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
import { bytesOf, readRequests, readResponses } from '../support/http1/corpus.ts';
import {
  expectedOf,
  inParts,
  outcomeOf,
  refusedCases,
  responseCases,
} from '../support/http1/corpus-outcomes.ts';
import { temporaryFolderOfFile } from '../support/temporary-folder.ts';

const HOST = 'a.test';
const folder = temporaryFolderOfFile();
let gateway: TestGateway;
/** What has arrived at the instance, a text for each connection. */
const arrived: { text: string }[] = [];
/** What the instance sends for a path, and then ends its side. */
const responses = new Map<string, Buffer>();

/** Starts an instance that takes bytes as they are, and routes the host to it. */
async function routeInstance(installation: Installation): Promise<() => void> {
  const { certificate: cert, key } = await installation.identities.issue({ uris: [idOf('web')] });
  const ca = installation.identities.certificate;
  const server = createServer(
    { cert, key, ca, requestCert: true, allowHalfOpen: true },
    (socket) => {
      const connection = { text: '' };
      arrived.push(connection);
      socket.on('error', () => undefined);
      socket.on('data', (bytes: Buffer) => {
        connection.text += bytes.toString('latin1');
        const response = responses.get(connection.text.split(' ', 2)[1] ?? '');
        if (response !== undefined && connection.text.includes('\r\n\r\n')) socket.end(response);
      });
    },
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
  const cases = refusedCases(false);
  expect(cases.length).toBeGreaterThan(100);
  const before = arrived.length;
  await inParts(cases, async ({ name, in: input }) => {
    const [expected] = readRequests([bytesOf(input)]);
    const [answer, ...more] = readResponses([
      { method: 'GET', pieces: [Buffer.from(await exchange(bytesOf(input)), 'latin1')] },
    ]);
    expect({ name, status: answer!['status'], fields: answer!['fields'], more }).toEqual({
      name,
      status: Number(expected!.fails!.split(' ', 1)[0]),
      fields: expect.arrayContaining(['X-Svc-Answered-By', 'gateway', 'Connection', 'close']),
      more: [],
    });
    expect(Object.keys(JSON.parse(answer!.body) as object)).toEqual(['error']);
  });
  expect(arrived.length).toBe(before);
});

test('a request whose body is refused never ends validly at the instance', async () => {
  const cases = refusedCases(true);
  expect(cases.length).toBeGreaterThan(30);
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
  const reached = arrived.slice(before).filter(({ text }) => text !== '');
  expect(reached).toHaveLength(cases.length);
  for (const { text } of reached) {
    const read = readRequests([Buffer.from(text, 'latin1')]);
    expect(read).toHaveLength(1);
    expect({ text, fails: read[0]!.fails !== undefined }).toEqual({ text, fails: true });
  }
});

test('a response that is refused is 502 or breaks off, and any other one passes', async () => {
  const cases = responseCases();
  expect(cases.length).toBeGreaterThan(100);
  await inParts([...cases.entries()], async ([index, { name, in: input, to = ['GET'] }]) => {
    const method = to[0]!;
    const path = `/${index}`;
    responses.set(path, bytesOf(input));
    const received = await exchange(
      Buffer.from(`${method} ${path} HTTP/1.1\r\nHost: ${HOST}\r\nContent-Length: 0\r\n\r\n`),
    );
    const read = (bytes: Buffer) =>
      readResponses([{ method, pieces: [bytes] }]).filter((one) => one['informational'] !== true);
    const [expected] = read(bytesOf(input));
    const [actual, ...more] = read(Buffer.from(received, 'latin1'));
    expect({ name, more }).toEqual({ name, more: [] });
    expect({ name, outcome: outcomeOf(actual) }).toEqual({ name, outcome: expectedOf(expected) });
  });
});
