// What passes the proxy, through the real program on raw sockets: requests to the process, calls and mounts.
import { describe, expect, test } from 'vitest';
import { proxyAnswer, type RawPeer } from '../forward/support/raw-peer.ts';
import { passed as passedTo, received } from '../support/web-pods/passed-request.ts';
import { podPairOfFile } from '../support/web-pods/pod-pair.ts';
import { GATEWAY_ID, idOf, type WebPod } from '../support/web-pods/web-pod.ts';

const pods = podPairOfFile();

/** Sends a request that reaches the process of web or of the given pod, and returns its lines there. */
async function passed(
  client: RawPeer,
  lines: readonly string[],
  to: WebPod = pods.web,
): Promise<readonly string[]> {
  return passedTo(client, lines, to);
}

/** Fields that claim what the sender is not, and those of one connection. */
const CLAIMS = [
  'X-Svc-Caller: local',
  'x-svc-caller: internet',
  'X_Svc_Caller: service shop/cart',
  'X-Svc-Anything: 1',
  'Forwarded: for=1.2.3.4',
  'X-Forwarded-Proto: http',
  'X_Forwarded_Host: evil.example.com',
  'X-Forwarded-Host: evil.example.com',
  'X-Forwarded-Port: 1',
  'Connection: keep-alive, X-Mine, Authorization, X-Forwarded-For',
  'Keep-Alive: timeout=5',
  'Proxy-Authenticate: Basic',
  'Proxy-Authorization: Basic abc',
  'Proxy-Connection: keep-alive',
  'TE: trailers',
  'Trailer: A',
  'Upgrade: websocket',
  'X-Mine: 1',
];
/** Fields that pass. */
const PASSING = [
  'Authorization: Bearer a',
  'accept: a',
  'ACCEPT: b',
  'X-Empty: ',
  'X-Latin: \u00ff',
  'Cookie: c=1',
  'traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
  'tracestate: a=b',
];
const ALL = [
  ...CLAIMS,
  'X-Forwarded-For: 203.0.113.9, 10.0.0.1',
  'X-Forwarded-For: 10.0.0.2',
  ...PASSING,
];
const FORWARDED_FOR = ['X-Forwarded-For: 203.0.113.9, 10.0.0.1', 'X-Forwarded-For: 10.0.0.2'];

describe('a request of the internet', () => {
  test('P8, P9, P10: reaches the process with what the proxy sets, and without what it removes', async () => {
    const client = await pods.web.connectAs(GATEWAY_ID);
    expect(
      await passed(client, ['GET /a%2Fb?c=%zz HTTP/1.1', 'Host: Shop.Example.com', ...ALL]),
    ).toEqual([
      'GET /a%2Fb?c=%zz HTTP/1.1',
      'Host: shop.example.com',
      ...FORWARDED_FOR,
      ...PASSING,
      'X-Svc-Caller: internet',
      'X-Forwarded-Proto: https',
      'X-Forwarded-Host: shop.example.com',
      'X-Forwarded-Port: 443',
    ]);
  });

  test('P38: has its authority with a port that is not the own one of https, and that of an absolute target', async () => {
    const client = await pods.web.connectAs(GATEWAY_ID);
    const authorities: readonly (readonly [string, string, string])[] = [
      ['shop.example.com:8443', 'shop.example.com:8443', '8443'],
      ['shop.example.com:443', 'shop.example.com', '443'],
      ['SHOP.example.com.', 'shop.example.com', '443'],
      ['[2001:db8::1]:8443', '[2001:db8::1]:8443', '8443'],
    ];
    for (const [host, authority, port] of authorities)
      expect(await passed(client, ['GET / HTTP/1.1', `Host: ${host}`])).toEqual([
        'GET / HTTP/1.1',
        `Host: ${authority}`,
        'X-Svc-Caller: internet',
        'X-Forwarded-Proto: https',
        `X-Forwarded-Host: ${authority}`,
        `X-Forwarded-Port: ${port}`,
      ]);
    const absolute = ['GET https://shop.example.com/x?y HTTP/1.1', 'Host: other.example.com'];
    expect((await passed(client, absolute)).slice(0, 2)).toEqual([
      'GET /x?y HTTP/1.1',
      'Host: shop.example.com',
    ]);
  });

  test('P37: has no X-Forwarded-* and its own Host in an installation without a base domain', async () => {
    const client = await pods.cart.connectAs(GATEWAY_ID);
    expect(
      await passed(client, ['GET / HTTP/1.1', 'Host: Cart.Example.com:1', ...ALL], pods.cart),
    ).toEqual([
      'GET / HTTP/1.1',
      'Host: Cart.Example.com:1',
      ...FORWARDED_FOR,
      ...PASSING,
      'X-Svc-Caller: internet',
    ]);
  });

  test('P40: has any method', async () => {
    const client = await pods.web.connectAs(GATEWAY_ID);
    for (const method of ['PATCH', 'PROPFIND', 'QUERY', 'M-SEARCH', 'TRACE', 'x~unknown'])
      expect((await passed(client, [`${method} / HTTP/1.1`, 'Host: a']))[0]).toBe(
        `${method} / HTTP/1.1`,
      );
    expect((await passed(client, ['OPTIONS * HTTP/1.1', 'Host: a']))[0]).toBe('OPTIONS * HTTP/1.1');
  });

  test('P40: CONNECT is answered 501', async () => {
    const client = await pods.web.connectAs(GATEWAY_ID);
    client.write('CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n');
    expect(await proxyAnswer(client)).toMatch(/^501 /);
  });

  test('P11: that asks for an upgrade arrives without Upgrade and Connection', async () => {
    const client = await pods.web.connectAs(GATEWAY_ID);
    for (const lines of [
      ['Upgrade: websocket', 'Connection: Upgrade'],
      ['Upgrade: h2c', 'Connection: Upgrade, HTTP2-Settings', 'HTTP2-Settings: a'],
      ['Upgrade: websocket'],
    ]) {
      const seen = await passed(client, ['GET / HTTP/1.1', 'Host: a', 'Sec-A: b', ...lines]);
      expect(seen).toContain('Sec-A: b');
      expect(seen.filter((line) => /^(?:upgrade|connection|http2)/i.test(line))).toEqual([]);
    }
  });

  test('P39: has the bytes of its path and fields as they were sent', async () => {
    const client = await pods.web.connectAs(GATEWAY_ID);
    for (const path of ['/%00', '/%zz', '/a;params=1', '/%C3%28?x=%'])
      expect(
        await passed(client, [`GET ${path} HTTP/1.1`, 'Host: a', 'X-Bytes: \u00c3\u0028\u00ff']),
      ).toEqual(expect.arrayContaining([`GET ${path} HTTP/1.1`, 'X-Bytes: \u00c3\u0028\u00ff']));
  });

  test('P24: with more fields or bytes than that is answered 431', async () => {
    for (const lines of [
      Array.from({ length: 5000 }, (_, index) => `A${index}: b`),
      [`A: ${'x'.repeat(64 * 1024)}`],
      ['B: c', `C: ${'x'.repeat(100_000)}`],
    ]) {
      const client = await pods.web.connectAs(GATEWAY_ID);
      client.write(`GET / HTTP/1.1\r\nHost: a\r\n${lines.join('\r\n')}\r\n\r\n`);
      expect(await proxyAnswer(client)).toMatch(/^431 /);
    }
  });

  test('P24: has up to 2,000 fields and 64 KiB, none of them lost', async () => {
    const client = await pods.web.connectAs(GATEWAY_ID);
    const many = Array.from({ length: 1999 }, (_, index) => `A${index}: b`);
    expect((await passed(client, ['GET / HTTP/1.1', 'Host: a', ...many])).slice(2, -4)).toEqual(
      many,
    );
    const long = `/${'x'.repeat(60_000)}`;
    expect((await passed(client, [`GET ${long} HTTP/1.1`, 'Host: a']))[0]).toBe(
      `GET ${long} HTTP/1.1`,
    );
  });
});

function ownHost(): string {
  return `web.svc-shop.svc.cluster.local:${pods.web.servicePort}`;
}

describe('a request of a service', () => {
  test('has its caller, the address within the cluster and no X-Forwarded-For', async () => {
    for (const [id, caller] of [
      [idOf('billing'), 'shop/billing'],
      [idOf('ledger', 'finance'), 'finance/ledger'],
      [idOf('web'), 'shop/web'],
    ] as const) {
      const client = await pods.web.connectAs(id);
      expect(await passed(client, ['GET / HTTP/1.1', 'Host: evil.example.com', ...ALL])).toEqual([
        'GET / HTTP/1.1',
        `Host: ${ownHost()}`,
        ...PASSING,
        `X-Svc-Caller: service ${caller}`,
        'X-Forwarded-Proto: https',
        `X-Forwarded-Host: ${ownHost()}`,
        `X-Forwarded-Port: ${pods.web.servicePort}`,
      ]);
    }
  });
});

describe('P27: a call', () => {
  test('reaches the called service as one of the calling service', async () => {
    const caller = await pods.web.connectToCall();
    const host = `cart.svc-shop.svc.cluster.local:${pods.cart.servicePort}`;
    const lines = ['PUT /cart/items%2F1?x=1 HTTP/1.1', 'Host: 127.0.0.1', ...ALL];
    expect(await passed(caller, lines, pods.cart)).toEqual([
      'PUT /items%2F1?x=1 HTTP/1.1',
      `Host: ${host}`,
      ...PASSING,
      'X-Svc-Caller: service shop/web',
      'X-Forwarded-Proto: https',
      `X-Forwarded-Host: ${host}`,
      `X-Forwarded-Port: ${pods.cart.servicePort}`,
    ]);
    expect((await passed(caller, ['GET /cart.shop?a HTTP/1.1', 'Host: x'], pods.cart))[0]).toBe(
      'GET /?a HTTP/1.1',
    );
  });

  test('has its path as it was sent, also where a reading of it would leave the service', async () => {
    const caller = await pods.web.connectToCall();
    for (const path of ['/%2F..%2F', '/%2e%2e/web/x', '/../web', '//web/x'])
      expect((await passed(caller, [`GET /cart${path} HTTP/1.1`, 'Host: x'], pods.cart))[0]).toBe(
        `GET ${path} HTTP/1.1`,
      );
  });

  test('passes a redirect, and keeps the mark of a proxy that answers for the service', async () => {
    const caller = await pods.web.connectToCall();
    caller.write('GET /cart/a HTTP/1.1\r\nHost: x\r\n\r\n');
    await received(pods.cart, 'HTTP/1.1 302 Found\r\nLocation: /b\r\nContent-Length: 0\r\n\r\n');
    expect((await caller.message()).lines).toEqual([
      'HTTP/1.1 302 Found',
      'Location: /b',
      'Content-Length: 0',
    ]);
    caller.write('GET /cart/a HTTP/1.1\r\nHost: x\r\n\r\n');
    await received(pods.cart, 'nonsense\r\n\r\n');
    const { lines, body } = await caller.message();
    expect(lines).toContain('X-Svc-Answered-By: proxy');
    expect(body).toMatch(/The process sent a response that is not valid/);
  });
});

describe('P26: a request under a mount', () => {
  test('reaches the mounted service as one of the internet, with what the first proxy stated', async () => {
    for (const id of [GATEWAY_ID, idOf('billing')]) {
      const client = await pods.web.connectAs(id);
      const isInternet = id === GATEWAY_ID;
      const authority = isInternet
        ? 'shop.example.com'
        : `web.svc-shop.svc.cluster.local:${pods.web.servicePort}`;
      const lines = ['POST /cart/items?x HTTP/1.1', 'Host: shop.example.com', ...ALL];
      const seen = await passed(client, lines, pods.cart);
      expect(seen.toSorted()).toEqual(
        [
          'POST /items?x HTTP/1.1',
          `Host: ${authority}`,
          ...(isInternet ? FORWARDED_FOR : []),
          ...PASSING,
          'X-Svc-Caller: internet',
          'X-Forwarded-Proto: https',
          `X-Forwarded-Host: ${authority}`,
          `X-Forwarded-Port: ${isInternet ? 443 : pods.web.servicePort}`,
        ].toSorted(),
      );
    }
  });

  test('P itself becomes /, and whole segments are compared', async () => {
    const client = await pods.web.connectAs(GATEWAY_ID);
    const ask = async (path: string, to: WebPod) =>
      (await passed(client, [`GET ${path} HTTP/1.1`, 'Host: a'], to))[0];
    expect(await ask('/cart', pods.cart)).toBe('GET / HTTP/1.1');
    expect(await ask('/cart?x', pods.cart)).toBe('GET /?x HTTP/1.1');
    expect(await ask('/cart/', pods.cart)).toBe('GET / HTTP/1.1');
    expect(await ask('/carts', pods.web)).toBe('GET /carts HTTP/1.1');
    expect(await ask('/CART', pods.web)).toBe('GET /CART HTTP/1.1');
    expect(await ask('https://shop.example.com/cart/x', pods.cart)).toBe('GET /x HTTP/1.1');
  });
});
