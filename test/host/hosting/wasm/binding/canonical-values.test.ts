// Lists, options, results, variants, enums, bools and padding that the canonical ABI lifts out of a module's memory
// or the parameters of its call. Values on which the ABI traps are faults; bytes that it ignores (padding, the
// payload of another case, the pointer of an empty list) may be anything.
import { describe, expect, test } from 'vitest';
import type { Reply } from '../../../../../model/call.ts';
import {
  MEMORY_BYTES,
  answering,
  dataAt,
  deciding,
  put,
  put8,
} from '../support/canonical-guest.ts';
import type { GuestParts } from '../support/guest-module.ts';
import {
  CONTEXT,
  entityRef,
  faultOf,
  hostCalls,
  liveGuest,
  request,
} from '../support/live-guest.ts';

const NOWHERE = [0, 1, 3, MEMORY_BYTES, MEMORY_BYTES + 2, 0x7fff_ffff, -1];

async function decide(parts: GuestParts): Promise<unknown> {
  const { entities } = await liveGuest(parts);
  return (await entities.open(entityRef('a'), undefined)).command(CONTEXT, 'c', '');
}

async function answer(parts: GuestParts, heard: unknown[] = []): Promise<unknown> {
  const { endpoints } = await liveGuest(parts);
  const call = (...made: unknown[]): Reply => {
    heard.push(made);
    return { kind: 'reply', json: '' };
  };
  return endpoints.handle(CONTEXT, request(0), hostCalls({ call }));
}

/** Result of a command: `result<effect, refusal>` at 16. */
const EVENTS = 20;
const DELETE = 28;
const REPLY = 32;
const CODE = 20;
const OTHER = 24;
const MESSAGE = 32;
const DETAILS = 40;
const pair = (at: number, pointer: number, length: number) =>
  put(at, pointer) + put(at + 4, length);
const refused = (body: string) => deciding(put8(16, 1) + body);

describe('a list', () => {
  test.each(NOWHERE)('without items is empty, whatever its pointer: %s', async (pointer) => {
    expect(await decide(deciding(pair(EVENTS, pointer, 0)))).toMatchObject({ events: [] });
    const empty = answering(pair(24, pointer, 0) + put8(32, 3) + pair(36, pointer, 0));
    expect(await answer(empty)).toMatchObject({
      headers: [],
      body: { kind: 'bytes', bytes: new Uint8Array() },
    });
  });

  test.each([
    ['at the first address', 0, 1],
    ['that ends where the memory ends', MEMORY_BYTES - 16 * 3, 3],
    ['that begins at a multiple of its alignment alone', 8196, 2],
  ])('of records is lifted %s', async (_what, pointer, length) => {
    const event = { manifest: '', json: '' };
    expect(await decide(deciding(pair(EVENTS, pointer, length)))).toMatchObject({
      events: Array.from({ length }, () => event),
    });
  });

  test.each([
    ['that ends behind the memory', MEMORY_BYTES - 16, 2],
    ['that begins where the memory ends', MEMORY_BYTES, 1],
    ['at an address of 1', 8193, 1],
    ['at an address of 2', 8194, 1],
    ['whose size is 2^32', 8192, 2 ** 28],
    ['whose size is 2^32 and 16', 8192, 2 ** 28 + 1],
    ['whose size is 2^36 - 16', 8192, -1],
    ['around the end of the address space', -16, 2],
  ])('of records is a fault %s', async (_what, pointer, length) => {
    const fault = await faultOf(() => decide(deciding(pair(EVENTS, pointer, length))));
    expect(fault.faultCause).toBe('value');
  });

  test.each([
    ['at the first address', 0, 1],
    ['at an odd address', 8193, 3],
    ['that ends where the memory ends', MEMORY_BYTES - 1, 1],
    ['that is the whole memory', 0, MEMORY_BYTES],
  ])('of bytes is lifted %s', async (_what, pointer, length) => {
    const got = await answer(answering(put8(32, 3) + pair(36, pointer, length)));
    expect((got as { body: { bytes: Uint8Array } }).body.bytes).toHaveLength(length);
  });

  test.each([
    ['that ends behind the memory', MEMORY_BYTES - 1, 2],
    ['that is one longer than the memory', 0, MEMORY_BYTES + 1],
    ['of 2^32 - 1 bytes', 1, -1],
  ])('of bytes is a fault %s', async (_what, pointer, length) => {
    const parts = answering(put8(32, 3) + pair(36, pointer, length));
    expect((await faultOf(() => answer(parts))).faultCause).toBe('value');
  });

  test('of bytes is a copy: what the module does later is not seen', async () => {
    const parts = {
      fields: dataAt(8192, Uint8Array.of(1, 2, 3)),
      ...answering(`(i32.store8 (i32.const 8192) (i32.add (i32.load8_u (i32.const 8192)) (i32.const 1)))
        ${put8(32, 3)} ${pair(36, 8192, 3)}`),
    };
    const { endpoints } = await liveGuest(parts, { endpointInstancesMax: 1 });
    const [first, second] = [
      await endpoints.handle(CONTEXT, request(0), hostCalls()),
      await endpoints.handle(CONTEXT, request(0), hostCalls()),
    ];
    const body = { kind: 'bytes', bytes: Uint8Array.of(2, 2, 3) };
    expect([first, second]).toMatchObject([{ body }, { body }]);
  });
});

describe('a bool', () => {
  test.each([
    [0, false],
    [1, true],
    [2, true],
    [7, true],
    [128, true],
    [255, true],
  ])('of %i is %s', async (byte, value) => {
    expect(await decide(deciding(put8(DELETE, byte)))).toMatchObject({
      actions: value ? [{ kind: 'delete-entity' }] : [],
    });
  });
});

/** Calls `routing.call` with this tag, pointer and length of the idempotency key. */
const calling = (...key: readonly number[]) =>
  answering(`(call $call ${'(i32.const 0)'.repeat(10)}
    ${key.map((word) => `(i32.const ${word})`).join(' ')} (i32.const 256))`);

describe('an option', () => {
  test.each(NOWHERE)('that is none has a payload that nobody reads: %s', async (garbage) => {
    const parts = refused(put8(CODE, 3) + put8(DETAILS, 0) + pair(DETAILS + 4, garbage, -1));
    expect(await decide(parts)).toEqual({ kind: 'refusal', code: 'NOT_FOUND', message: '' });
  });

  test('that is some has its payload', async () => {
    const text = dataAt(8192, Buffer.from('ü'));
    const parts = {
      fields: text,
      ...refused(put8(CODE, 3) + put8(DETAILS, 1) + pair(DETAILS + 4, 8192, 2)),
    };
    expect(await decide(parts)).toMatchObject({ details: 'ü' });
    const empty = refused(put8(CODE, 3) + put8(DETAILS, 1));
    expect(await decide(empty)).toMatchObject({ details: '' });
  });

  test.each([2, 3, 128, 255])('in memory with the tag %i is a fault', async (tag) => {
    const fault = await faultOf(() => decide(refused(put8(DETAILS, tag))));
    expect(fault.faultCause).toBe('value');
  });

  test('among parameters is none or some by its tag alone', async () => {
    const heard: unknown[] = [];
    await answer(calling(0, -1, -1), heard);
    await answer(calling(1, -1, 0), heard);
    expect(heard).toMatchObject([
      [{}, '', '', [], undefined],
      [{}, '', '', [], ''],
    ]);
  });

  test.each([2, 256, 257, -1, -2147483648])(
    'among parameters with the tag %i is a fault',
    async (tag) => {
      const heard: unknown[] = [];
      expect((await faultOf(() => answer(calling(tag, 0, 0), heard))).faultCause).toBe('value');
      expect(heard).toEqual([]);
    },
  );
});

describe('a result', () => {
  test('that is an error has nothing of its other case', async () => {
    // Read as an effect, its list of events would be outside of the memory.
    const { entities } = await liveGuest({
      apply: `(drop (call $clear)) ${put8(16, 1)} ${pair(20, 0, 0)} ${pair(28, -1, -1)} (i32.const 16)`,
    });
    const entity = await entities.open(entityRef('a'), undefined);
    expect(await entity.apply([], undefined)).toBe('');
  });

  test('that is ok without a payload has an error that nobody reads', async () => {
    const { entities } = await liveGuest({
      apply: `(drop (call $clear)) ${pair(20, -1, -1)} (i32.const 16)`,
    });
    const entity = await entities.open(entityRef('a'), undefined);
    expect(await entity.apply([], undefined)).toBeUndefined();
  });

  test.each([2, 128, 255])('with the tag %i is a fault', async (tag) => {
    for (const ending of [
      async () => decide(deciding(put8(16, tag))),
      async () => answer(answering(put8(16, tag))),
    ])
      expect((await faultOf(ending)).faultCause).toBe('value');
  });
});

describe('a variant', () => {
  test.each([
    [0, 'BAD_REQUEST'],
    [1, 'UNAUTHENTICATED'],
    [2, 'FORBIDDEN'],
    [3, 'NOT_FOUND'],
    [4, 'CONFLICT'],
    [5, 'UNPROCESSABLE'],
    [6, 'TOO_MANY_REQUESTS'],
  ])('of the case %i is the code %s, and has a payload that nobody reads', async (tag, code) => {
    expect(await decide(refused(put8(CODE, tag) + pair(OTHER, -1, -1)))).toEqual({
      kind: 'refusal',
      code,
      message: '',
    });
  });

  test('of its last case has its payload', async () => {
    const parts = {
      fields: dataAt(8192, Buffer.from('VÖLL')),
      ...refused(put8(CODE, 7) + pair(OTHER, 8192, 5)),
    };
    expect(await decide(parts)).toMatchObject({ code: 'OTHER', otherCode: 'VÖLL' });
  });

  test.each([8, 9, 128, 255])('of the case %i, which there is not, is a fault', async (tag) => {
    expect((await faultOf(() => decide(refused(put8(CODE, tag))))).faultCause).toBe('value');
  });

  test.each([4, 128, 255])('that is a body of the case %i is a fault', async (tag) => {
    expect((await faultOf(() => answer(answering(put8(32, tag))))).faultCause).toBe('value');
  });

  test.each([
    [0, { kind: 'none' }],
    [1, { kind: 'json', text: 'ab' }],
    [2, { kind: 'text', text: 'ab' }],
    [3, { kind: 'bytes', bytes: Uint8Array.of(97, 98) }],
  ])('that is a body of the case %i has its payload, if it has any', async (tag, body) => {
    const parts = {
      fields: dataAt(8192, Buffer.from('ab')),
      ...answering(put8(32, tag) + pair(36, 8192, tag === 0 ? -1 : 2)),
    };
    expect(await answer(parts)).toMatchObject({ body });
  });
});

test.each([4, 5, 128, 255])(
  'an enum of the case %i, which there is not, is a fault',
  async (level) => {
    const { entities } = await liveGuest({
      fields: '(global $said (mut i32) (i32.const 0))',
      snapshot: '(global.set $said (i32.const 1)) (call $clear)',
      takeLog: `(drop (call $clear)) ${put8(4096, level)} ${put(16, 4096)}
      (i32.store (i32.const 20) (global.get $said)) (i32.const 16)`,
    });
    const entity = await entities.open(entityRef('a'), undefined);
    expect((await faultOf(() => entity.snapshot())).faultCause).toBe('value');
  },
);

/** The bytes from `first` to `last` are 0xff. */
const dirty = (first: number, last: number) =>
  `(memory.fill (i32.const ${first}) (i32.const 255) (i32.const ${last - first + 1}))`;

describe('padding', () => {
  test('of an effect may hold anything', async () => {
    const parts = deciding(dirty(17, 19) + dirty(29, 31) + dirty(40, 51));
    expect(await decide(parts)).toEqual({
      kind: 'effect',
      events: [],
      actions: [],
      reply: '',
    });
  });

  test('of a refusal may hold anything', async () => {
    const parts = refused(dirty(17, 19) + dirty(21, 23) + dirty(41, 43) + put8(CODE, 4));
    expect(await decide(parts)).toEqual({ kind: 'refusal', code: 'CONFLICT', message: '' });
  });

  test('of a response may hold anything, above its status of 16 bits too', async () => {
    expect(await answer(answering(dirty(17, 19) + dirty(22, 23) + dirty(33, 35)))).toEqual({
      kind: 'response',
      status: 200,
      headers: [],
      body: { kind: 'none' },
    });
  });
});

/** A command whose result is at this address. */
const at = (address: number): GuestParts => ({
  command: `(drop (call $clear)) (i32.const ${address})`,
});

describe('the address of a result', () => {
  test.each([
    ['the first address', 0],
    ['a multiple of 4 alone', 8196],
    ['the last place that it fits', MEMORY_BYTES - 36],
  ])('may be %s', async (_what, address) => {
    expect(await decide(at(address))).toMatchObject({ kind: 'effect', events: [] });
  });

  test.each([
    ['an address of 1', 8193],
    ['an address of 2', 8194],
    ['4 bytes too near to the end', MEMORY_BYTES - 32],
    ['where the memory ends', MEMORY_BYTES],
    ['where the address space ends', -4],
  ])('is a fault at %s', async (_what, address) => {
    expect((await faultOf(() => decide(at(address)))).faultCause).toBe('value');
  });

  test('is read whole, its last field too', async () => {
    const text = dataAt(8192, Buffer.from('ab'));
    const parts = { fields: text, ...deciding(pair(REPLY, 8192, 2)) };
    expect(await decide(parts)).toMatchObject({ reply: 'ab' });
    const message = { fields: text, ...refused(pair(MESSAGE, 8192, 2)) };
    expect(await decide(message)).toMatchObject({ message: 'ab' });
  });
});
