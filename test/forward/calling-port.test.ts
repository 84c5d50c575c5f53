// Calls of the process and requests under a mount on raw sockets: what a called and a mounted service receive, and the answers
// where there is none.
import { describe, expect, test } from 'vitest';
import { ForwardingPorts } from './support/forwarding-ports.ts';
import { dial, proxyAnswer, RawListener, type RawPeer } from './support/raw-peer.ts';

const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';
const CART = 'Host: cart.svc-shop.svc.cluster.local:9000';

describe('P27: a call', () => {
  test('reaches the service with its method, fields and body, and gets its response whatever it is', async () => {
    const ports = await ForwardingPorts.open();
    const cart = await RawListener.open();
    ports.services.set('cart', [cart.port]);
    const client = await ports.call(
      'PATCH /cart/items?x=1 HTTP/1.1',
      'Host: 127.0.0.1:7630',
      'X-Svc-Caller: local',
      'Connection: keep-alive',
      'traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
      'Content-Length: 3',
      '',
      'abc',
    );
    const service = await cart.next();
    expect(await service.message()).toEqual({
      lines: [
        'PATCH /items?x=1 HTTP/1.1',
        CART,
        'traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
        'Content-Length: 3',
      ],
      body: 'abc',
    });
    const head = [
      'HTTP/1.1 302 Found',
      'Location: /elsewhere',
      'X-Svc-Answered-By: proxy',
      'Content-Length: 2',
    ];
    service.write(`${head.join('\r\n')}\r\n\r\nno`);
    expect(await client.message()).toEqual({ lines: head, body: 'no' });
    client.write('GET /cart HTTP/1.1\r\nHost: x\r\n\r\n');
    expect((await service.head())[0]).toBe('GET / HTTP/1.1');
  });

  test.each([
    ['/', /^400 The path names no service\. Call http:\/\/127\.0\.0\.1:7630\/<service>\/<path>/],
    ['//cart/x', /^400 The path names no service/],
    ['/a.b.c/x', /^400 The first segment of the path, "a\.b\.c", is no name of a service/],
    ['/%63art/x', /^400 The first segment of the path, "%63art"/],
    ['/none/x', /^503 The service none cannot be found\.$/],
    ['/none.bank/x', /^503 The service none of the project bank cannot be found\.$/],
  ])('of %s is answered by the proxy', async (path, expected) => {
    const ports = await ForwardingPorts.open();
    const client = await ports.call(
      `POST ${path} HTTP/1.1`,
      'Host: a',
      'Content-Length: 2',
      '',
      'ab',
    );
    expect(await proxyAnswer(client)).toMatch(expected);
  });

  test('of a service that does not listen is 503, after all its instances were tried', async () => {
    const ports = await ForwardingPorts.open();
    const closed = await RawListener.open();
    const { port } = closed;
    await closed.close();
    ports.services.set('cart', [port, port]);
    const client = await ports.call('GET /cart/x HTTP/1.1', 'Host: a');
    expect(await proxyAnswer(client)).toBe('503 The service shop/cart is not listening.');
    const cart = await RawListener.open();
    ports.services.set('cart', [port, cart.port]);
    client.write('POST /cart HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nab');
    const service = await cart.next();
    expect((await service.message()).body).toBe('ab');
    service.write(OK);
    expect((await client.message()).body).toBe('ok');
  });

  test('of a service that closes the connection is 502, and one of a service that is silent 504', async () => {
    const ports = await ForwardingPorts.open();
    const cart = await RawListener.open();
    ports.services.set('cart', [cart.port]);
    const client = await ports.call('POST /cart HTTP/1.1', 'Host: a', 'Content-Length: 0');
    const service = await cart.next();
    await service.head();
    service.socket.destroy();
    expect(await proxyAnswer(client)).toBe(
      '502 The service shop/cart closed the connection before it answered.',
    );
    client.write('GET /cart HTTP/1.1\r\nHost: a\r\n\r\n');
    await (await cart.next()).head();
    ports.advance(60_001);
    expect(await proxyAnswer(client)).toBe(
      '504 The service shop/cart did not begin to answer within 60 seconds.',
    );
  });

  test('that is a GET is sent once more on a new connection', async () => {
    const ports = await ForwardingPorts.open();
    const cart = await RawListener.open();
    ports.services.set('cart', [cart.port]);
    const client = await ports.call('GET /cart HTTP/1.1', 'Host: a');
    const first = await cart.next();
    await first.head();
    first.socket.destroy();
    const second = await cart.next();
    await second.head();
    second.write(OK);
    expect((await client.message()).body).toBe('ok');
  });

  test('that is not sent twice uses an idle connection only within half a second', async () => {
    const ports = await ForwardingPorts.open();
    const cart = await RawListener.open();
    ports.services.set('cart', [cart.port]);
    const ask = async (method: string): Promise<RawPeer> =>
      ports.call(`${method} /cart HTTP/1.1`, 'Host: a', 'Content-Length: 0');
    let client = await ask('POST');
    const first = await cart.next();
    for (const [idleMs, method] of [
      [400, 'POST'],
      [2000, 'GET'],
    ] as const) {
      await first.head();
      first.write(OK);
      await client.message();
      ports.advance(idleMs);
      client = await ask(method);
    }
    expect((await first.head())[0]).toBe('GET / HTTP/1.1');
    first.write(OK);
    await client.message();
    ports.advance(600);
    client = await ask('POST');
    const second = await cart.next();
    expect((await second.head())[0]).toBe('POST / HTTP/1.1');
    second.write(OK);
    expect((await client.message()).body).toBe('ok');
    expect(cart.accepted).toBe(2);
  });

  test('reaches the instances of a service in turns', async () => {
    const ports = await ForwardingPorts.open();
    const instances = [await RawListener.open(), await RawListener.open()];
    ports.services.set(
      'cart',
      instances.map(({ port }) => port),
    );
    for (const _ of [1, 2]) {
      const client = await ports.call('GET /cart HTTP/1.1', 'Host: a');
      const service = await Promise.race(instances.map(async (one) => one.next()));
      await service.head();
      service.write(OK);
      await client.message();
    }
    expect(instances.map(({ accepted }) => accepted)).toEqual([1, 1]);
  });
});

describe('a request under a mount', () => {
  const mounts = [{ path: '/cart', service: 'cart' }];

  test('reaches the mounted service without the prefix, with the address of the process', async () => {
    const ports = await ForwardingPorts.open({ mounts });
    const cart = await RawListener.open();
    ports.services.set('cart', [cart.port]);
    const client = await ports.request(
      'PUT /cart/items?x=1 HTTP/1.1',
      'Host: shop.example.com',
      'X-Svc-Caller: local',
      'X-Forwarded-For: 203.0.113.9',
      'X-Forwarded-Host: evil',
      'Transfer-Encoding: chunked',
      '',
      '3\r\nabc\r\n0\r\n\r\n',
    );
    const service = await cart.next();
    expect(await service.head()).toEqual([
      'PUT /items?x=1 HTTP/1.1',
      CART,
      'X-Forwarded-For: 203.0.113.9',
      'X-Forwarded-Proto: https',
      'X-Forwarded-Host: shop.example.com',
      'X-Forwarded-Port: 443',
      'Transfer-Encoding: chunked',
    ]);
    await service.take('3\r\nabc\r\n0\r\n\r\n');
    service.write(OK);
    expect((await client.message()).body).toBe('ok');
    expect(ports.process.accepted).toBe(0);
  });

  test('and one of the process use connections of their own to the same service', async () => {
    const ports = await ForwardingPorts.open({ mounts });
    const cart = await RawListener.open();
    ports.services.set('cart', [cart.port]);
    for (const send of [
      () => ports.request('GET /cart HTTP/1.1', 'Host: a'),
      () => ports.call('GET /cart HTTP/1.1', 'Host: a'),
    ]) {
      const client = await send();
      const service = await cart.next();
      await service.head();
      service.write(OK);
      await client.message();
    }
    expect(cart.accepted).toBe(2);
  });

  test('whose service is not found, or does not listen, is 503', async () => {
    const ports = await ForwardingPorts.open({ mounts });
    const client = await ports.request('GET /cart/x HTTP/1.1', 'Host: a');
    const unavailable = '503 The service cart, which is mounted here, cannot be found or reached.';
    expect(await proxyAnswer(client)).toBe(unavailable);
    const closed = await RawListener.open();
    await closed.close();
    ports.services.set('cart', [1]);
    client.write('GET /cart/x HTTP/1.1\r\nHost: a\r\n\r\n');
    expect(await proxyAnswer(client)).toBe(unavailable);
    expect(ports.reports).toEqual([
      'cart: the test has none',
      expect.stringMatching(/^cart: refused /),
    ]);
  });

  test.each(['/%63art/x', '//cart', '/x/../cart', '/cart/../x', '/cart;a/x'])(
    'P26: with a path of several readings is 400, and reaches nobody: %s',
    async (path) => {
      const ports = await ForwardingPorts.open({ mounts });
      const client = await dial(ports.servicePort);
      client.write(`GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`);
      expect(await proxyAnswer(client)).toMatch(/^400 The path can be read in several ways/);
      expect([ports.process.accepted, ports.reports]).toEqual([0, []]);
    },
  );

  test('is judged by the path of an absolute target', async () => {
    const ports = await ForwardingPorts.open({ mounts });
    const client = await ports.request('GET http://a/cart/x HTTP/1.1', 'Host: a');
    expect(await proxyAnswer(client)).toMatch(/^503 The service cart, /);
  });
});
