// The corpus of requests and responses (fixtures/http1) through the real program and TLS: what two servers could read
// differently is answered by the proxy, and never ends at the other side.
import { createServer, type AddressInfo } from 'node:net';
import { once } from 'node:events';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { RawPeer } from '../forward/support/raw-peer.ts';
import { CertificateAuthority } from '../support/certificates/certificate-authority.ts';
import { bytesOf } from '../support/http1/corpus.ts';
import { inParts, refusedCases } from '../support/http1/corpus-outcomes.ts';
import {
  CorpusPeer,
  expectHeadsRefused,
  expectResponsesJudged,
  expectUnfinished,
} from '../support/http1/corpus-peer.ts';
import { temporaryFolderOfFile } from '../support/temporary-folder.ts';
import { dialTls, GATEWAY_ID, WebPod } from '../support/web-pods/web-pod.ts';

let pod: WebPod;
let connect: () => Promise<RawPeer>;
const processPeer = new CorpusPeer();
const process = createServer({ allowHalfOpen: true }, processPeer.serve);
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
  expect(await expectHeadsRefused(processPeer, exchange, 'proxy')).toBeGreaterThan(100);
});

test('P5: a request whose body is refused never ends validly at the process', async () => {
  const cases = refusedCases(true);
  expect(cases.length).toBeGreaterThan(30);
  const before = processPeer.arrived.length;
  await inParts(cases, async ({ name, in: input }) => {
    expect(`${name}: ${await exchange(bytesOf(input))}`).toMatch(
      /: HTTP\/1\.1 4\d\d [^]*\{"error":/,
    );
  });
  expectUnfinished(processPeer, before);
});

test('P6: a response that is refused is 502 or breaks off, and any other one passes', async () => {
  expect(await expectResponsesJudged(processPeer, exchange, 'a')).toBeGreaterThan(100);
});
