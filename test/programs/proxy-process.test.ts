// What a client of `svc proxy` gets from a process that ends connections, or accepts none: through the real program on raw sockets.
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { proxyAnswer, type RawPeer } from '../forward/support/raw-peer.ts';
import { CertificateAuthority } from '../support/certificates/certificate-authority.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { openFullListener } from '../support/web-pods/full-listener.ts';
import { begin, get, OK, responseOf } from '../support/web-pods/passed-request.ts';
import { GATEWAY_ID, type PodOptions, WebPod } from '../support/web-pods/web-pod.ts';

let authority: CertificateAuthority;

beforeAll(async () => {
  authority = await CertificateAuthority.create('ca');
});

async function startPod(options: Partial<PodOptions> = {}): Promise<WebPod> {
  const pod = await WebPod.start({ authority, folder: temporaryFolder(), ...options });
  onTestFinished(() => pod.end());
  return pod;
}

test('P20: of two idle connections that are dead none is used for the second attempt', async () => {
  const pod = await startPod();
  const begun = [await begin(pod, get('/1')), await begin(pod, get('/2'))] as const;
  for (const [client, process] of begun) {
    process.write(OK);
    await client.message();
  }
  const [[client, idle], [, lastUsed]] = begun;
  const { accepted } = pod.process;
  client.write(get('/3'));
  await lastUsed.head();
  // The proxy finds that the first one has ended before it finds that the other one has.
  lastUsed.socket.destroy();
  idle.socket.destroy();
  const third = await pod.process.next();
  expect((await third.head())[0]).toBe('GET /3 HTTP/1.1');
  third.write(OK);
  expect((await client.message()).body).toBe('ok');
  expect(pod.process.accepted).toBe(accepted + 1);
});

test('P21: a process that accepts nothing, and whose backlog is full, is 503', async () => {
  const pod = await startPod({
    processPort: await openFullListener(),
    settings: { 'svc.proxy.connect-timeout-ms': '200', 'svc.proxy.answer-timeout-ms': '200' },
  });
  for (const request of [get('/'), 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nab']) {
    const client = await pod.connectAs(GATEWAY_ID);
    client.write(request);
    expect(await proxyAnswer(client)).toBe('503 The process is not listening.');
  }
});

test('P22: of pipelined requests the one in the middle fails, and the others are answered in their order', async () => {
  const pod = await startPod();
  const client = await pod.connectAs(GATEWAY_ID);
  client.write(`${get('/1')}${get('/2')}${get('/3')}`);
  const peers = new Map<string, RawPeer>();
  while (peers.size < 3) {
    const process = await pod.process.next();
    peers.set((await process.head())[0]!.split(' ')[1]!, process);
  }
  // Bytes of a response have come, so that it is not sent again.
  peers.get('/2')!.socket.end('HTTP/1.1 2');
  peers.get('/3')!.write(responseOf('3'));
  peers.get('/1')!.write(responseOf('1'));
  expect((await client.message()).body).toBe('1');
  expect(await proxyAnswer(client)).toBe(
    '502 The process closed the connection before it answered.',
  );
  expect((await client.message()).body).toBe('3');
});
