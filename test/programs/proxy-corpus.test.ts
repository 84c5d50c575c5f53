// The corpus of requests and responses (fixtures/http1) through the real program and TLS: what two servers could read
// differently is answered by the proxy, and never ends at the other side.
import { createServer, type AddressInfo } from 'node:net';
import { once } from 'node:events';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { RawPeer } from '../forward/support/raw-peer.ts';
import { CertificateAuthority } from '../support/certificates/certificate-authority.ts';
import { bytesOf, readRequests, readResponses } from '../support/http1/corpus.ts';
import {
  expectedOf,
  inParts,
  outcomeOf,
  refusedCases,
  responseCases,
} from '../support/http1/corpus-outcomes.ts';
import { temporaryFolderOfFile } from '../support/temporary-folder.ts';
import { dialTls, GATEWAY_ID, WebPod } from '../support/web-pods/web-pod.ts';

let pod: WebPod;
let connect: () => Promise<RawPeer>;
/** What has arrived at the process, a text for each connection. */
const arrived: { text: string }[] = [];
/** What the process sends for a path, and then ends its side. */
const responses = new Map<string, Buffer>();

const process = createServer({ allowHalfOpen: true }, (socket) => {
  const connection = { text: '' };
  arrived.push(connection);
  socket.on('error', () => undefined);
  socket.on('data', (bytes: Buffer) => {
    connection.text += bytes.toString('latin1');
    const path = connection.text.split(' ', 2)[1] ?? '';
    const response = responses.get(path);
    if (response !== undefined && connection.text.includes('\r\n\r\n')) socket.end(response);
  });
});
const folder = temporaryFolderOfFile();

beforeAll(async () => {
  process.listen(0, '127.0.0.1');
  await once(process, 'listening');
  const authority = await CertificateAuthority.create('ca');
  const processPort = (process.address() as AddressInfo).port;
  pod = await WebPod.start({ authority, folder, processPort });
  const { certificate: cert, key } = await authority.issue({ uris: [GATEWAY_ID] });
  connect = () => dialTls(pod.servicePort, { cert, key, ca: authority.certificate });
});

afterAll(async () => {
  await pod.end();
  process.close();
});

/** Sends bytes, ends the side of the client, and reads to the end of the connection. */
async function exchange(bytes: Buffer): Promise<string> {
  const client = await connect();
  client.socket.end(bytes);
  return client.rest();
}

test('P2–P4, P39: a request whose head is refused gets the answer of the proxy, and reaches nobody', async () => {
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
      fields: expect.arrayContaining(['X-Svc-Answered-By', 'proxy', 'Connection', 'close']),
      more: [],
    });
    expect(Object.keys(JSON.parse(answer!.body) as object)).toEqual(['error']);
  });
  expect(arrived.length).toBe(before);
});

test('P5: a request whose body is refused never ends validly at the process', async () => {
  const cases = refusedCases(true);
  expect(cases.length).toBeGreaterThan(30);
  const before = arrived.length;
  await inParts(cases, async ({ name, in: input }) => {
    expect(`${name}: ${await exchange(bytesOf(input))}`).toMatch(
      /: HTTP\/1\.1 4\d\d [^]*\{"error":/,
    );
  });
  const reached = arrived.slice(before).filter(({ text }) => text !== '');
  for (const { text } of reached) {
    const read = readRequests([Buffer.from(text, 'latin1')]);
    expect(read).toHaveLength(1);
    expect({ text, fails: read[0]!.fails !== undefined }).toEqual({ text, fails: true });
  }
});

test('P6: a response that is refused is 502 or breaks off, and any other one passes', async () => {
  const cases = responseCases();
  expect(cases.length).toBeGreaterThan(100);
  await inParts([...cases.entries()], async ([index, { name, in: input, to = ['GET'] }]) => {
    const method = to[0]!;
    const path = `/${index}`;
    responses.set(path, bytesOf(input));
    const received = await exchange(
      Buffer.from(`${method} ${path} HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n`),
    );
    const read = (bytes: Buffer) =>
      readResponses([{ method, pieces: [bytes] }]).filter((one) => one['informational'] !== true);
    const [expected] = read(bytesOf(input));
    const [actual, ...more] = read(Buffer.from(received, 'latin1'));
    expect({ name, more }).toEqual({ name, more: [] });
    expect({ name, outcome: outcomeOf(actual) }).toEqual({ name, outcome: expectedOf(expected) });
  });
});
