// InstructionReader: its table is closed, so every possible opcode is either known or refused.
import { describe, expect, test } from 'vitest';
import { ByteReader } from '../../../../../host/hosting/wasm/binary/byte-reader.ts';
import {
  codeAt,
  readInstruction,
} from '../../../../../host/hosting/wasm/binary/instruction-reader.ts';
import { SvcError } from '../../../../../kit/svc-error.ts';

/** Zeros are valid immediates of every known instruction. */
function isRead(...opcode: readonly number[]): boolean {
  const bytes = Uint8Array.from([...opcode, ...Array.from({ length: 24 }, () => 0)]);
  // A reference instruction names its type.
  if (opcode.length === 1 && opcode[0] === 0xd0) bytes[1] = 0x70;
  try {
    readInstruction(new ByteReader(bytes));
    return true;
  } catch (error) {
    if (error instanceof SvcError && error.code === 'SVC_MODULE_UNSUPPORTED_CODE') return false;
    throw error;
  }
}

function ranges(numbers: readonly number[]): string {
  const parts: [number, number][] = [];
  for (const number of numbers) {
    const last = parts.at(-1);
    if (last !== undefined && last[1] === number - 1) last[1] = number;
    else parts.push([number, number]);
  }
  return parts
    .map((pair) => [...new Set(pair)].map((number) => number.toString(16)).join('-'))
    .join(' ');
}

const everyByte = Array.from({ length: 256 }, (_, index) => index);

test('exactly these instructions of one byte are known', () => {
  const known = everyByte.filter((byte) => byte !== 0xfc && byte !== 0xfd && isRead(byte));
  expect(ranges(known)).toBe('0-5 b-13 1a-1c 20-25 28-c4 d0-d2');
});

test('behind the prefix 0xfc, exactly these are known', () => {
  const known = everyByte.filter((byte) => isRead(0xfc, ...leb(byte)));
  expect(ranges(known)).toBe('0-8 a-b 10');
});

test('behind the prefix 0xfd, exactly those of 128-bit vectors are known', () => {
  const codes = Array.from({ length: 1024 }, (_, index) => index);
  const known = codes.filter((code) => isRead(0xfd, ...leb(code)));
  expect(ranges(known)).toBe(
    '0-99 9b-a1 a3-a4 a7-ae b1 b5-ba bc-c1 c3-c4 c7-ce d1 d5-e1 e3-ed ef-ff',
  );
});

test.each([
  ['a reference to something else', [0xd0, 0x6d]],
  ['the size of another memory', [0x3f, 1]],
  ['the growth of another memory', [0x40, 1]],
  ['a load from another memory', [0x28, 0x42, 1, 0]],
  ['a block of a typed reference', [0x02, 0x64, 0]],
  ['a choice between typed references', [0x1c, 1, 0x64]],
])('%s is refused', (_what, bytes) => {
  expect(isRead(...bytes)).toBe(false);
});

describe('the code of an instruction', () => {
  test.each([
    ['one byte', [0x6a], 0x6a],
    ['a prefix and a byte', [0xfc, 0x0a], 0xfc0a],
    ['a prefix and two bytes', [0xfd, 0xe4, 0x01], 0xfde4],
    ['a prefix and a padded number', [0xfd, 0xe4, 0x81, 0x80, 0x00], 0xfde4],
    ['a prefix and a small number that is padded', [0xfc, 0x8a, 0x80, 0x00], 0xfc0a],
  ])('is read from %s', (_what, bytes, code) => {
    expect(codeAt(Uint8Array.from(bytes), 0)).toBe(code);
  });
});

function leb(number: number): number[] {
  return number < 0x80 ? [number] : [(number & 0x7f) | 0x80, number >> 7];
}
