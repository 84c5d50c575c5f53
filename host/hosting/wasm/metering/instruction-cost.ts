// Worst-case cost of an instruction: on a value that is not in the processor's cache, on numbers that its
// circuits leave to microcode, on a mispredicted branch. Fuel counts the worst case rather than the usual
// one, so that fuel bounds time. A weight is a quarter of a nanosecond, as measured. A weight that is too
// high costs an honest module some of its fuel; one that is too low lets a hostile module run longer.
import { type Code, OP } from '../binary/instruction-reader.ts';

/** A unit of fuel is 2^6 weights, about 16 nanoseconds. */
export const UNIT_WEIGHT_BITS = 6;
const UNIT_WEIGHT = 1 << UNIT_WEIGHT_BITS;

/** Weight of entering a function, whose code may be in no cache. */
const ENTRY = 400;
/** Weight of an iteration of a loop: the check itself and a branch. */
const TURN = 8;
/** Weight of a local, which is set to zero on entry. */
const LOCAL = 2;

const PLAIN = 2;
const BRANCH = 32;
/** Weight of `call`; the function that it enters pays for the rest. */
const CALL = 32;
const INDIRECT = 400;
const LOAD = 1000;
/** Weight of a store: it waits for nothing, but its cache line has to be fetched and written back. */
const STORE = 100;
const GLOBAL = 16;
const DIVIDE = 120;
/** Weight of float arithmetic that may meet subnormal numbers. */
const FLOAT = 160;
const ROUND = 32;
const VECTOR = 24;
/** Weight of an instruction that may have to create a host object. */
const REFERENCE = 4000;
/** Weight of a call of V8's runtime that touches two uncached memory addresses; its bytes are paid for separately. */
const BULK = 1000;

const WEIGHTS = new Uint16Array(256).fill(PLAIN);
const set = (weight: number, first: number, last = first) => WEIGHTS.fill(weight, first, last + 1);
set(BRANCH, 0x04); // if
set(BRANCH, 0x0c, 0x0d); // br, br_if
set(INDIRECT, 0x0e); // br_table: a search among its labels
set(BRANCH, 0x0f); // return
set(CALL, OP.call);
set(INDIRECT, 0x11); // call_indirect
set(CALL, 0x12); // return_call
set(INDIRECT, 0x13); // return_call_indirect
set(4, 0x1b, 0x1c); // select
set(GLOBAL, OP.globalGet, OP.globalSet);
set(REFERENCE, 0x25); // table.get
set(LOAD, 0x28, 0x35);
set(STORE, 0x36, 0x3e);
set(GLOBAL, OP.memorySize);
set(CALL, OP.memoryGrow); // the host's own function pays for the rest
set(8, 0x5b, 0x66); // comparisons of floats
set(8, 0x67, 0x69); // i32.clz, ctz, popcnt
set(4, 0x6c); // i32.mul
set(DIVIDE, 0x6d, 0x70);
set(8, 0x79, 0x7b); // i64.clz, ctz, popcnt
set(4, 0x7e); // i64.mul
set(DIVIDE, 0x7f, 0x82);
set(ROUND, 0x8d, 0x90); // f32.ceil, floor, trunc, nearest
set(FLOAT, 0x91, 0x95);
set(16, 0x96, 0x98); // f32.min, max, copysign
set(ROUND, 0x9b, 0x9e);
set(FLOAT, 0x9f, 0xa3);
set(16, 0xa4, 0xa6);
set(ROUND, 0xa8, 0xb5); // conversions between integers and floats
set(FLOAT, 0xb6); // f32.demote_f64
set(ROUND, 0xb7, 0xba);
set(FLOAT, 0xbb); // f64.promote_f32
set(REFERENCE, 0xd2); // ref.func

const MISC_WEIGHTS = new Uint16Array(256).fill(ROUND); // saturating conversions
MISC_WEIGHTS.fill(BULK, 8, 12); // memory.init, copy, fill
MISC_WEIGHTS[16] = GLOBAL; // table.size

const VECTOR_WEIGHTS = new Uint16Array(256).fill(VECTOR);
const setVector = (weight: number, first: number, last = first) =>
  VECTOR_WEIGHTS.fill(weight, first, last + 1);
setVector(LOAD, 0x00, 0x0a);
setVector(STORE, 0x0b);
setVector(LOAD, 0x54, 0x57); // loads of a lane
setVector(STORE, 0x58, 0x5b); // stores of a lane
setVector(LOAD, 0x5c, 0x5d); // loads of a lane, the others zero
setVector(FLOAT, 0x5e, 0x5f); // f32x4.demote_f64x2_zero, f64x2.promote_low_f32x4
setVector(FLOAT, 0xe3, 0xe7); // f32x4.sqrt, add, sub, mul, div
setVector(FLOAT, 0xef, 0xf3);
setVector(ROUND, 0xf8, 0xff); // conversions between integers and floats

/** Returns the weight of the instruction. */
export function instructionWeight(code: Code): number {
  const low = code & 0xff;
  const prefix = code >>> 8;
  if (prefix === 0) return WEIGHTS[low]!;
  return prefix === OP.misc ? MISC_WEIGHTS[low]! : VECTOR_WEIGHTS[low]!;
}

/** Returns the weight of entering a function; `weight` is that of its code outside of loops. */
export function entryWeight(weight: number, locals: number): number {
  return ENTRY + weight + locals * LOCAL;
}

/** Returns the cost of entering a function in units of fuel. */
export function entryUnits(weight: number, locals: number): number {
  return units(entryWeight(weight, locals));
}

/** Returns the cost of an iteration of a loop in units; `weight` is that of its code outside of inner loops. */
export function turnUnits(weight: number): number {
  return units(TURN + weight);
}

/** Rounds up to units; the result is at most the fuel that exhausts any call. */
function units(weight: number): number {
  return Math.min(Math.ceil(weight / UNIT_WEIGHT), 0x7fff_ffff);
}
