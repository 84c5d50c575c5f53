// `svc proxy` as a process: what it needs to start, when it is ready, how it stops.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { proxyAnswer, type RawPeer } from '../forward/support/raw-peer.ts';
import { CertificateAuthority } from '../support/certificates/certificate-authority.ts';
import { certificateTexts, writeCertificates } from '../support/certificates/certificate-files.ts';
import { runSvc } from '../support/host-process.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { GATEWAY_ID, idOf, WebPod } from '../support/web-pods/web-pod.ts';

const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';
const GET = 'GET / HTTP/1.1\r\nHost: shop.example.com\r\n\r\n';
let authority: CertificateAuthority;

beforeAll(async () => {
  authority = await CertificateAuthority.create('ca');
});

async function startPod(settings: Readonly<Record<string, string>> = {}): Promise<WebPod> {
  const pod = await WebPod.start({ authority, folder: temporaryFolder(), settings });
  onTestFinished(() => pod.end());
  return pod;
}

async function statusOf(peer: RawPeer): Promise<string> {
  const { lines } = await peer.message();
  return lines[0]!;
}

async function readiness(pod: WebPod): Promise<string> {
  const prober = await pod.connectToReadiness();
  prober.write('GET /ready HTTP/1.1\r\nHost: pod\r\nConnection: close\r\n\r\n');
  return prober.rest();
}

test('a request goes to the process and its response to the client', async () => {
  const pod = await startPod();
  const client = await pod.connectAs(GATEWAY_ID);
  client.write(GET);
  const process = await pod.process.next();
  expect(await process.head()).toEqual([
    'GET / HTTP/1.1',
    'Host: shop.example.com',
    'X-Svc-Caller: internet',
  ]);
  process.write(OK);
  expect(await client.message()).toEqual({
    lines: ['HTTP/1.1 200 OK', 'Content-Length: 2'],
    body: 'ok',
  });
});
