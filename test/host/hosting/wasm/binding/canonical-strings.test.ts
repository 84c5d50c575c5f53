// Strings that the canonical ABI lifts out of a module's memory. Values on which the ABI traps are faults. One
// leniency is deliberate: the pointer of an empty string is ignored.
import { describe, expect, test } from 'vitest';
import type { StringEncoding } from '../../../../../host/hosting/wasm/binary/component-outline.ts';
import { MEMORY_BYTES, hex, put, replying } from '../support/canonical-guest.ts';
import type { GuestParts } from '../support/guest-module.ts';
import { CONTEXT, entityRef, faultOf, liveGuest } from '../support/live-guest.ts';

const AT = 4096;
const TAG = 0x8000_0000;

async function replyOf(parts: GuestParts, encoding: StringEncoding): Promise<unknown> {
  const { entities } = await liveGuest(parts, {}, encoding);
  const entity = await entities.open(entityRef('a'), undefined);
  const answer = await entity.query(CONTEXT, 'q', '');
  return answer.kind === 'reply' ? answer.json : answer;
}

async function faultOfReply(parts: GuestParts, encoding: StringEncoding): Promise<string> {
  const { entities } = await liveGuest(parts, {}, encoding);
  const entity = await entities.open(entityRef('a'), undefined);
  return (await faultOf(() => entity.query(CONTEXT, 'q', ''))).faultCause;
}

/** Each text alone, and after many others, because a long string is lifted by other code. */
const utf8Forms = (bytes: Uint8Array) =>
  [bytes, Buffer.concat([Buffer.from('x'.repeat(40)), bytes])] as const;
const utf16Forms = (bytes: Uint8Array) =>
  [bytes, Buffer.concat([Buffer.from('x'.repeat(40), 'utf16le'), bytes])] as const;

describe('a string in UTF-8 is lifted', () => {
  test.each([
    ['of one byte, the first and the last', '00 7f', '\u0000\u007f'],
    ['of two bytes, the first and the last', 'c2 80 df bf', '\u0080\u07ff'],
    ['of three bytes, the first and the last', 'e0 a0 80 ef bf bf', '\u0800\uffff'],
    ['next to the surrogates', 'ed 9f bf ee 80 80', '\ud7ff\ue000'],
    ['of four bytes, the first and the last', 'f0 90 80 80 f4 8f bf bf', '\u{10000}\u{10ffff}'],
    ['with a byte order mark at its start', 'ef bb bf 61', '\ufeffa'],
    ['that is a byte order mark', 'ef bb bf', '\ufeff'],
    ['with a character that is none', 'ef bf be', '\ufffe'],
    ['with a replacement character of its own', 'ef bf bd', '\ufffd'],
    ['with NUL in the middle', '61 00 62', 'a\u0000b'],
    ['of a joined family', 'f0 9f 91 a9 e2 80 8d f0 9f 91 a7', '👩‍👧'],
  ])('%s', async (_what, bytes, text) => {
    const [alone, behind] = utf8Forms(hex(bytes));
    expect(await replyOf(replying(AT, alone.length, alone), 'utf8')).toBe(text);
    const long = await replyOf(replying(AT + 1, behind.length, behind), 'utf8');
    expect(long).toBe('x'.repeat(40) + text);
  });

  test.each([
    ['a continuation alone', '80'],
    ['a first byte alone', 'c3'],
    ['a first byte before ASCII', 'c3 28'],
    ['three bytes cut after two', 'e2 82'],
    ['four bytes cut after three', 'f0 9f 98'],
    ['an over-long NUL', 'c0 80'],
    ['an over-long form of two bytes', 'c1 bf'],
    ['an over-long form of three bytes', 'e0 9f bf'],
    ['an over-long form of four bytes', 'f0 8f bf bf'],
    ['the first surrogate', 'ed a0 80'],
    ['the last surrogate', 'ed bf bf'],
    ['a pair of surrogates, three bytes each', 'ed a0 bd ed b8 80'],
    ['a character beyond the last', 'f4 90 80 80'],
    ['a first byte that there is not', 'f5 80 80 80'],
    ['the byte 0xfe', 'fe'],
    ['the byte 0xff', 'ff'],
  ])('with %s as a fault', async (_what, bytes) => {
    for (const form of utf8Forms(hex(bytes)))
      expect(await faultOfReply(replying(AT, form.length, form), 'utf8')).toBe('value');
  });
});

describe('a string in UTF-16 is lifted', () => {
  const UNITS = [
    ['of Latin-1', '0000 7f00 8000 ff00', '\u0000\u007f\u0080\u00ff'],
    ['next to the surrogates', 'ffd7 00e0', '\ud7ff\ue000'],
    ['of the last unit', 'ffff', '\uffff'],
    ['of the first pair and the last', '00d800dc ffdbffdf', '\u{10000}\u{10ffff}'],
    ['with a byte order mark at its start', 'fffe 6100', '\ufeffa'],
    ['with a swapped byte order mark, which is none', 'feff 6100', '\ufffea'],
    ['with NUL in the middle', '6100 0000 6200', 'a\u0000b'],
  ] as const;
  const HALVES = [
    ['a first half alone', '00d8'],
    ['a second half alone', '00dc'],
    ['a first half before a letter', '3dd8 6100'],
    ['a first half before a whole pair', '00d8 00d8 00dc'],
    ['halves in the wrong order', '00dc 00d8'],
    ['a pair and half of another', '3dd8 00de 3dd8'],
  ] as const;

  test.each(UNITS)('%s', async (_what, units, text) => {
    const [alone, behind] = utf16Forms(hex(units));
    for (const [encoding, tag] of [
      ['utf16', 0],
      ['latin1+utf16', TAG],
    ] as const) {
      const short = replying(AT, (alone.length / 2) | tag, alone);
      expect(await replyOf(short, encoding)).toBe(text);
      const long = replying(AT, (behind.length / 2) | tag, behind);
      expect(await replyOf(long, encoding)).toBe('x'.repeat(40) + text);
    }
  });

  test.each(HALVES)('with %s as a fault', async (_what, units) => {
    for (const form of utf16Forms(hex(units))) {
      const length = form.length / 2;
      expect(await faultOfReply(replying(AT, length, form), 'utf16')).toBe('value');
      const tagged = replying(AT, length | TAG, form);
      expect(await faultOfReply(tagged, 'latin1+utf16')).toBe('value');
    }
  });
});

test('a string in Latin-1 is lifted byte by byte, 0x80 to 0x9f as the control characters they are', async () => {
  const bytes = Uint8Array.from({ length: 256 }, (_, code) => code);
  const text = String.fromCharCode(...bytes);
  expect(await replyOf(replying(AT, 256, bytes), 'latin1+utf16')).toBe(text);
  const few = Uint8Array.of(0x80, 0x9f, 0xff);
  expect(await replyOf(replying(AT, 3, few), 'latin1+utf16')).toBe('\u0080\u009f\u00ff');
});

describe('a string without length is empty, whatever its pointer', () => {
  test.each([
    ['utf8', 0],
    ['utf16', 0],
    ['latin1+utf16', 0],
    ['latin1+utf16', TAG],
  ] as const)('in %s, with the length %i', async (encoding, length) => {
    for (const pointer of [0, 1, 2, MEMORY_BYTES, MEMORY_BYTES + 1, 0x7fff_ffff, -1])
      expect(await replyOf(replying(pointer, length), encoding)).toBe('');
  });
});

describe('a string at the bounds of the memory', () => {
  test.each([
    ['utf8', 'the first byte', 0, 1],
    ['utf8', 'the last byte', MEMORY_BYTES - 1, 1],
    ['utf8', 'up to the last byte', MEMORY_BYTES - 100, 100],
    ['utf16', 'the first unit', 0, 1],
    ['utf16', 'the last unit', MEMORY_BYTES - 2, 1],
    ['utf16', 'up to the last unit', MEMORY_BYTES - 200, 100],
    ['latin1+utf16', 'the last byte', MEMORY_BYTES - 2, 2],
    ['latin1+utf16', 'an odd number of bytes', MEMORY_BYTES - 2, 1],
    ['latin1+utf16', 'the last unit', MEMORY_BYTES - 2, 1 | TAG],
  ] as const)('in %s is lifted: %s', async (encoding, _what, pointer, length) => {
    expect(await replyOf(replying(pointer, length), encoding)).toBe('\0'.repeat(length & ~TAG));
  });

  test.each([
    ['utf8', 'one byte behind the end', MEMORY_BYTES, 1],
    ['utf8', 'one byte too long', MEMORY_BYTES - 99, 100],
    ['utf8', 'as long as 2^31', AT, TAG],
    ['utf8', 'as long as 2^32 - 1', AT, -1],
    ['utf8', 'around the end of the address space', -4, 8],
    ['utf16', 'one unit behind the end', MEMORY_BYTES, 1],
    ['utf16', 'one unit too long', MEMORY_BYTES - 198, 100],
    ['utf16', 'at an odd address', AT + 1, 1],
    ['utf16', 'at an odd address, and long', AT + 1, 100],
    ['utf16', 'of 2^30 units', AT, 0x4000_0000],
    ['utf16', 'of 2^31 units, 2^32 bytes', AT, TAG],
    ['utf16', 'of 2^31 + 1 units, 2^32 + 2 bytes', AT, TAG | 1],
    ['utf16', 'around the end of the address space', -4, 4],
    ['latin1+utf16', 'Latin-1 at an odd address', AT + 1, 1],
    ['latin1+utf16', 'UTF-16 at an odd address', AT + 1, 1 | TAG],
    ['latin1+utf16', 'Latin-1 one byte too long', MEMORY_BYTES - 2, 3],
    ['latin1+utf16', 'UTF-16 one unit too long', MEMORY_BYTES - 2, 2 | TAG],
    ['latin1+utf16', 'Latin-1 as long as 2^31 - 1', AT, 0x7fff_ffff],
    ['latin1+utf16', 'UTF-16 of 2^31 - 1 units', AT, -1],
  ] as const)('in %s is a fault: %s', async (encoding, _what, pointer, length) => {
    expect(await faultOfReply(replying(pointer, length), encoding)).toBe('value');
  });
});

/** After a snapshot, the log has one line, whose message is at this pointer and has this length. */
const logging = (pointer: number, length: number, bytes: Uint8Array): GuestParts => ({
  fields: `(global $said (mut i32) (i32.const 0)) ${replying(AT, 0, bytes).fields ?? ''}`,
  snapshot: '(global.set $said (i32.const 1)) (call $clear)',
  takeLog: `(drop (call $clear)) ${put(16, 8192)} (i32.store (i32.const 20) (global.get $said))
    ${put(8196, pointer)} ${put(8200, length)} (global.set $said (i32.const 0)) (i32.const 16)`,
});

describe('a log line', () => {
  test.each([
    ['utf8', '61 ff c3 62', 4, 'a\ufffd\ufffdb'],
    ['utf8', 'ed a0 80', 3, '\ufffd\ufffd\ufffd'],
    ['utf16', '6100 00d8 6200', 3, 'a\ufffdb'],
    ['latin1+utf16', '6100 00dc', 2 | TAG, 'a\ufffd'],
    ['latin1+utf16', '61 ff', 2, 'aÿ'],
  ] as const)(
    'alone has what is not valid %s replaced: %s',
    async (encoding, bytes, length, text) => {
      const guest = await liveGuest(logging(AT, length, hex(bytes)), {}, encoding);
      await (await guest.entities.open(entityRef('a'), undefined)).snapshot();
      expect(guest.lines.map(({ message }) => message)).toEqual([text]);
    },
  );

  test.each([
    ['utf8', 0],
    ['utf16', 0],
    ['latin1+utf16', 0],
    ['latin1+utf16', TAG],
  ] as const)(
    'in %s without length is empty, whatever its pointer: %i',
    async (encoding, length) => {
      const guest = await liveGuest(logging(-1, length, new Uint8Array()), {}, encoding);
      await (await guest.entities.open(entityRef('a'), undefined)).snapshot();
      expect(guest.lines.map(({ message }) => message)).toEqual(['']);
    },
  );
});
