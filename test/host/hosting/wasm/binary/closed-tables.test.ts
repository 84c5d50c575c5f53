// The host knows a closed list of WebAssembly's features. These tests try the whole range of each table, so that code
// of a later proposal is refused until it is supported on purpose.
import { describe, expect, test } from 'vitest';
import { ByteReader } from '../../../../../host/hosting/wasm/binary/byte-reader.ts';
import { readCoreModule } from '../../../../../host/hosting/wasm/binary/core-module-reader.ts';
import {
  readInstruction,
  readValueType,
} from '../../../../../host/hosting/wasm/binary/instruction-reader.ts';
import type { SvcError } from '../../../../../kit/svc-error.ts';

const BYTES = Array.from({ length: 256 }, (_, byte) => byte);
const range = (first: number, last: number) => BYTES.slice(first, last + 1);

/** Numbers that are accepted. All others are refused as unsupported code. */
function readable(count: number, read: (number: number) => unknown): number[] {
  return Array.from({ length: count }, (_, number) => number).filter((number) => {
    try {
      read(number);
      return true;
    } catch (error) {
      if ((error as SvcError).code !== 'SVC_MODULE_UNSUPPORTED_CODE') throw error;
      return false;
    }
  });
}

/** An instruction of these bytes, followed by zeros as its immediates. */
const instruction = (...bytes: readonly number[]) =>
  readInstruction(new ByteReader(Uint8Array.from([...bytes, ...Array<number>(40).fill(0)])));
/** Encodes a number of at most 16 bits. */
const leb = (number: number) => [
  (number & 0x7f) | 0x80,
  ((number >> 7) & 0x7f) | 0x80,
  number >> 14,
];

const PREAMBLE = [0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0];
const core = (...sections: readonly (readonly number[])[]) =>
  readCoreModule(Uint8Array.from([...PREAMBLE, ...sections.flat()]));
const VECTOR_GAPS: ReadonlySet<number> = new Set([
  0x9a, 0xa2, 0xa5, 0xa6, 0xaf, 0xb0, 0xb2, 0xb3, 0xb4, 0xbb, 0xc2, 0xc5, 0xc6, 0xcf, 0xd0, 0xd2,
  0xd3, 0xd4, 0xe2, 0xee,
]);
const MEMORY = [5, 3, 1, 0, 1];
const readSection = (id: number) => {
  if (id === 5) return core(MEMORY);
  return id < 5 ? core([id, 1, 0], MEMORY) : core(MEMORY, [id, 1, 0]);
};
const readMemory = (flags: number) => core(flags === 0 ? MEMORY : [5, 4, 1, flags, 1, 1]);

describe('of what a byte can say, known are only', () => {
  test('instructions of WebAssembly 2 that change no table', () => {
    expect(readable(256, (byte) => instruction(byte, byte === 0xd0 ? 0x70 : 0))).toEqual([
      ...range(0x00, 0x05), // unreachable, nop, block, loop, if, else
      ...range(0x0b, 0x13), // end, branches, return, calls, tail calls
      ...range(0x1a, 0x1c), // drop, select
      ...range(0x20, 0x25), // locals, globals, table.get
      ...range(0x28, 0xc4), // memory, numbers
      ...range(0xd0, 0xd2), // ref.null, ref.is_null, ref.func
      0xfc,
      0xfd,
    ]);
  });

  test('instructions with the prefix 0xfc that convert, move bytes, or ask for a table’s size', () => {
    expect(readable(300, (code) => instruction(0xfc, ...leb(code)))).toEqual([
      ...range(0, 8),
      10,
      11,
      16,
    ]);
  });

  test('vector instructions that answer the same on every machine', () => {
    expect(readable(600, (code) => instruction(0xfd, ...leb(code)))).toEqual(
      BYTES.filter((code) => !VECTOR_GAPS.has(code)),
    );
  });

  test('value types', () => {
    expect(readable(256, (byte) => readValueType(new ByteReader(Uint8Array.of(byte))))).toEqual([
      0x6f, 0x70, 0x7b, 0x7c, 0x7d, 0x7e, 0x7f,
    ]);
  });

  test('types of blocks', () => {
    expect(readable(128, (byte) => instruction(0x02, byte))).toEqual([
      ...range(0x00, 0x40),
      0x6f,
      0x70,
      0x7b,
      0x7c,
      0x7d,
      0x7e,
      0x7f,
    ]);
  });

  test('references to functions and to the outside', () => {
    expect(readable(256, (byte) => instruction(0xd0, byte))).toEqual([0x6f, 0x70]);
  });

  test('memories that are this one', () => {
    expect(readable(256, (byte) => instruction(0x3f, byte))).toEqual([0]);
    expect(readable(256, (byte) => instruction(0x40, byte))).toEqual([0]);
    expect(readable(128, (byte) => instruction(0x28, byte))).toEqual(range(0, 0x3f));
  });

  test('sections, in their order', () => {
    expect(readable(256, readSection)).toEqual(range(0, 12));
  });

  test('function types', () => {
    expect(readable(256, (form) => core([1, 4, 1, form, 0, 0], MEMORY))).toEqual([0x60]);
  });

  test('memories of 32 bits that are not shared', () => {
    expect(readable(256, readMemory)).toEqual([0, 1]);
  });

  test('tables of functions', () => {
    expect(readable(256, (type) => core([4, 4, 1, type, 0, 1], MEMORY))).toEqual([0x70]);
  });
});

describe('a core module is malformed', () => {
  test.each([
    ['with a section twice', [[1, 1, 0], [1, 1, 0], MEMORY]],
    ['with sections out of order', [MEMORY, [1, 1, 0]]],
    ['with its data before its code', [MEMORY, [11, 1, 0], [10, 1, 0]]],
    ['with a count of its data behind its code', [MEMORY, [10, 1, 0], [12, 1, 0]]],
    ['with a number in six bytes', [[1, 6, 0x80, 0x80, 0x80, 0x80, 0x80, 0x00], MEMORY]],
    ['with a number of more than 32 bits', [[1, 5, 0x80, 0x80, 0x80, 0x80, 0x10], MEMORY]],
    ['with more in a section than it counts', [[1, 2, 0, 0], MEMORY]],
  ])('%s', (_what, sections) => {
    expect(() => core(...sections)).toThrow(
      expect.objectContaining({ code: 'SVC_MODULE_MALFORMED' }),
    );
  });

  test('but not with a number that is padded to five bytes, as linkers write it', () => {
    expect(() => core([1, 5, 0x80, 0x80, 0x80, 0x80, 0x00], MEMORY)).not.toThrow();
  });
});
