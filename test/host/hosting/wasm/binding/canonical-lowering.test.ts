// Values that the canonical ABI lowers into a module's memory: the bytes that the module finds there, the sizes that
// its cabi_realloc is asked for, and that nothing is lost if the memory grows meanwhile.
import { describe, expect, test } from 'vitest';
import type { StringEncoding } from '../../../../../host/hosting/wasm/binary/component-outline.ts';
import type { EndpointResponse } from '../../../../../model/endpoint.ts';
import { GROWING_REALLOC, answering, put8 } from '../support/canonical-guest.ts';
import { counter } from '../support/counter.ts';
import type { GuestParts } from '../support/guest-module.ts';
import {
  CONTEXT,
  entityRef,
  faultOf,
  hostCalls,
  liveGuest,
  request,
} from '../support/live-guest.ts';

/** Answers with the bytes of the text that it receives; the status is 201 if the top bit of the length is set. */
const bytesOfText = (encoding: StringEncoding): GuestParts => {
  const units = '(i32.and (local.get $body-length) (i32.const 0x7fffffff))';
  const tagged = '(i32.shr_u (local.get $body-length) (i32.const 31))';
  const shift = { utf8: '(i32.const 0)', utf16: '(i32.const 1)', 'latin1+utf16': tagged }[encoding];
  return answering(`(i32.store16 (i32.const 20) (i32.add (i32.const 200) ${tagged})) ${put8(32, 3)}
    (i32.store (i32.const 36) (local.get $body))
    (i32.store (i32.const 40) (i32.shl ${units} ${shift}))`);
};

async function loweredText(
  text: string,
  encoding: StringEncoding,
): Promise<{ bytes: string; tagged: boolean }> {
  const { endpoints } = await liveGuest(bytesOfText(encoding), {}, encoding);
  const asked = request(0, { body: { kind: 'text', text } });
  const { status, body } = (await endpoints.handle(
    CONTEXT,
    asked,
    hostCalls(),
  )) as EndpointResponse;
  const bytes = body.kind === 'bytes' ? Buffer.from(body.bytes).toString('hex') : body.kind;
  return { bytes, tagged: status === 201 };
}

describe('a string is lowered', () => {
  /** The text; its bytes in UTF-8, in UTF-16, and in Latin-1 if it can be encoded so. */
  test.each([
    ['empty', '', '', '', ''],
    ['of ASCII', 'a\u007f', '617f', '61007f00', '617f'],
    ['of NUL', '\u0000', '00', '0000', '00'],
    ['of Latin-1, the first and the last', '\u0080\u00ff', 'c280c3bf', '8000ff00', '80ff'],
    ['of the first unit beyond Latin-1', '\u0100', 'c480', '0001', undefined],
    ['of both', 'ÿĀ', 'c3bfc480', 'ff000001', undefined],
    ['of three bytes', '€', 'e282ac', 'ac20', undefined],
    ['of the last unit', '\uffff', 'efbfbf', 'ffff', undefined],
    ['of a pair', '😀', 'f09f9880', '3dd800de', undefined],
    ['of the last character', '\u{10ffff}', 'f48fbfbf', 'ffdbffdf', undefined],
    ['of a byte order mark', '\ufeff', 'efbbbf', 'fffe', undefined],
    ['of a first half, replaced', 'a\ud800', '61efbfbd', '6100fdff', undefined],
    ['of a second half, replaced', '\udc00a', 'efbfbd61', 'fdff6100', undefined],
    [
      'of halves in the wrong order, replaced',
      '\ude00\ud83d',
      'efbfbdefbfbd',
      'fdfffdff',
      undefined,
    ],
  ])('%s', async (_what, text, utf8, utf16, latin1) => {
    // Each text alone, and after many others, because a long string is lowered by other code.
    for (const [before, before8, before16] of [
      ['', '', ''],
      ['x'.repeat(40), '78'.repeat(40), '7800'.repeat(40)],
    ] as const) {
      const whole = before + text;
      expect(await loweredText(whole, 'utf8')).toEqual({ bytes: before8 + utf8, tagged: false });
      expect(await loweredText(whole, 'utf16')).toEqual({ bytes: before16 + utf16, tagged: false });
      expect(await loweredText(whole, 'latin1+utf16')).toEqual(
        latin1 === undefined
          ? { bytes: before16 + utf16, tagged: true }
          : { bytes: before8 + latin1, tagged: false },
      );
    }
  });
});

describe('cabi_realloc is asked', () => {
  /** Records its parameters from 4096 on, and the handler answers with them. */
  const noting: GuestParts = {
    fields: '(global $noted (mut i32) (i32.const 4096))',
    realloc: `
      (i32.store (global.get $noted) (local.get $old))
      (i32.store offset=4 (global.get $noted) (local.get $old-size))
      (i32.store offset=8 (global.get $noted) (local.get $alignment))
      (i32.store offset=12 (global.get $noted) (local.get $size))
      (global.set $noted (i32.add (global.get $noted) (i32.const 16)))
      (i32.add (i32.const 65536) (i32.mul (global.get $noted) (i32.const 8)))`,
    ...answering(`${put8(32, 3)} (i32.store (i32.const 36) (i32.const 4096))
      (i32.store (i32.const 40) (i32.sub (global.get $noted) (i32.const 4096)))`),
  };
  const asked = async (parameters: readonly string[], encoding: StringEncoding) => {
    const { endpoints } = await liveGuest(noting, {}, encoding);
    const { body } = (await endpoints.handle(
      CONTEXT,
      { ...request(0, { parameters }), caller: '' },
      hostCalls(),
    )) as EndpointResponse;
    const bytes = body.kind === 'bytes' ? body.bytes : new Uint8Array();
    return Array.from({ length: bytes.length / 16 }, (_, call) => [
      ...new Uint32Array(bytes.slice(call * 16, call * 16 + 16).buffer),
    ]);
  };

  test.each([
    ['utf8', 'grüße', 1, 7],
    ['utf16', 'grüße', 2, 10],
    ['latin1+utf16', 'grüße', 2, 5],
    ['latin1+utf16', 'grüße 😀', 2, 16],
  ] as const)(
    'in %s for a list and its string %s, once each, aligned and of its size',
    async (encoding, text, alignment, size) => {
      expect(await asked([text], encoding)).toEqual([
        [0, 0, 4, 8],
        [0, 0, alignment, size],
      ]);
    },
  );

  test('for nothing that has no length', async () => {
    expect(await asked([], 'utf8')).toEqual([]);
    expect(await asked(['', ''], 'utf16')).toEqual([[0, 0, 4, 16]]);
  });
});

describe.each(['utf8', 'utf16', 'latin1+utf16'] as const)(
  'a memory that grows at each allocation, in %s',
  (encoding) => {
    const PAIRS = [
      ['x-a', '1'],
      ['x-b', 'ü'.repeat(40)],
      ['x-c', 'ÿ'],
    ] as const;
    const TEXTS = ['', 'a', 'grüße', 'ü'.repeat(100), '漢字 😀', 'x'.repeat(70_000)];

    test('holds every value of a request', async () => {
      const echo = answering(`(i32.store (i32.const 24) (local.get $headers))
      (i32.store (i32.const 28) (local.get $headers-length)) (i32.store8 (i32.const 32) (local.get $body-kind))
      (i32.store (i32.const 36) (local.get $body)) (i32.store (i32.const 40) (local.get $body-length))`);
      const { endpoints } = await liveGuest({ realloc: GROWING_REALLOC, ...echo }, {}, encoding);
      for (const text of TEXTS) {
        const asked = request(0, { headers: PAIRS, query: text, body: { kind: 'text', text } });
        expect(await endpoints.handle(CONTEXT, asked, hostCalls())).toMatchObject({
          headers: PAIRS,
          body: { kind: 'text', text },
        });
      }
    });

    test('holds lists of strings and lists of events', async () => {
      // Two strings have the form of a header: the list of parameters is returned as one of pairs.
      const pairs = answering(`(i32.store (i32.const 24) (local.get $parameters))
      (i32.store (i32.const 28) (i32.shr_u (local.get $parameters-length) (i32.const 1)))`);
      // The events that were folded are those of the next command.
      const folding = `(drop (call $clear)) (i32.store (i32.const 4096) (local.get $events))
      (i32.store (i32.const 4100) (local.get $count)) (i32.const 16)`;
      const deciding = `(drop (call $clear)) (i64.store align=4 (i32.const 20) (i64.load (i32.const 4096)))
      (i32.const 16)`;
      const parts = { realloc: GROWING_REALLOC, ...pairs, apply: folding, command: deciding };
      const guest = await liveGuest(parts, {}, encoding);
      const asked = request(0, { parameters: PAIRS.flat() });
      expect(await guest.endpoints.handle(CONTEXT, asked, hostCalls())).toMatchObject({
        headers: PAIRS,
      });
      const events = TEXTS.map((text) => ({ manifest: `m ${text}`, json: text }));
      const entity = await guest.entities.open(entityRef('a'), undefined);
      await entity.apply(events, undefined);
      expect(await entity.command(CONTEXT, 'c', '')).toMatchObject({ events });
    });
  },
);

const recorded = (seq: number, json: string) =>
  ({ kind: 'event', seq, timeMs: 5, event: { manifest: 'm', json } }) as const;

describe.each(['at once', 'later'])(
  'a memory that grows while the result of an import is put there, %s',
  (when) => {
    const parts = { ...counter, realloc: GROWING_REALLOC };
    const given = <T>(value: T) => (when === 'later' ? Promise.resolve(value) : value);

    test('holds a refusal with all its texts', async () => {
      const refusal = {
        kind: 'refusal',
        code: 'OTHER',
        otherCode: 'VOLL',
        message: 'grüße 😀',
        details: '{"ü":1}',
      } as const;
      const { endpoints } = await liveGuest(parts);
      const asked = request(1, { parameters: ['c'] });
      const calls = hostCalls({ call: () => given(refusal) });
      expect(await endpoints.handle(CONTEXT, asked, calls)).toEqual(refusal);
    });

    test('holds a list of recorded events', async () => {
      const { endpoints } = await liveGuest(parts);
      const events = [recorded(4, '{"erstes":"😀"}'), recorded(5, 'x'.repeat(70_000))];
      const calls = hostCalls({ readEvents: () => given(events) });
      expect(await endpoints.handle(CONTEXT, request(3, { query: 'qq' }), calls)).toMatchObject({
        body: { text: '{"erstes":"😀"}' },
      });
    });
  },
);

test('a value of more than 2^31 - 1 bytes is not asked for', async () => {
  const { entities } = await liveGuest({}, {}, 'utf16');
  const entity = await entities.open(entityRef('a'), undefined);
  // The longest string has 2^29 - 24 units, so this test uses a list, whose events have 16 bytes each.
  const many = { length: 2 ** 27, [Symbol.iterator]: () => [][Symbol.iterator]() };
  const fault = await faultOf(() => entity.apply(many as never, undefined));
  expect(fault.faultCause).toBe('limit');
});

describe('integers of 64 bits', () => {
  test.each([0n, 1n, 2n ** 31n, 2n ** 32n, 2n ** 63n - 1n, 2n ** 63n, 2n ** 64n - 1n])(
    'reach a command as they are: the seed %s',
    async (seed) => {
      const { entities } = await liveGuest(counter);
      const entity = await entities.open(entityRef('a'), undefined);
      const context = { ...CONTEXT, seed };
      expect(await entity.command(context, 'z', '')).toMatchObject({ reply: String(seed) });
    },
  );

  test.each([0, 1, 2 ** 31, 2 ** 32, Number.MAX_SAFE_INTEGER])(
    'reach a handler as they are: the time %s',
    async (nowMs) => {
      const { endpoints } = await liveGuest(counter);
      const context = { ...CONTEXT, nowMs };
      expect(await endpoints.handle(context, request(7), hostCalls())).toMatchObject({
        body: { kind: 'text', text: String(nowMs) },
      });
    },
  );

  test.each([
    ['0', 0],
    ['9007199254740991', Number.MAX_SAFE_INTEGER],
    ['9223372036854775808', Number.MAX_SAFE_INTEGER],
    ['-1', Number.MAX_SAFE_INTEGER],
  ])('come from a module without a sign: after-seq %s', async (written, read) => {
    const { endpoints } = await liveGuest(
      answering(`(call $read (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0)
        (i64.const ${written}) (i32.const 1) (i32.const 256))`),
    );
    const heard: number[] = [];
    const readEvents = (_entity: unknown, after: number) => (heard.push(after), []);
    await endpoints.handle(CONTEXT, request(0), hostCalls({ readEvents }));
    expect(heard).toEqual([read]);
  });

  test('are put into a list at addresses of 8', async () => {
    const { endpoints } = await liveGuest({
      realloc: '(i32.add (i32.const 65536) (i32.mul (local.get $alignment) (i32.const 16)))',
      ...answering(`(call $read (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0)
          (i64.const 0) (i32.const 1) (i32.const 256))
        ${put8(32, 3)} (i32.store (i32.const 36) (i32.load (i32.const 260))) (i32.store (i32.const 40) (i32.const 16))`),
    });
    const event = { manifest: '', json: '' };
    const seq = Number.MAX_SAFE_INTEGER;
    const readEvents = () => [{ kind: 'event', seq, timeMs: 2 ** 40, event } as const];
    const answer = await endpoints.handle(CONTEXT, request(0), hostCalls({ readEvents }));
    const bytes = Uint8Array.of(255, 255, 255, 255, 255, 255, 0x1f, 0, 0, 0, 0, 0, 0, 1, 0, 0);
    expect(answer).toMatchObject({ body: { kind: 'bytes', bytes } });
  });
});
