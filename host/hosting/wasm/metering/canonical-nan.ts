// Makes the bits of a NaN the same on every machine and in every tier of the compiler. The processor chooses
// which NaN float arithmetic returns; the rewritten code replaces it by the canonical one, as the deterministic
// profile of WebAssembly requires, unless the next instruction does not see the bits. Instructions that only
// move bits (loads, stores, constants, neg, abs, copysign, pmin) are exact and stay unchanged.
import type { ByteWriter } from '../binary/byte-writer.ts';
import { type Code, OP } from '../binary/instruction-reader.ts';

/** Type of an instruction's result that may be a NaN of the processor's choice. */
export const NAN_KIND = { none: 0, f32: 1, f64: 2, f32x4: 3, f64x2: 4 } as const;
export type NanKind = (typeof NAN_KIND)[keyof typeof NAN_KIND];

const KINDS = new Uint8Array(256);
const set = (kind: NanKind, first: number, last = first) => KINDS.fill(kind, first, last + 1);
set(NAN_KIND.f32, 0x8d, 0x97); // ceil, floor, trunc, nearest, sqrt, add, sub, mul, div, min, max
set(NAN_KIND.f64, 0x9b, 0xa5);
set(NAN_KIND.f32, 0xb6); // f32.demote_f64
set(NAN_KIND.f64, 0xbb); // f64.promote_f32

const VECTOR_KINDS = new Uint8Array(256);
const setVector = (kind: NanKind, ...codes: readonly number[]) => {
  for (const code of codes) VECTOR_KINDS[code] = kind;
};
setVector(NAN_KIND.f32x4, 0x67, 0x68, 0x69, 0x6a); // ceil, floor, trunc, nearest
setVector(NAN_KIND.f64x2, 0x74, 0x75, 0x7a, 0x94);
setVector(NAN_KIND.f32x4, 0xe3, 0xe4, 0xe5, 0xe6, 0xe7, 0xe8, 0xe9); // sqrt to div, min, max
setVector(NAN_KIND.f64x2, 0xef, 0xf0, 0xf1, 0xf2, 0xf3, 0xf4, 0xf5);
/** f32x4.demote_f64x2_zero */
const DEMOTE = 0x5e;
setVector(NAN_KIND.f32x4, DEMOTE);
/** f64x2.promote_low_f32x4 */
const PROMOTE = 0x5f;
setVector(NAN_KIND.f64x2, PROMOTE);

/** Instructions that take a NaN without seeing its bits: arithmetic, comparisons, truncations. */
const BLIND = new Uint8Array(256);
const setBlind = (first: number, last = first) => BLIND.fill(1, first, last + 1);
setBlind(0x5b, 0x66); // comparisons of floats
setBlind(0x8d, 0x97); // f32.ceil to f32.max
setBlind(0x9b, 0xa5);
setBlind(0xa8, 0xab); // i32.trunc_f32_s to i32.trunc_f64_u
setBlind(0xae, 0xb1); // i64.trunc_f32_s to i64.trunc_f64_u
setBlind(0xb6); // f32.demote_f64
setBlind(0xbb); // f64.promote_f32
const SATURATING_LAST = 7;

const NAN_32 = [0, 0, 0xc0, 0x7f];
const NAN_64 = [0, 0, 0, 0, 0, 0, 0xf8, 0x7f];
const SELECT = 0x1b;
const V128_CONST = 12;
const BITSELECT = [OP.simd, 0x52];

interface Shape {
  /** Type of the value; the rewritten code needs a local of this type. */
  readonly type: number;
  /** Instruction that returns the canonical NaN. */
  readonly nan: readonly number[];
  /** Compares two values, lane by lane where they have lanes; a NaN does not equal itself. */
  readonly equal: readonly number[];
  /** (value, nan, equal) → the value where it equals itself, else the canonical NaN. */
  readonly choose: readonly number[];
}

/** Indexed by NanKind. */
const SHAPES: readonly Shape[] = [
  { type: 0, nan: [], equal: [], choose: [] },
  { type: 0x7d, nan: [0x43, ...NAN_32], equal: [0x5b], choose: [SELECT] },
  { type: 0x7c, nan: [0x44, ...NAN_64], equal: [0x61], choose: [SELECT] },
  {
    type: 0x7b,
    nan: [OP.simd, V128_CONST, ...NAN_32, ...NAN_32, ...NAN_32, ...NAN_32],
    equal: [OP.simd, 0x41],
    choose: BITSELECT,
  },
  {
    type: 0x7b,
    nan: [OP.simd, V128_CONST, ...NAN_64, ...NAN_64],
    equal: [OP.simd, 0x47],
    choose: BITSELECT,
  },
];

/** Returns the kind of NaN that the instruction may produce. */
export function nanKind(code: Code): NanKind {
  const low = code & 0xff;
  const prefix = code >>> 8;
  if (prefix === 0) return KINDS[low] as NanKind;
  return prefix === OP.simd ? (VECTOR_KINDS[low] as NanKind) : NAN_KIND.none;
}

/**
 * Returns whether `next`, right behind the instruction that produced a NaN of this kind, takes it without seeing its
 * bits.
 */
export function isBlindTo(next: Code, kind: NanKind): boolean {
  const low = next & 0xff;
  const prefix = next >>> 8;
  if (prefix === 0) return BLIND[low] === 1;
  if (prefix === OP.misc) return low <= SATURATING_LAST;
  // An instruction on lanes of another width sees the bits; DEMOTE and PROMOTE change the width.
  return VECTOR_KINDS[low] === kind && low !== DEMOTE && low !== PROMOTE;
}

/** The type of the local that `writeCanonical` needs for this kind. */
export function temporaryType(kind: NanKind): number {
  return SHAPES[kind]!.type;
}

/** Writes: value → value, or the canonical NaN for a NaN. `temporary`: a local of the value's type. */
export function writeCanonical(out: ByteWriter, kind: NanKind, temporary: number): void {
  const { nan, equal, choose } = SHAPES[kind]!;
  writeLocal(out, OP.localTee, temporary);
  for (const byte of nan) out.u8(byte);
  writeLocal(out, OP.localGet, temporary);
  writeLocal(out, OP.localGet, temporary);
  for (const byte of [...equal, ...choose]) out.u8(byte);
}

function writeLocal(out: ByteWriter, op: number, index: number): void {
  out.u8(op);
  out.u32(index);
}
