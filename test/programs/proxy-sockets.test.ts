// `svc proxy` with listening sockets that it is given: through the real program.
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { BoundSocket, type BoundSocketOptions, connect } from 'node:net';
import { dirname, join } from 'node:path';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { callSocketFile } from '../../kit/call-sockets.ts';
import { proxyAnswer } from '../forward/support/raw-peer.ts';
import { CertificateAuthority } from '../support/certificates/certificate-authority.ts';
import { listeningAddresses } from '../support/listening-ports.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { begin, get, OK } from '../support/web-pods/passed-request.ts';
import { GATEWAY_ID, idOf, type PodOptions, WebPod } from '../support/web-pods/web-pod.ts';

let authority: CertificateAuthority;

beforeAll(async () => {
  authority = await CertificateAuthority.create('ca');
});

/** A socket that the test keeps, as the supervisor of a proxy does. The types of Node lack the path. */
function boundSocket(options: BoundSocketOptions & { readonly path?: string }): BoundSocket {
  const socket = new BoundSocket(options);
  onTestFinished(() => socket.close());
  return socket;
}

const tcpSocket = (): BoundSocket => boundSocket({ host: '127.0.0.1', port: 0 });

async function startPod(options: Partial<PodOptions>): Promise<WebPod> {
  const pod = await WebPod.start({ authority, folder: temporaryFolder(), ...options });
  onTestFinished(() => pod.end());
  return pod;
}

async function startWithCalls(options: Partial<PodOptions> = {}) {
  const path = join(temporaryFolder(), 'calls.sock');
  const sockets = [{ name: 'calls', fd: boundSocket({ path }).fd() }];
  return { path, pod: await startPod({ sockets, ...options }) };
}

test('the ports are those of the sockets, and no others are bound', async () => {
  const [service, readiness] = [tcpSocket(), tcpSocket()];
  const pod = await startPod({
    sockets: [
      { name: 'readiness', fd: readiness.fd() },
      { name: 'service', fd: service.fd() },
    ],
    settings: { 'svc.proxy.port': '1', 'svc.proxy.readiness-port': '2' },
  });
  const { port } = service.address();
  expect([pod.servicePort, pod.readinessPort]).toEqual([port, readiness.address().port]);
  expect(listeningAddresses(pod.svc.child.pid!).toSorted()).toEqual(
    [port, pod.readinessPort, pod.callingPort].map((each) => `127.0.0.1:${each}`).toSorted(),
  );
  const [client, process] = await begin(pod, get('/'));
  process.write(OK);
  expect((await client.message()).body).toBe('ok');
});

test('a connection that waits in a socket that was given is served by the next proxy', async () => {
  const service = tcpSocket();
  const options = { sockets: [{ name: 'service', fd: service.fd() }], folder: temporaryFolder() };
  const first = await startPod(options);
  await first.svc.end('SIGTERM');
  const waiting = first.connectAs(GATEWAY_ID);
  const second = await startPod(options);
  const client = await waiting;
  client.write(get('/'));
  const process = await second.process.next();
  process.write(OK);
  expect((await client.message()).body).toBe('ok');
});

describe('the socket for calls', () => {
  test('serves services by mutual TLS, each by the caller that its certificate names', async () => {
    const { path, pod } = await startWithCalls({ settings: { 'svc.proxy.callers': 'billing' } });
    const client = await pod.connectBySocket(path, idOf('billing'));
    client.write(get('/a'));
    const process = await pod.process.next();
    expect(await process.head()).toContain('X-Svc-Caller: service shop/billing');
    process.write(OK);
    expect((await client.message()).body).toBe('ok');
    const stranger = await pod.connectBySocket(path, idOf('ledger'));
    stranger.write(get('/a'));
    expect(await proxyAnswer(stranger)).toMatch(/^403 The service shop\/ledger may not call/);
  });

  test('gives no one without a certificate more than a failed handshake', async () => {
    const { path, pod } = await startWithCalls({
      settings: { 'svc.proxy.handshake-timeout-ms': '100' },
    });
    for (const bytes of ['GET / HTTP/1.1\r\nHost: a\r\n\r\n', '']) {
      const socket = connect(path).on('error', () => undefined);
      socket.write(bytes);
      socket.resume();
      await once(socket, 'close');
    }
    expect(pod.process.accepted).toBe(0);
  });

  test('lets a request finish at the stop, and takes no further connection', async () => {
    const { path, pod } = await startWithCalls({ settings: { 'svc.proxy.callers': 'billing' } });
    const client = await pod.connectBySocket(path, idOf('billing'));
    client.write(get('/a'));
    const process = await pod.process.next();
    const ended = pod.svc.end('SIGTERM');
    await pod.svc.logged(/The proxy stops/);
    process.write(OK);
    expect((await client.message()).lines).toContain('Connection: close');
    expect((await ended).code).toBe(0);
  });

  test('breaks off a response without a length so that nobody takes it for a whole one', async () => {
    const { path, pod } = await startWithCalls({
      settings: { 'svc.proxy.callers': 'billing', 'svc.proxy.stop-timeout-ms': '100' },
    });
    const client = await pod.connectBySocket(path, idOf('billing'));
    client.write('GET /a HTTP/1.0\r\n\r\n');
    (await pod.process.next()).write('HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nbegun');
    await client.take('begun');
    expect((await pod.svc.end('SIGTERM')).code).toBe(0);
    await client.rest();
    expect(client.ended).toBe('reset');
  });

  test('takes no more connections than the service port does', async () => {
    const { path, pod } = await startWithCalls({ settings: { 'svc.proxy.connections-max': '1' } });
    const first = connect(path);
    await once(first, 'connect');
    const second = connect(path).on('error', () => undefined);
    await once(second, 'close');
    expect(first.closed).toBe(false);
    first.destroy();
    expect(pod.process.accepted).toBe(0);
  });
});

test('a called service is reached at its socket in the folder of sockets', async () => {
  const folder = temporaryFolder();
  const address = { host: '127.83.0.9', port: 9000 };
  const path = callSocketFile(folder, 'shop', address);
  mkdirSync(dirname(path));
  const fd = boundSocket({ path }).fd();
  const called = await startPod({
    service: 'cart',
    sockets: [{ name: 'calls', fd }],
    settings: { 'svc.proxy.callers': 'web' },
  });
  const services = join(temporaryFolder(), 'services.json');
  const pod = await startPod({
    settings: { 'svc.proxy.sockets-folder': folder, 'svc.proxy.services-file': services },
  });
  writeFileSync(
    services,
    JSON.stringify({ services: { 'shop/cart': [`${address.host}:${address.port}`] } }),
  );
  const call = await pod.connectToCall();
  call.write(get('/cart/1'));
  const process = await called.process.next();
  expect(await process.head()).toContain('X-Svc-Caller: service shop/web');
  process.write(OK);
  expect((await call.message()).body).toBe('ok');
});
