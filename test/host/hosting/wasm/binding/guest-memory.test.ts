// Values of the canonical ABI: strings in every encoding in both directions, and that every invalid value of a module
// is a GuestFault.
import { describe, expect, test } from 'vitest';
import type { EndpointResponse } from '../../../../../model/endpoint.ts';
import type { GuestParts } from '../support/guest-module.ts';
import {
  CONTEXT,
  entityRef,
  faultOf,
  hostCalls,
  liveGuest,
  request,
} from '../support/live-guest.ts';

const TEXTS = [
  '',
  'a',
  'hello',
  'x'.repeat(12),
  'x'.repeat(13),
  'x'.repeat(31),
  'x'.repeat(32),
  'x'.repeat(33),
  'x'.repeat(5000),
  'grüße',
  'ü'.repeat(12),
  '☃'.repeat(13),
  'ü'.repeat(40),
  '☃ snow',
  '😀',
  `${'y'.repeat(40)}😀`,
  '\u0000\u007f\u0080\u00ff\u0100\uffff',
  '\uFEFFbyte order mark',
];
const ECHO = `(drop (call $clear))
  (i32.store (i32.const 20) (local.get $input)) (i32.store (i32.const 24) (local.get $input-length))
  (i32.const 16)`;

describe.each(['utf8', 'utf16', 'latin1+utf16'] as const)('strings in %s', (encoding) => {
  test('go into a module and come back unchanged', async () => {
    const guest = await liveGuest({ query: ECHO }, {}, encoding);
    const entity = await guest.entities.open(entityRef('a'), undefined);
    for (const text of TEXTS)
      expect(entity.query(CONTEXT, 'q', text)).toEqual({ kind: 'reply', json: text });
  });

  test('with half a surrogate pair go in with its replacement', async () => {
    const guest = await liveGuest({ query: ECHO }, {}, encoding);
    const entity = await guest.entities.open(entityRef('a'), undefined);
    for (const text of ['a\uD800b', `${'x'.repeat(50)}\uDC00`])
      expect(entity.query(CONTEXT, 'q', text)).toEqual({
        kind: 'reply',
        json: text.toWellFormed(),
      });
  });
});

/** A query that replies with the string at this pointer and length; the bytes are written before. */
const replying = (pointer: number, length: number, before = '') => ({
  query: `(drop (call $clear)) ${before}
    (i32.store (i32.const 20) (i32.const ${pointer})) (i32.store (i32.const 24) (i32.const ${length}))
    (i32.const 16)`,
});

describe('a string of a module is a fault', () => {
  test.each([
    ['with a pointer out of the memory', 'utf8', replying(0x7fff_fff0, 10)],
    ['with a negative pointer', 'utf8', replying(-16, 4)],
    ['with a huge length', 'utf8', replying(64, 0x7fff_ffff)],
    ['with a length of 4 GiB', 'utf16', replying(64, -1)],
    ['that ends one byte behind the memory', 'utf8', replying(131_072 - 4, 5)],
    ['at an odd address in UTF-16', 'utf16', replying(65, 2)],
    ['at an odd address in Latin-1', 'latin1+utf16', replying(65, 2)],
    ['tagged as UTF-16, at an odd address', 'latin1+utf16', replying(65, 0x8000_0002 | 0)],
    ['tagged as UTF-16, of a huge length', 'latin1+utf16', replying(64, -1)],
    [
      'with the first half of a pair',
      'utf16',
      replying(64, 1, '(i32.store16 (i32.const 64) (i32.const 0xd800))'),
    ],
    [
      'with the second half of a pair',
      'utf16',
      replying(64, 2, '(i32.store (i32.const 64) (i32.const 0xdc000041))'),
    ],
    [
      'with half a pair in a long text',
      'utf16',
      replying(4096, 100, '(i32.store16 (i32.const 4200) (i32.const 0xd800))'),
    ],
    [
      'with a byte that is not UTF-8',
      'utf8',
      replying(64, 1, '(i32.store8 (i32.const 64) (i32.const 0xff))'),
    ],
    [
      'with an over-long form of UTF-8',
      'utf8',
      replying(64, 2, '(i32.store16 (i32.const 64) (i32.const 0x80c0))'),
    ],
    [
      'with a surrogate in UTF-8',
      'utf8',
      replying(64, 3, '(i32.store (i32.const 64) (i32.const 0x80a0ed))'),
    ],
    [
      'with a cut UTF-8 sequence at its end',
      'utf8',
      replying(4096, 100, '(i32.store8 (i32.const 4195) (i32.const 0xc3))'),
    ],
  ] as const)('%s', async (_what, encoding, parts) => {
    const guest = await liveGuest(parts, {}, encoding);
    const entity = await guest.entities.open(entityRef('a'), undefined);
    const fault = await faultOf(() => entity.query(CONTEXT, 'q', ''));
    expect(fault.faultCause).toBe('value');
    expect(entity.lost).toBe(true);
  });
});

const store = (at: number, value: number) => `(i32.store (i32.const ${at}) (i32.const ${value}))`;
const store8 = (at: number, value: number) => `(i32.store8 (i32.const ${at}) (i32.const ${value}))`;
const commanding = (body: string, result = 16) => ({
  command: `(drop (call $clear)) ${body} (i32.const ${result})`,
});

describe('a result of a command is a fault', () => {
  test.each([
    ['at an address out of the memory', commanding('', 0x7fff_ffff)],
    ['at a negative address', commanding('', -4)],
    ['at an unaligned address', commanding('', 18)],
    ['that does not fit at the end of the memory', commanding('', 131_072 - 32)],
    ['with a tag that no result has', commanding(store8(16, 2))],
    ['with a code that no refusal has', commanding(store8(16, 1) + store8(20, 8))],
    ['with details that are neither there nor not', commanding(store8(16, 1) + store8(40, 3))],
    ['with an unaligned list of events', commanding(store(20, 4097) + store(24, 1))],
    ['with a list of 4 thousand million events', commanding(store(20, 4096) + store(24, -1))],
    ['with a list that ends behind the memory', commanding(store(20, 131_072 - 16) + store(24, 2))],
    [
      'with an event whose text lies outside',
      commanding(store(20, 4096) + store(24, 1) + store(4104, -1) + store(4108, 9)),
    ],
  ])('%s', async (_what, parts) => {
    const guest = await liveGuest(parts);
    const entity = await guest.entities.open(entityRef('a'), undefined);
    const fault = await faultOf(() => entity.command(CONTEXT, 'c', ''));
    expect(fault.faultCause).toBe('value');
  });
});

describe('what a command would store is too large', () => {
  const refused = {
    kind: 'refusal',
    message: expect.stringContaining('SVC_EVENT_TOO_LARGE') as string,
  };

  test('when it is one buffer a thousand times over', async () => {
    const bomb = `(local $at i32) (drop (call $clear))
      (local.set $at (i32.const 4096))
      (loop $next
        (i32.store (local.get $at) (i32.const 65536))
        (i32.store offset=4 (local.get $at) (i32.const 65536))
        (i32.store offset=8 (local.get $at) (i32.const 65536))
        (i32.store offset=12 (local.get $at) (i32.const 65536))
        (local.set $at (i32.add (local.get $at) (i32.const 16)))
        (br_if $next (i32.lt_u (local.get $at) (i32.const 20096))))
      ${store(20, 4096)} ${store(24, 1000)} (i32.const 16)`;
    const guest = await liveGuest({ command: bomb });
    const entity = await guest.entities.open(entityRef('a'), undefined);
    expect(await entity.command(CONTEXT, 'c', '')).toMatchObject(refused);
  });

  test('when it is a long list of nothing', async () => {
    const guest = await liveGuest(commanding(store(20, 4096) + store(24, 7000)), {
      liftedBytesMax: 7000 * 64 - 1,
    });
    const entity = await guest.entities.open(entityRef('a'), undefined);
    expect(await entity.command(CONTEXT, 'c', '')).toMatchObject(refused);
  });
});

describe('memory that a module gives is a fault', () => {
  test.each([
    ['at nothing', '(i32.const 0)'],
    ['out of its bounds', '(i32.const 0x7ffffff0)'],
    ['at a negative address', '(i32.const -2)'],
    ['that is too short at its end', '(i32.const 131070)'],
    ['that is unaligned', '(i32.const 4097)'],
  ])('%s', async (_what, realloc) => {
    const guest = await liveGuest({ realloc }, {}, 'utf16');
    const fault = await faultOf(() => guest.entities.open(entityRef('a'), undefined));
    expect(fault.faultCause).toBe('value');
  });

  test('when the module traps instead, and that is a trap', async () => {
    const guest = await liveGuest({ realloc: 'unreachable' });
    const fault = await faultOf(() => guest.entities.open(entityRef('a'), undefined));
    expect(fault.faultCause).toBe('trap');
  });

  test('when there is none left, and the fault says memory', async () => {
    const guest = await liveGuest({}, { memoryPagesMax: 3 });
    const entity = await guest.entities.open(entityRef('a'), undefined);
    const fault = await faultOf(() => entity.query(CONTEXT, 'q', 'x'.repeat(200_000)));
    expect(fault.faultCause).toBe('memory');
  });
});

describe('a response of a handler is a fault', () => {
  test.each([
    ['with a body of an unknown kind', responding(200, store8(32, 4))],
    ['with bytes out of the memory', responding(200, store8(32, 3) + store(36, -1) + store(40, 5))],
  ])('%s', async (_what, parts) => {
    const guest = await liveGuest(parts);
    const fault = await faultOf(() => guest.endpoints.handle(CONTEXT, request(0), hostCalls()));
    expect(fault.faultCause).toBe('value');
  });

  test('and a good one is not', async () => {
    const bytes = store8(32, 3) + store(36, 5000) + store(40, 3);
    const guest = await liveGuest(responding(599, header('X-Abc', 'd e\t~') + bytes));
    const answer = await guest.endpoints.handle(CONTEXT, request(0), hostCalls());
    expect(answer).toEqual({
      kind: 'response',
      status: 599,
      headers: [['X-Abc', 'd e\t~']],
      body: { kind: 'bytes', bytes: Uint8Array.from(Buffer.from('X-A')) },
    } satisfies EndpointResponse);
  });
});

test('bodies of every kind reach the handler', async () => {
  const echo = {
    handle: `(drop (call $clear)) (i32.store16 (i32.const 20) (i32.const 200))
      (i32.store8 (i32.const 32) (local.get $body-kind))
      (i32.store (i32.const 36) (local.get $body)) (i32.store (i32.const 40) (local.get $body-length))
      (i32.const 16)`,
  };
  const guest = await liveGuest(echo, {}, 'utf16');
  const bodies = [
    { kind: 'none' },
    { kind: 'json', text: '{"a":"ü"}' },
    { kind: 'text', text: '' },
    { kind: 'bytes', bytes: Uint8Array.of(0, 255, 7) },
    { kind: 'bytes', bytes: new Uint8Array() },
  ] as const;
  for (const body of bodies) {
    const answer = await guest.endpoints.handle(CONTEXT, request(0, { body }), hostCalls());
    expect(answer).toMatchObject({ body });
  }
});

function responding(status: number, body = ''): GuestParts {
  return {
    handle: `(drop (call $clear)) (i32.store16 (i32.const 20) (i32.const ${status})) ${body} (i32.const 16)`,
  };
}

function header(name: string, value: string): string {
  const pair = [5000, name.length, 5100, value.length];
  const pairAt = pair.map((word, index) => store(4096 + index * 4, word)).join('');
  return `${storeText(5000, name)} ${storeText(5100, value)} ${pairAt} ${store(24, 4096)} ${store(28, 1)}`;
}

function storeText(at: number, text: string): string {
  return Array.from(text, (character, index) => store8(at + index, character.charCodeAt(0))).join(
    '',
  );
}
