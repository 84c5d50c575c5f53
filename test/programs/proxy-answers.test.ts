// Every answer that the proxy makes itself, through the real program on raw sockets: the twelve of its contract, and those to
// requests and responses that are malformed.
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { mkdirSync } from 'node:fs';
import { createServer } from 'node:tls';
import { describe, expect, onTestFinished, test } from 'vitest';
import { proxyAnswer, type RawPeer } from '../forward/support/raw-peer.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { podPairOfFile } from '../support/web-pods/pod-pair.ts';
import { dialTls, GATEWAY_ID, idOf, WebPod } from '../support/web-pods/web-pod.ts';

const pods = podPairOfFile();
const CLIENT_FIELDS = 'Host: web.apps.example.com\r\n\r\n';

/** The answer of the proxy to the first line of a request of the caller. */
async function answerTo(id: string | readonly string[], line: string): Promise<string> {
  const client = await pods.web.connectAs(id);
  client.write(`${line} HTTP/1.1\r\n${CLIENT_FIELDS}`);
  return proxyAnswer(client);
}

async function answerToCall(line: string): Promise<string> {
  const caller = await pods.web.connectToCall();
  caller.write(`${line} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`);
  return proxyAnswer(caller);
}

/** A TLS server with the certificate of a service that ends each connection once it has a request. */
async function closingService(service: string): Promise<number> {
  const { certificate, key } = await pods.authority.issue({ uris: [idOf(service)] });
  const server = createServer(
    { cert: certificate, key, ca: pods.authority.certificate, requestCert: true },
    (socket) => {
      socket.on('error', () => undefined);
      socket.once('data', () => socket.destroy());
    },
  );
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}

describe('400', () => {
  test('a call names no service: the form of a call', async () => {
    const form = `http://127.0.0.1:${pods.web.callingPort}/<service>/<path>`;
    expect(await answerToCall('GET /')).toContain(`400 The path names no service. Call ${form}`);
    expect(await answerToCall('GET //cart/x')).toContain('400 The path names no service.');
  });

  test('P27: the first segment of a call names no service: the segment', async () => {
    expect(await answerToCall('GET /Cart/x')).toMatch(/^400 .*"Cart"/);
    expect(await answerToCall('GET /cart.Shop/x')).toMatch(/^400 .*"cart\.Shop"/);
    expect(await answerToCall('GET /cart%2F..%2F/x')).toMatch(/^400 .*"cart%2F\.\.%2F"/);
    expect(await answerToCall('GET /No_Service/x')).toMatch(/^400 .*"No_Service"/);
    expect(await answerToCall('GET /a.b.c/x')).toMatch(/^400 .*"a\.b\.c"/);
    expect(await answerToCall('GET /%63art/x')).toMatch(/^400 .*"%63art"/);
  });

  test('P26: a path that a laxer reading would route elsewhere', async () => {
    for (const path of ['/x/../cart/y', '//cart/y', '/%63art', '/cart%2F..%2Fx', '/cart\\..\\x'])
      expect(await answerTo(GATEWAY_ID, `GET ${path}`)).toMatch(/^400 The path can be read/);
  });

  test('P2–P5, P39: a request that two servers could read differently reaches nobody', async () => {
    const host = 'Host: a\r\n';
    const chunked = `POST / HTTP/1.1\r\n${host}Transfer-Encoding: chunked\r\n\r\n`;
    const requests: readonly string[] = [
      `GET / HTTP/1.1\n${host}\r\n`,
      'GET /\r\n\r\n',
      `GET  / HTTP/1.1\r\n${host}\r\n`,
      `GET /#a HTTP/1.1\r\n${host}\r\n`,
      `GET /\u00e4 HTTP/1.1\r\n${host}\r\n`,
      `GET /\0 HTTP/1.1\r\n${host}\r\n`,
      'GET / HTTP/1.1\r\n\r\n',
      `GET / HTTP/1.1\r\n${host}${host}\r\n`,
      'GET / HTTP/1.1\r\nHost: a@b\r\n\r\n',
      `GET / HTTP/1.1\r\n${host}A : b\r\n\r\n`,
      `GET / HTTP/1.1\r\n${host}A: b\r\n c\r\n\r\n`,
      `POST / HTTP/1.1\r\n${host}Content-Length: +5\r\n\r\nabcde`,
      `POST / HTTP/1.1\r\n${host}Content-Length: 5\r\nContent-Length: 5\r\n\r\nabcde`,
      `POST / HTTP/1.1\r\n${host}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
      `POST / HTTP/1.0\r\n${host}Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    ];
    const { accepted } = pods.web.process;
    for (const request of requests) {
      const client = await pods.web.connectAs(GATEWAY_ID);
      client.write(request);
      expect(await proxyAnswer(client)).toMatch(/^400 /);
      expect(await client.rest()).toBe('');
    }
    expect(pods.web.process.accepted).toBe(accepted);
    for (const size of ['0x5', '+5', ' 5', '5;\n']) {
      const client = await pods.web.connectAs(GATEWAY_ID);
      client.write(`${chunked}${size}\r\nabcde\r\n0\r\n\r\n`);
      expect(await proxyAnswer(client)).toMatch(/^400 /);
      // Its head has reached the process, and its body never ends there.
      expect(await (await pods.web.process.next()).rest()).not.toContain('0\r\n\r\n');
    }
  });
});

describe('403', () => {
  test('a service that is not admitted: its name', async () => {
    expect(await answerTo(idOf('orders'), 'GET /')).toMatch(/^403 The service shop\/orders /);
    expect(await answerTo(idOf('billing', 'finance'), 'GET /cart/x')).toMatch(
      /^403 The service finance\/billing /,
    );
  });

  test("another project's mount", async () => {
    const client = await pods.web.connectAs(idOf('ledger', 'finance'), {
      ALPNProtocols: ['svc-mount/1'],
    });
    client.write(`GET / HTTP/1.1\r\n${CLIENT_FIELDS}`);
    expect(await proxyAnswer(client)).toMatch(/^403 The request is under another project's mount/);
  });

  test('P30: a certificate that names no caller', async () => {
    const ids: readonly (readonly string[])[] = [
      ['spiffe://other/ns/svc-shop/sa/billing'],
      ['spiffe://td/ns/svc-shop/sa/billing/extra'],
      ['spiffe://td/ns/svc-shop/sa/bill%69ng'],
      [idOf('billing'), GATEWAY_ID],
      ['https://example.com/'],
    ];
    for (const id of ids)
      expect(await answerTo(id, 'GET /')).toMatch(/^403 The caller certificate is unrecognised/);
    await pods.web.svc.logged(/"message":"The certificate of a client names no caller"/);
  });
});

test('P30: a client without a certificate, or with one of another authority, is not connected', async () => {
  const { servicePort, authority } = pods.web;
  const client = await dialTls(servicePort, { ca: authority.certificate });
  client.write(`GET / HTTP/1.1\r\n${CLIENT_FIELDS}`);
  expect(await client.rest()).toBe('');
});

describe('502', () => {
  test('the process closes the connection', async () => {
    const client = await pods.web.connectAs(GATEWAY_ID);
    client.write(`POST / HTTP/1.1\r\nContent-Length: 0\r\n${CLIENT_FIELDS}`);
    const process = await pods.web.process.next();
    await process.head();
    process.socket.destroy();
    expect(await proxyAnswer(client)).toBe(
      '502 The process closed the connection before it answered.',
    );
  });

  test('a called service closes the connection', async () => {
    const { cart, web, closedPort } = pods;
    web.locate({
      'shop/cart': cart.servicePort,
      'shop/down': closedPort,
      'shop/closer': await closingService('closer'),
    });
    await expect
      .poll(() => answerToCall('POST /closer/x'))
      .toBe('502 The service shop/closer closed the connection before it answered.');
  });

  test('P31: another service answers than the one called', async () => {
    const { cart, web, closedPort } = pods;
    const before = cart.process.accepted;
    web.locate({
      'shop/cart': cart.servicePort,
      'shop/down': closedPort,
      'shop/impostor': cart.servicePort,
    });
    await expect
      .poll(() => answerToCall('GET /impostor/x'))
      .toMatch(/^502 The service that answers at the address of shop\/impostor is another one/);
    expect(cart.process.accepted).toBe(before);
  });

  test('P6, P11: the response of the process is malformed, or switches protocols', async () => {
    const responses: readonly string[] = [
      'HTTP/1.1 200 OK\nContent-Length: 0\n\n',
      'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\nok',
      'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
      'HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n',
      'ICY 200 OK\r\n\r\n',
    ];
    for (const response of responses) {
      const client = await pods.web.connectAs(GATEWAY_ID);
      client.write(`POST / HTTP/1.1\r\nContent-Length: 0\r\n${CLIENT_FIELDS}`);
      const process = await pods.web.process.next();
      await process.head();
      process.write(response);
      expect(await proxyAnswer(client)).toMatch(/^502 The process sent/);
    }
  });
});

describe('503', () => {
  test('a called service cannot be found: its name, and the project of another', async () => {
    expect(await answerToCall('GET /nobody/x')).toBe('503 The service nobody cannot be found.');
    expect(await answerToCall('GET /nobody.finance/x')).toBe(
      '503 The service nobody of the project finance cannot be found.',
    );
  });

  test('a called service is found, and does not listen', async () => {
    expect(await answerToCall('GET /down/x')).toBe('503 The service shop/down is not listening.');
  });

  test("a mount's service cannot be found or reached", async () => {
    expect(await answerTo(GATEWAY_ID, 'GET /gone/x')).toMatch(
      /^503 The service gone, which is mounted/,
    );
    expect(await answerTo(idOf('billing'), 'GET /down')).toMatch(
      /^503 The service down, which is mounted/,
    );
  });
});

/** A pod whose limits a test meets at once. */
async function startStrict(): Promise<WebPod> {
  const folder = join(temporaryFolder(), 'pod');
  mkdirSync(folder);
  const pod = await WebPod.start({
    authority: pods.authority,
    folder,
    settings: {
      'svc.proxy.answer-timeout-ms': '300',
      'svc.proxy.head-timeout-ms': '300',
      'svc.proxy.body-timeout-ms': '300',
      'svc.proxy.requests-max': '1',
      'svc.proxy.headers-max': '10',
      'svc.proxy.head-bytes-max': '1024',
    },
  });
  onTestFinished(() => pod.end());
  return pod;
}

describe('with little time and room', () => {
  test('P25: 504, 503, 408, 431, 501 and 505 are answered in the same form', async () => {
    const pod = await startStrict();
    const ask = async (request: string): Promise<RawPeer> => {
      const client = await pod.connectAs(GATEWAY_ID);
      client.write(request);
      return client;
    };
    const get = `GET / HTTP/1.1\r\n${CLIENT_FIELDS}`;
    const late = await ask(get);
    const process = await pod.process.next();
    await process.head();
    const another = await ask(get);
    expect(await proxyAnswer(another)).toBe('503 Too many requests are in flight.');
    expect(await proxyAnswer(late)).toBe(
      '504 The process did not begin to answer within 0.3 seconds.',
    );
    // P16: the late response has no connection any more.
    process.write('HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nlate');
    await process.rest();
    expect(late.received).toBe('');

    expect(await proxyAnswer(await ask('GET / HTTP/1.1\r\nHost: '))).toMatch(/^408 /);
    expect(
      await proxyAnswer(await ask(`POST / HTTP/1.1\r\nContent-Length: 5\r\n${CLIENT_FIELDS}ab`)),
    ).toMatch(/^408 /);
    const many = 'A: b\r\n'.repeat(10);
    expect(await proxyAnswer(await ask(`GET / HTTP/1.1\r\n${many}${CLIENT_FIELDS}`))).toMatch(
      /^431 /,
    );
    const long = `A: ${'b'.repeat(1024)}\r\n`;
    expect(await proxyAnswer(await ask(`GET / HTTP/1.1\r\n${long}${CLIENT_FIELDS}`))).toMatch(
      /^431 /,
    );
    const coded = 'Transfer-Encoding: gzip, chunked\r\n';
    expect(await proxyAnswer(await ask(`POST / HTTP/1.1\r\n${coded}${CLIENT_FIELDS}`))).toMatch(
      /^501 /,
    );
    expect(await proxyAnswer(await ask('CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n'))).toMatch(
      /^501 /,
    );
    expect(await proxyAnswer(await ask(`GET / HTTP/1.2\r\n${CLIENT_FIELDS}`))).toMatch(/^505 /);

    pod.process.close();
    expect(await proxyAnswer(await ask(get))).toBe('503 The process is not listening.');
  });
});
