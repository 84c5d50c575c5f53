// The fields of a request: which pass to the process, under a mount and in a call, and which the proxy sets. Seen as the
// sender sees it who claims to be somebody else.
import { describe, expect, test } from 'vitest';
import type { Arrival, OwnService } from '../../forward/arrival.ts';
import {
  headForCall,
  headForInside,
  headForMount,
  headForProcess,
} from '../../forward/forwarded-head.ts';
import { passedTrailers } from '../../forward/request-fields.ts';
import {
  FROM_INTERNET,
  FROM_LOCAL,
  FROM_SERVICE,
  SHOP,
  UNDER_MOUNT,
  fieldsOf,
  headOf,
  linesOf,
} from './support/heads.ts';

const INTERNET_LINES = [
  'X-Svc-Caller: internet',
  'X-Forwarded-Proto: https',
  'X-Forwarded-Host: shop.example.com',
  'X-Forwarded-Port: 443',
];

function received(
  lines: readonly string[],
  arrival: Arrival = FROM_INTERNET,
  own: OwnService = SHOP,
): readonly string[] {
  return linesOf(headForProcess(headOf(['GET / HTTP/1.1', ...lines]), arrival, own).fields);
}

function called(lines: readonly string[]): readonly string[] {
  const to = { path: '/x', authority: 'cart.svc-shop.svc.cluster.local:9000' };
  return linesOf(headForCall(headOf(['GET /cart/x HTTP/1.1', ...lines]), to).fields);
}

function mounted(
  lines: readonly string[],
  arrival: Arrival = FROM_INTERNET,
  own: OwnService = SHOP,
): readonly string[] {
  const head = headOf(['GET /m/x HTTP/1.1', ...lines]);
  const to = { path: '/x', authority: 'cart.svc-shop.svc.cluster.local:9000' };
  return linesOf(headForMount(head, arrival, own, to).fields);
}

const HOST = 'Host: shop.example.com';
const CART = 'Host: cart.svc-shop.svc.cluster.local:9000';

describe('a request to the process', () => {
  test('has its fields in the order, case and repetition in which they arrived, and those of the platform behind', () => {
    const lines = ['accept: a', 'Host: shop.example.com', 'ACCEPT: b', 'X-Empty: ', 'x-Ä: \u00ff'];
    expect(received(lines)).toEqual([...lines, ...INTERNET_LINES]);
  });

  test('has one Host, also if it arrived without', () => {
    expect(received(['A: 1'], FROM_SERVICE)).toEqual([
      'Host: web.svc-shop.svc.cluster.local:9000',
      'A: 1',
      'X-Svc-Caller: service bank/ledger',
      'X-Forwarded-Proto: https',
      'X-Forwarded-Host: web.svc-shop.svc.cluster.local:9000',
      'X-Forwarded-Port: 9000',
    ]);
  });

  test('keeps traceparent and tracestate', () => {
    const trace = [
      'traceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
      'tracestate: a=b',
      'tracestate: c=d',
    ];
    for (const arrival of [FROM_INTERNET, FROM_SERVICE, FROM_LOCAL, UNDER_MOUNT])
      expect(received([HOST, ...trace], arrival)).toEqual(expect.arrayContaining(trace));
    expect(called([HOST, ...trace])).toEqual([CART, ...trace]);
    expect(mounted([HOST, ...trace])).toEqual(expect.arrayContaining(trace));
  });
});

describe('P8: fields of the hop', () => {
  const HOP = [
    'Connection: close',
    'connection: X-A, keep-alive',
    'Keep-Alive: timeout=5',
    'Proxy-Authenticate: Basic',
    'Proxy-Authorization: Basic eA==',
    'Proxy-Connection: keep-alive',
    'TE: trailers',
    'Trailer: X-T',
    'Transfer-Encoding: chunked',
    'Upgrade: websocket',
    'x-a: nominated',
  ];

  test('never pass', () => {
    expect(received([HOST, ...HOP])).toEqual([HOST, ...INTERNET_LINES]);
    expect(called([HOST, ...HOP])).toEqual([CART]);
    expect(mounted([HOST, ...HOP])).toEqual([CART, ...INTERNET_LINES.slice(1)]);
  });

  test.each([
    'Host',
    'Content-Length',
    'Authorization',
    'Cookie',
    'Expect',
    'traceparent',
    'tracestate',
    'X-Forwarded-For',
    'X-Forwarded-Prefix',
    'X-Forwarded-Proto',
    'X_Forwarded_Prefix',
  ])('never include %s, although Connection nominates it', (name) => {
    const lines = received([`Connection: ${name.toUpperCase()} , ${name}`, HOST, `${name}: 1`]);
    const value = ['Host', 'X-Forwarded-Proto'].includes(name) ? '.+' : '1';
    expect(lines.filter((line) => new RegExp(`^${name}: ${value}$`, 'i').test(line))).toHaveLength(
      1,
    );
  });

  test('cannot include the fields that the proxy sets', () => {
    const nominated = 'Connection: X-Svc-Caller, X-Forwarded-Host, X-Forwarded-Port, Host';
    expect(received([nominated, HOST])).toEqual([HOST, ...INTERNET_LINES]);
  });

  test('are nominated by their whole names, in any case, in several fields, also among empty options', () => {
    const lines = ['Connection: ,, x-a ,', 'CONNECTION:\tX-B', 'X-A: 1', 'X-AB: 2', 'X-b: 3'];
    expect(received([HOST, ...lines])).toEqual([HOST, 'X-AB: 2', ...INTERNET_LINES]);
  });

  test('that ask for an upgrade are removed with what Connection nominates for it', () => {
    const upgrade = ['Connection: Upgrade, HTTP2-Settings', 'Upgrade: h2c', 'HTTP2-Settings: AA'];
    expect(received([HOST, ...upgrade])).toEqual([HOST, ...INTERNET_LINES]);
  });
});

describe('P9: a request that claims what only the platform says', () => {
  test.each([
    'X-Svc-Caller: local',
    'x-svc-caller: service shop/admin',
    'X_Svc_Caller: local',
    'x-svc_caller: local',
    'X.Svc.Caller: local',
    'X~Svc-Caller: local',
    'X-Svc-Anything: 1',
    'X-SVC-: 1',
    'x_svc.a-name-with-more-than-thirty-two-letters: 1',
    'X-Svc-Answered-By: proxy',
    'Forwarded: for=1.2.3.4;host=evil',
    'FORWARDED: host=evil',
    'X-Forwarded-Proto: http',
    'X-FORWARDED-HOST: evil',
    'X_Forwarded_Host: evil',
    'X-Forwarded_Port: 1',
    'X_Forwarded_For: 1.2.3.4',
  ])('%s is removed, and as often as it comes', (line) => {
    expect(received([line, HOST, line, line])).toEqual([HOST, ...INTERNET_LINES]);
    expect(received([line, HOST], FROM_SERVICE)).not.toContain(line);
    expect(mounted([line, HOST, line])).toEqual([CART, ...INTERNET_LINES.slice(1)]);
  });

  test('other names that only resemble those pass', () => {
    const lines = ['X-Svcs: 1', 'XSvc-Caller: 1', 'X-Forwarded-Prefix: /a', 'Forwarded-By: x'];
    expect(received([HOST, ...lines])).toEqual([HOST, ...lines, ...INTERNET_LINES]);
  });

  test('a call has no X-Svc-*, and its other fields as they are', () => {
    const lines = [
      'Forwarded: host=a',
      'X-Forwarded-Host: a',
      'X-Forwarded-For: 1.2.3.4',
      'Date: x',
    ];
    expect(called(['X-Svc-Caller: local', 'X_svc_caller: local', HOST, ...lines])).toEqual([
      CART,
      ...lines,
    ]);
  });

  test('however many names were seen before', () => {
    for (let index = 0; index < 3000; index++) received([HOST, `X-Name-${index}: 1`]);
    expect(received([HOST, 'x-svc_CALLER: local', 'x-FORWARDED_host: evil'])).toEqual([
      HOST,
      ...INTERNET_LINES,
    ]);
  });
});

describe('P10: X-Forwarded-For', () => {
  const FOR = ['X-Forwarded-For: 1.2.3.4, 5.6.7.8', 'X-Accept: 1', 'x-forwarded-for: 9.9.9.9'];

  test('passes from the internet with all entries and in all fields', () => {
    expect(received([HOST, ...FOR])).toEqual([HOST, ...FOR, ...INTERNET_LINES]);
    expect(mounted([HOST, ...FOR])).toEqual([CART, ...FOR, ...INTERNET_LINES.slice(1)]);
    expect(received([HOST, ...FOR], UNDER_MOUNT)).toEqual(expect.arrayContaining(FOR));
  });

  test("is removed from a service's request, also under a mount", () => {
    expect(received([HOST, ...FOR], FROM_SERVICE).filter((line) => /for:/i.test(line))).toEqual([]);
    expect(mounted([HOST, ...FOR], FROM_SERVICE).filter((line) => /for:/i.test(line))).toEqual([]);
  });

  test('cannot get an entry behind that of the gateway through a name that CGI folds', () => {
    const lines = ['X-Forwarded-For: 5.6.7.8', 'X_Forwarded-For: 1.2.3.4'];
    expect(received([HOST, ...lines])).toEqual([HOST, lines[0], ...INTERNET_LINES]);
  });
});

describe('P14: trailers', () => {
  test('pass without the fields of the hop, of the platform, and those without a meaning in trailers', () => {
    const trailers = fieldsOf([
      'X-Checksum: 1',
      'X-Svc-Caller: local',
      'x_svc_caller: local',
      'X-Svc-Answered-By: proxy',
      'Forwarded: host=evil',
      'X-Forwarded-For: 1.2.3.4',
      'X-Forwarded-Host: evil',
      'Host: evil',
      'Connection: X-Checksum',
      'Transfer-Encoding: chunked',
      'Content-Length: 5',
      'Authorization: Bearer x',
      'Server-Timing: a',
    ]);
    expect(linesOf(passedTrailers(trailers))).toEqual(['X-Checksum: 1', 'Server-Timing: a']);
  });
});

describe('a request under a mount', () => {
  test('informs the mounted service of the address that the process would have been informed of', () => {
    expect(mounted([HOST, 'X-Forwarded-Host: evil'], FROM_INTERNET)).toEqual([
      CART,
      'X-Forwarded-Proto: https',
      'X-Forwarded-Host: shop.example.com',
      'X-Forwarded-Port: 443',
    ]);
    expect(mounted([HOST], FROM_SERVICE)).toEqual([
      CART,
      'X-Forwarded-Proto: https',
      'X-Forwarded-Host: web.svc-shop.svc.cluster.local:9000',
      'X-Forwarded-Port: 9000',
    ]);
  });

  test('has no caller: the connection alone names it', () => {
    expect(mounted([HOST, 'X-Svc-Caller: local']).join()).not.toMatch(/svc-caller/i);
  });

  test('states no address without a base domain', () => {
    const lines = [
      HOST,
      'X-Forwarded-Host: evil',
      'X-Forwarded-Proto: http',
      'X_Forwarded_Port: 1',
    ];
    expect(mounted(lines, FROM_INTERNET, { ...SHOP, baseDomain: undefined })).toEqual([CART]);
  });

  test('keeps a stated address through a second mount', () => {
    const stated = ['X-Forwarded-Proto: https', 'X-Forwarded-Host: a.example.com:8443'];
    expect(mounted([CART, ...stated, 'X-Forwarded-Port: 1'], UNDER_MOUNT)).toEqual([
      CART,
      ...stated,
      'X-Forwarded-Port: 8443',
    ]);
  });
});

describe('a request from the gateway on', () => {
  const address = { scheme: 'https', authority: 'cart.svc.test:8443', port: 8443 } as const;
  const passed = (lines: readonly string[]): readonly string[] =>
    linesOf(headForInside(headOf(['GET / HTTP/1.1', ...lines]), address, '192.0.2.1').fields);
  const BEHIND = [
    'X-Forwarded-Proto: https',
    'X-Forwarded-Host: cart.svc.test:8443',
    'X-Forwarded-Port: 8443',
  ];

  test('has the address of the client behind those that it has stated, in one field', () => {
    const lines = [
      'Host: cart.svc.test',
      'x-forwarded-for: 1.1.1.1',
      'A: 1',
      'X-Forwarded-For: ',
      'X-FORWARDED-FOR: 2.2.2.2, 3.3.3.3',
    ];
    expect(passed(lines)).toEqual([
      'Host: cart.svc.test:8443',
      'A: 1',
      'X-Forwarded-For: 1.1.1.1, 2.2.2.2, 3.3.3.3, 192.0.2.1',
      ...BEHIND,
    ]);
  });

  test('has nothing by which it claims to come from the platform, also if Connection names that', () => {
    const claims = [
      'X-Svc-Caller: local',
      'x_svc_caller: local',
      'X.Svc.Anything: 1',
      'X-Svc-Answered-By: proxy',
      'Forwarded: for=1.1.1.1',
      'X-Forwarded-Host: evil.test',
      'X_Forwarded_Proto: http',
      'X.Forwarded.For: 1.1.1.1',
      'Connection: close, X-Forwarded-For, X-Forwarded-Proto, Kept',
      'Kept: no',
      'Trailer: X-Svc-Caller',
    ];
    expect(passed(['Host: cart.svc.test', ...claims])).toEqual([
      'Host: cart.svc.test:8443',
      'X-Forwarded-For: 192.0.2.1',
      ...BEHIND,
    ]);
  });
});
