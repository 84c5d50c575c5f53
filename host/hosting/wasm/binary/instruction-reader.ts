// Steps over one instruction of a core module's code. The table is a closed list: an opcode that is not in it
// is refused, so the rewriter never passes on an instruction that it does not understand. Refused on purpose
// are instructions that change tables or drop segments (an instance is restored by memory and globals alone),
// threads, exceptions, garbage collection, and relaxed SIMD (its results may differ between machines).
import { SvcError } from '@svc/kit/svc-error';
import type { ByteReader } from './byte-reader.ts';

export const OP = {
  unreachable: 0x00,
  block: 0x02,
  loop: 0x03,
  if: 0x04,
  else: 0x05,
  end: 0x0b,
  br: 0x0c,
  brIf: 0x0d,
  brTable: 0x0e,
  return: 0x0f,
  call: 0x10,
  callIndirect: 0x11,
  returnCall: 0x12,
  localGet: 0x20,
  localTee: 0x22,
  globalGet: 0x23,
  globalSet: 0x24,
  memorySize: 0x3f,
  memoryGrow: 0x40,
  i32Const: 0x41,
  i32Eq: 0x46,
  i32LtS: 0x48,
  i32GtU: 0x4b,
  i32Add: 0x6a,
  i32Sub: 0x6b,
  i32Mul: 0x6c,
  i32ShrU: 0x76,
  refFunc: 0xd2,
  misc: 0xfc,
  simd: 0xfd,
} as const;
/** The type byte of a block without results. */
export const EMPTY_BLOCK = 0x40;

/** Kinds of instructions that the rewriter distinguishes. */
export const STEP = {
  plain: 0,
  loop: 1,
  /** `block` or `if`. */
  block: 2,
  end: 3,
  memoryGrow: 4,
  memorySize: 6,
  /** `memory.copy`, `memory.fill`, `memory.init`: the top of the stack is a length in bytes. */
  bulk: 5,
} as const;
export type Step = (typeof STEP)[keyof typeof STEP];

/** An opcode; for one with a prefix, the prefix times 256 plus the opcode behind it. */
export type Code = number;

/** Kinds of immediates, which follow an opcode. */
const IMMEDIATE = {
  refused: 0,
  none: 1,
  index: 2,
  twoIndexes: 3,
  blockType: 4,
  memory: 5,
  branchTable: 6,
  valueTypes: 7,
  signed32: 8,
  signed64: 9,
  bytes4: 10,
  bytes8: 11,
  zeroByte: 12,
  heapType: 13,
  misc: 14,
  simd: 15,
} as const;

const IMMEDIATES = new Uint8Array(256);
const set = (kind: number, first: number, last = first) => IMMEDIATES.fill(kind, first, last + 1);
set(IMMEDIATE.none, 0x00, 0x01); // unreachable, nop
set(IMMEDIATE.blockType, 0x02, 0x04); // block, loop, if
set(IMMEDIATE.none, 0x05); // else
set(IMMEDIATE.none, 0x0b); // end
set(IMMEDIATE.index, 0x0c, 0x0d); // br, br_if
set(IMMEDIATE.branchTable, 0x0e);
set(IMMEDIATE.none, 0x0f); // return
set(IMMEDIATE.index, 0x10); // call
set(IMMEDIATE.twoIndexes, 0x11); // call_indirect
set(IMMEDIATE.index, 0x12); // return_call
set(IMMEDIATE.twoIndexes, 0x13); // return_call_indirect
set(IMMEDIATE.none, 0x1a, 0x1b); // drop, select
set(IMMEDIATE.valueTypes, 0x1c); // select with types
set(IMMEDIATE.index, 0x20, 0x25); // local.*, global.*, table.get
set(IMMEDIATE.memory, 0x28, 0x3e); // loads and stores
set(IMMEDIATE.zeroByte, 0x3f, 0x40); // memory.size, memory.grow
set(IMMEDIATE.signed32, 0x41);
set(IMMEDIATE.signed64, 0x42);
set(IMMEDIATE.bytes4, 0x43);
set(IMMEDIATE.bytes8, 0x44);
set(IMMEDIATE.none, 0x45, 0xc4); // comparisons, arithmetic, conversions
set(IMMEDIATE.heapType, 0xd0); // ref.null
set(IMMEDIATE.none, 0xd1); // ref.is_null
set(IMMEDIATE.index, 0xd2); // ref.func
set(IMMEDIATE.misc, 0xfc);
set(IMMEDIATE.simd, 0xfd);

/** Numbers of vector instructions up to 255 that are not assigned. */
const SIMD_GAPS: ReadonlySet<number> = new Set([
  0x9a, 0xa2, 0xa5, 0xa6, 0xaf, 0xb0, 0xb2, 0xb3, 0xb4, 0xbb, 0xc2, 0xc5, 0xc6, 0xcf, 0xd0, 0xd2,
  0xd3, 0xd4, 0xe2, 0xee,
]);

/** funcref, externref. */
export const REFERENCE_TYPES: ReadonlySet<number> = new Set([0x70, 0x6f]);
/** i32, i64, f32, f64, v128, funcref, externref. */
export const VALUE_TYPES: ReadonlyMap<number, string> = new Map([
  [0x7f, 'i32'],
  [0x7e, 'i64'],
  [0x7d, 'f32'],
  [0x7c, 'f64'],
  [0x7b, 'v128'],
  [0x70, 'funcref'],
  [0x6f, 'externref'],
]);

export function unsupported(what: string): SvcError {
  return new SvcError(
    'SVC_MODULE_UNSUPPORTED_CODE',
    `The module's code uses ${what}, which this host does not run. ` +
      'Build it without that WebAssembly feature.',
  );
}

/** Steps over one instruction, immediates included. */
export function readInstruction(reader: ByteReader): Step {
  const opcode = reader.u8();
  switch (IMMEDIATES[opcode] ?? IMMEDIATE.refused) {
    case IMMEDIATE.none:
      return opcode === OP.end ? STEP.end : STEP.plain;
    case IMMEDIATE.index:
      reader.u32();
      return STEP.plain;
    case IMMEDIATE.twoIndexes:
      reader.u32();
      reader.u32();
      return STEP.plain;
    case IMMEDIATE.blockType:
      readBlockType(reader);
      return opcode === OP.loop ? STEP.loop : STEP.block;
    case IMMEDIATE.memory:
      readMemoryArgument(reader);
      return STEP.plain;
    case IMMEDIATE.branchTable:
      for (let left = reader.count() + 1; left > 0; left--) reader.u32();
      return STEP.plain;
    case IMMEDIATE.valueTypes:
      for (let left = reader.count(); left > 0; left--) readValueType(reader);
      return STEP.plain;
    case IMMEDIATE.signed32:
      reader.skipSigned(5);
      return STEP.plain;
    case IMMEDIATE.signed64:
      reader.skipSigned(10);
      return STEP.plain;
    case IMMEDIATE.bytes4:
      reader.skip(4);
      return STEP.plain;
    case IMMEDIATE.bytes8:
      reader.skip(8);
      return STEP.plain;
    case IMMEDIATE.zeroByte:
      if (reader.u8() !== 0) throw unsupported('several memories');
      return opcode === OP.memoryGrow ? STEP.memoryGrow : STEP.memorySize;
    case IMMEDIATE.heapType:
      if (!REFERENCE_TYPES.has(reader.u8())) throw unsupported('typed references');
      return STEP.plain;
    case IMMEDIATE.misc:
      return readMisc(reader);
    case IMMEDIATE.simd:
      return readSimd(reader);
    default:
      throw unsupported(`the opcode 0x${opcode.toString(16).padStart(2, '0')}`);
  }
}

/** Returns the code of the instruction at `at`, which `readInstruction` has stepped over. */
export function codeAt(bytes: Uint8Array, at: number): Code {
  const first = bytes[at]!;
  if (first !== OP.misc && first !== OP.simd) return first;
  // The number is at most 255; its encoding may be padded with zeros.
  const low = bytes[at + 1]!;
  return (first << 8) | (low < 0x80 ? low : (low & 0x7f) | ((bytes[at + 2]! & 1) << 7));
}

export function readValueType(reader: ByteReader): string {
  const type = reader.u8();
  const name = VALUE_TYPES.get(type);
  if (name === undefined) throw unsupported(`the value type 0x${type.toString(16)}`);
  return name;
}

function readBlockType(reader: ByteReader): void {
  const first = reader.u8();
  if (first === EMPTY_BLOCK || VALUE_TYPES.has(first)) return;
  // Otherwise it is the index of a function type, a positive number of 33 bits.
  if (first >= 0x40 && first < 0x80) throw unsupported('typed references');
  if (first >= 0x80) reader.skipSigned(4);
}

function readMemoryArgument(reader: ByteReader): void {
  // Bit 6 of the alignment would say that a memory index follows.
  if (reader.u32() >= 0x40) throw unsupported('several memories');
  reader.u32();
}

function readMisc(reader: ByteReader): Step {
  const code = reader.u32();
  if (code <= 7) return STEP.plain; // saturating conversions
  switch (code) {
    case 8: // memory.init
    case 10: // memory.copy
      reader.u32();
      reader.u32();
      return STEP.bulk;
    case 11: // memory.fill
      reader.u32();
      return STEP.bulk;
    case 16: // table.size
      reader.u32();
      return STEP.plain;
    default:
      throw unsupported(`the opcode 0xfc ${code}`);
  }
}

function readSimd(reader: ByteReader): Step {
  const code = reader.u32();
  if (code <= 11 || code === 92 || code === 93) {
    readMemoryArgument(reader);
  } else if (code === 12 || code === 13) {
    reader.skip(16); // v128.const, i8x16.shuffle
  } else if (code >= 21 && code <= 34) {
    reader.skip(1); // lanes
  } else if (code >= 84 && code <= 91) {
    readMemoryArgument(reader);
    reader.skip(1);
  } else if (code > 255 || SIMD_GAPS.has(code)) {
    throw unsupported(`the opcode 0xfd ${code}`);
  }
  return STEP.plain;
}
