// The certificates of `svc proxy` while it serves: rotation, the removal of an authority, unusable files; and clients that take
// its connections, or lead requests in a circle.
import { randomBytes, X509Certificate } from 'node:crypto';
import { createServer as createHttpServer, get } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { connect } from 'node:net';
import { once } from 'node:events';
import { createServer as createTlsServer, type TLSSocket } from 'node:tls';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import type { RawPeer } from '../forward/support/raw-peer.ts';
import { CertificateAuthority } from '../support/certificates/certificate-authority.ts';
import {
  certificateTexts,
  mountCertificates,
  writeCertificates,
} from '../support/certificates/certificate-files.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { dialTls, GATEWAY_ID, idOf, type PodOptions, WebPod } from '../support/web-pods/web-pod.ts';

let authority: CertificateAuthority;

beforeAll(async () => {
  authority = await CertificateAuthority.create('ca');
});

async function startPod(options: Partial<PodOptions> = {}): Promise<WebPod> {
  const pod = await WebPod.start({ authority, folder: temporaryFolder(), ...options });
  onTestFinished(() => pod.end());
  return pod;
}

/** A process that answers every request. */
async function answeringPort(): Promise<number> {
  const server = createHttpServer((_request, response) => response.end('ok'));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

async function post(client: RawPeer): Promise<readonly string[]> {
  client.write('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nab');
  const { lines } = await client.message();
  expect(lines[0]).toBe('HTTP/1.1 200 OK');
  return lines;
}

function serverOf(client: RawPeer): string {
  return (client.socket as TLSSocket).getPeerX509Certificate()!.fingerprint256;
}

test('P32: certificates and authority are replaced under load, and no request fails', async () => {
  const pod = await startPod({ processPort: await answeringPort() });
  const next = await CertificateAuthority.create('next');
  const old = await pod.connectAs(GATEWAY_ID);
  await post(old);

  const both = [authority, next] as const;
  const leaf = await next.issue({ uris: [idOf('web')] });
  mountCertificates(pod.certificates, certificateTexts(leaf, ...both));
  const gateway = await next.issue({ uris: [GATEWAY_ID] });
  const connectNew = () =>
    dialTls(pod.servicePort, {
      cert: gateway.certificate,
      key: gateway.key,
      ca: both.map(({ certificate }) => certificate),
    });
  // New connections get the new certificate; the old connection goes on.
  await expect
    .poll(async () => {
      expect(await post(old)).not.toContain('Connection: close');
      const fresh = await pod.connectAs(GATEWAY_ID, {
        ca: both.map(({ certificate }) => certificate),
      });
      await post(fresh);
      const server = serverOf(fresh);
      fresh.socket.destroy();
      return server;
    })
    .not.toBe(serverOf(old));
  const trusted = await connectNew();
  await post(trusted);

  mountCertificates(pod.certificates, certificateTexts(leaf, next));
  await pod.svc.logged(/"authoritiesRemoved":1,"message":"New certificates are in use"/);
  // It began before the authority was removed: its current response is its last one.
  expect(await post(old)).toContain('Connection: close');
  expect(await old.rest()).toBe('');
  expect(await post(trusted)).toContain('Connection: close');
  const { certificate, key } = await authority.issue({ uris: [GATEWAY_ID] });
  const refused = await dialTls(pod.servicePort, { cert: certificate, key, ca: next.certificate });
  expect(await refused.rest()).toBe('');
  await post(await connectNew());
});

test('P32: no connection to a service is used again once the own certificate is replaced', async () => {
  const pod = await startPod();
  const { certificate: cert, key } = await authority.issue({ uris: [idOf('cart')] });
  const shown: string[] = [];
  const cart = createHttpsServer(
    { cert, key, ca: authority.certificate, requestCert: true },
    (_request, response) => response.end('ok'),
  );
  cart.on('secureConnection', (socket) =>
    shown.push(socket.getPeerX509Certificate()!.fingerprint256),
  );
  cart.listen(0, '127.0.0.1');
  await once(cart, 'listening');
  onTestFinished(() => {
    cart.closeAllConnections();
    cart.close();
  });
  pod.locate({ 'shop/cart': (cart.address() as AddressInfo).port });
  const caller = await pod.connectToCall();
  const call = async (): Promise<string | undefined> => {
    caller.write('GET /cart/ HTTP/1.1\r\nHost: a\r\n\r\n');
    return (await caller.message()).lines[0];
  };
  await expect.poll(call).toBe('HTTP/1.1 200 OK');
  expect(await call()).toBe('HTTP/1.1 200 OK');
  expect(shown).toHaveLength(1);

  const renewed = await authority.issue({ uris: [idOf('web')] });
  mountCertificates(pod.certificates, certificateTexts(renewed, authority));
  await pod.svc.logged(/"message":"New certificates are in use"/);
  expect(await call()).toBe('HTTP/1.1 200 OK');
  expect(await call()).toBe('HTTP/1.1 200 OK');
  const { fingerprint256 } = new X509Certificate(renewed.certificate);
  expect(shown).toEqual([shown[0], fingerprint256]);
});

test('P33: a pair that does not match leaves the former one in use, and is logged', async () => {
  const pod = await startPod({ processPort: await answeringPort() });
  const before = await pod.connectAs(GATEWAY_ID);
  const issued = await authority.issue({ uris: [idOf('web')] });
  const texts = certificateTexts(issued, authority);
  writeCertificates(pod.certificates, { certificate: texts.certificate });
  await pod.svc.logged(/New certificates cannot be used: The key of tls\.key does not belong/);
  const meanwhile = await pod.connectAs(GATEWAY_ID);
  await post(meanwhile);
  expect(serverOf(meanwhile)).toBe(serverOf(before));
  writeCertificates(pod.certificates, { key: texts.key });
  await pod.svc.logged(/"message":"New certificates are in use"/);
  const after = await pod.connectAs(GATEWAY_ID);
  await post(after);
  expect(serverOf(after)).not.toBe(serverOf(before));
});

test('a connection closes when it has reached its age', async () => {
  const pod = await startPod({
    processPort: await answeringPort(),
    settings: { 'svc.proxy.connection-age-ms': '1' },
  });
  const client = await pod.connectAs(GATEWAY_ID);
  await post(client);
  expect(await client.rest()).toBe('');
});

test('P36: clients that finish neither handshake nor head are disconnected, and others served', async () => {
  const pod = await startPod({
    processPort: await answeringPort(),
    settings: { 'svc.proxy.handshake-timeout-ms': '500', 'svc.proxy.head-timeout-ms': '500' },
  });
  const silent = await Promise.all(
    Array.from({ length: 300 }, async () => {
      const socket = connect(pod.servicePort, '127.0.0.1');
      socket.on('error', () => undefined);
      await once(socket, 'connect');
      return socket;
    }),
  );
  const slow = await pod.connectAs(GATEWAY_ID);
  slow.write('GET / HTTP/1.1\r\nHost');
  await post(await pod.connectAs(GATEWAY_ID));
  await Promise.all(
    silent.map(async (socket) => (socket.destroyed ? undefined : once(socket.resume(), 'close'))),
  );
  expect((await slow.head())[0]).toBe('HTTP/1.1 408 Request Timeout');
});

test('P36: a client whose body stops gets 408, and its body never ends at the process', async () => {
  const pod = await startPod({ settings: { 'svc.proxy.body-timeout-ms': '300' } });
  const slow = await pod.connectAs(GATEWAY_ID);
  slow.write('POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab');
  const process = await pod.process.next();
  await process.head();
  expect((await slow.message()).lines[0]).toBe('HTTP/1.1 408 Request Timeout');
  expect(await slow.rest()).toBe('');
  // No chunk of the length 0.
  expect(await process.rest()).toBe('2\r\nab\r\n');
  expect(process.ended).toBe('reset');
});

test('P36: a client of TLS 1.2 is refused, and nobody can have a connection renegotiated', async () => {
  const pod = await startPod({ processPort: await answeringPort() });
  await expect(pod.connectAs(GATEWAY_ID, { maxVersion: 'TLSv1.2' })).rejects.toThrow(
    /alert protocol version/i,
  );
  const client = await pod.connectAs(GATEWAY_ID);
  const socket = client.socket as TLSSocket;
  const refused = await new Promise<Error | null>((resolve) => {
    socket.renegotiate({}, resolve);
  });
  expect(refused).toMatchObject({ message: expect.any(String) });
  await post(await pod.connectAs(GATEWAY_ID));
});

/** A TLS server at one address, which is one service and then another, and keeps the keys of its sessions. */
async function changingService(service: string) {
  const keys = { ticketKeys: randomBytes(48) };
  const as = async (named: string) => {
    const { certificate: cert, key } = await authority.issue({ uris: [idOf(named)] });
    return { cert, key, ca: authority.certificate, ...keys };
  };
  let heard = 0;
  const server = createTlsServer({ ...(await as(service)), requestCert: true }, (socket) => {
    socket.on('error', () => undefined);
    socket.once('data', () => {
      heard += 1;
      socket.end('HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok');
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return {
    port: (server.address() as AddressInfo).port,
    heard: () => heard,
    become: async (other: string) => server.setSecureContext(await as(other)),
  };
}

test('P31: another service gets no request by a session of the one before it at its address', async () => {
  const pod = await startPod();
  const service = await changingService('cart');
  pod.locate({ 'shop/cart': service.port });
  const call = async () => {
    const caller = await pod.connectToCall();
    caller.write('GET /cart/ HTTP/1.1\r\nHost: a\r\n\r\n');
    return (await caller.message()).lines[0];
  };
  await expect.poll(call).toBe('HTTP/1.1 200 OK');
  const { certificate: cert, key } = await authority.issue({ uris: [idOf('web')] });
  const options = { cert, key, ca: authority.certificate };
  const resuming = await dialTls(service.port, options);
  const offered = once(resuming.socket, 'session');
  resuming.write('x');
  const [session] = (await offered) as [Buffer];
  const heard = service.heard();

  await service.become('orders');
  // A client that resumes its session does reach the other service.
  const resumed = await dialTls(service.port, { ...options, session });
  expect((resumed.socket as TLSSocket).isSessionReused()).toBe(true);
  resumed.socket.destroy();
  expect(await call()).toBe('HTTP/1.1 502 Bad Gateway');
  expect(service.heard()).toBe(heard);
});

test('P28: a circle of calls ends at the limit of requests in flight', async () => {
  let calls = 0;
  let servicesUrl = '';
  const server = createHttpServer((_request, response) => {
    calls += 1;
    get(`${servicesUrl}/web/again`, (answered) => {
      response.writeHead(answered.statusCode!, answered.headers);
      answered.pipe(response);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const pod = await startPod({
    processPort: (server.address() as AddressInfo).port,
    settings: { 'svc.proxy.requests-max': '20' },
  });
  servicesUrl = `http://127.0.0.1:${pod.callingPort}`;
  pod.locate({ 'shop/web': pod.servicePort });
  const client = await pod.connectAs(GATEWAY_ID);
  client.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
  const { lines } = await client.message();
  expect(lines[0]).toBe('HTTP/1.1 503 Service Unavailable');
  expect(calls).toBeGreaterThan(1);
  expect(calls).toBeLessThanOrEqual(20);
});
