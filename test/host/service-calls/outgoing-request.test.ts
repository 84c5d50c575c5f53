// What of a module's request may leave the runtime: the module is the attacker, who wants another service, another request behind
// the first, or a head that says what only the runtime may say.
import { describe, expect, test } from 'vitest';
import type { Metadata } from '../../../model/call.ts';
import type { ServiceRequest } from '../../../model/service-call.ts';
import { outgoingRequest } from '../../../host/service-calls/outgoing-request.ts';
import { encodeRequestHead, RequestReader, DEFAULT_MESSAGE_LIMITS } from '../../../http1/index.ts';
import { SvcError } from '../../../kit/svc-error.ts';
import { Random } from '../../support/random.ts';

const LIMITS = { requestBytesMax: 10 };
const TRACE: Metadata = [
  ['traceparent', `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`],
  ['tracestate', 'v=1'],
  ['other', 'x'],
];

function outgoing(given: Partial<ServiceRequest>, metadata: Metadata = []) {
  return outgoingRequest(
    { service: 'billing', method: 'GET', path: '/', headers: [], body: new Uint8Array(), ...given },
    metadata,
    LIMITS,
  );
}

function reasonOf(given: Partial<ServiceRequest>): string {
  try {
    outgoing(given);
  } catch (error) {
    if (error instanceof SvcError && error.code === 'SVC_SERVICE_CALL_DENIED') return error.message;
    throw error;
  }
  throw new Error('it was not denied');
}

describe('a request passes', () => {
  test('with its method, path, headers and body', () => {
    const body = Buffer.from('0123456789');
    const headers = [
      ['X-One', ' a b\t'],
      ['x-one', ''],
      ['Cookie', 'é'],
    ] as const;
    const path = '/a//b/../%2e%2e/%0d%0a?x=/y&z=\'!$()*+,;:@[]{}|\\^`"<>~';
    const passed = outgoing({ service: 'ledger.finance', method: 'PROPFIND', path, headers, body });
    expect(passed).toMatchObject({
      called: { service: 'ledger', project: 'finance' },
      method: 'PROPFIND',
      path,
      body,
    });
    expect(passed.fields.flat).toEqual(['X-One', 'a b', 'x-one', '', 'Cookie', 'é']);
  });

  test('with the trace of the call, whatever trace and length it states itself', () => {
    const headers = [
      ['TraceParent', 'mine'],
      ['tracestate', 'mine'],
      ['Content-Length', '99'],
      ['content-length', '3'],
      ['Expect', '100-continue'],
      ['a', 'b'],
    ] as const;
    expect(outgoing({ headers }, TRACE).fields.flat).toEqual([
      'a',
      'b',
      ...TRACE.slice(0, 2).flat(),
    ]);
  });

  test('without a trace that no header can carry', () => {
    const metadata: Metadata = [['tracestate', 'a\r\nx-svc-caller: internet']];
    expect(outgoing({}, metadata).fields.flat).toEqual([]);
  });
});

describe('a request is denied', () => {
  test.each([
    '',
    'Billing',
    'billing/x',
    'billing.',
    '.finance',
    'a.b.c',
    'bill ing',
    'billing\r\nHost: x',
    '127.0.0.1',
    'billing:80',
    '../billing',
    'bílling',
    'a'.repeat(128),
    'x'.repeat(1_000_000),
  ])('that names the service %j', (service) => {
    expect(reasonOf({ service })).toMatch(/is no name of a service: write 'billing'/);
  });

  test.each([
    '',
    'GET ',
    'G\rT',
    'GET / HTTP/1.1\r\n\r\nGET',
    'CONNECT',
    'TRACE',
    'A'.repeat(33),
    'GÉT',
  ])('that has the method %j', (method) => {
    expect(reasonOf({ method })).toMatch(/is no method that a request may have/);
  });

  test.each([
    '',
    '*',
    'invoices',
    'http://ledger/x',
    '//x y',
    '/a b',
    '/a HTTP/1.1\r\nx: y',
    '/a\r\n\r\nGET /b HTTP/1.1',
    '/a\n',
    '/a#b',
    '/é',
    '/\u0000',
    '/\u007f',
    '/\u{1f600}',
  ])('that has the path %j', (path) => {
    expect(reasonOf({ path })).toMatch(/must begin with a slash and have no space/);
  });

  test.each([
    ['a name without a character', '', 'x'],
    ['a name with a space', 'a b', 'x'],
    ['a name with a colon', 'a:', 'x'],
    ['a name with a line', 'a\r\nx', 'y'],
    ['a name beyond ASCII', 'é', 'x'],
    ['a value with a line', 'a', 'b\r\nx-svc-caller: internet'],
    ['a value with a line feed', 'a', 'b\nc'],
    ['a value with a return at its end', 'a', 'b\r'],
    ['a value with a NUL', 'a', 'b\u0000'],
    ['a value beyond Latin-1', 'a', '€'],
    ['a value whose character has a line feed as its lower byte', 'a', 'x\u010ay\u010d'],
  ])('that has %s', (_what, name, value) => {
    expect(reasonOf({ headers: [[name, value]] })).toMatch(/header/);
  });

  test('that is too large', () => {
    expect(reasonOf({ body: new Uint8Array(11) })).toMatch(/has 11 bytes, and the most is 10/);
    const many = Array.from({ length: 101 }, () => ['a', ''] as const);
    expect(reasonOf({ headers: many })).toMatch(/has 101 headers, and the most is 100/);
    expect(reasonOf({ path: `/${'a'.repeat(16_384)}` })).toMatch(/more than 16384 bytes/);
    expect(reasonOf({ headers: [['a', ' '.repeat(8_000_000)]] })).toMatch(/more than 16384 bytes/);
    const half = 'a'.repeat(8_192);
    expect(reasonOf({ path: `/${half}`, headers: [['a', half]] })).toMatch(/more than 16384/);
  });

  test('with a reason that shows harmful text escaped and shortened', () => {
    const reason = reasonOf({ path: `\u001b[31m\r\n${'x'.repeat(500)}` });
    expect(reason).not.toContain('\u001b');
    expect(reason).not.toContain('\n');
    expect(reason.length).toBeLessThan(400);
  });
});

/** Returns undefined if the request is denied. */
function passedOrDenied(given: Partial<ServiceRequest>) {
  try {
    return outgoing(given);
  } catch (error) {
    if (error instanceof SvcError) return undefined;
    throw error;
  }
}

test('what is not denied is always one head that a strict reader gives back', () => {
  const pieces = [
    '',
    'a',
    '/',
    '\r\n',
    '\n',
    '\u0000',
    ' ',
    '\t',
    ':',
    '#',
    'é',
    '€',
    '%0d%0a',
    'X-Y',
    '?',
    '\u010a',
    '*',
  ];
  const random = new Random(7);
  const next = (bound: number) => random.below(bound);
  const text = () => Array.from({ length: next(4) }, () => random.pick(pieces)).join('');
  let passed = 0;
  for (let round = 0; round < 20_000; round++) {
    const given = {
      method: next(2) === 0 ? 'GET' : text(),
      path: next(4) === 0 ? text() : `/${text()}`,
      headers: Array.from({ length: next(3) }, () => [`x${text()}`, text()] as const),
    };
    const head = passedOrDenied(given);
    if (head === undefined) continue;
    passed += 1;
    const { method, path, fields } = head;
    const reader = new RequestReader(DEFAULT_MESSAGE_LIMITS);
    const flat = ['Host', 'billing', ...fields.flat];
    reader.push(encodeRequestHead(method, path, '1.1', flat));
    expect(reader.next()).toMatchObject({
      kind: 'head',
      head: { method, target: path, fields: { flat } },
    });
    expect(reader.next()).toMatchObject({ kind: 'end' });
    expect(reader.betweenMessages).toBe(true);
  }
  expect(passed).toBeGreaterThan(500);
});
