// Operations: the instructions that a generated function is made of, by what they take and give. Loads,
// stores, calls and control are written by code-grammar.ts itself.
import type { Random } from '../random.ts';

export type NumberType = 'i32' | 'i64' | 'f32' | 'f64' | 'v128';
export const NUMBER_TYPES: readonly NumberType[] = ['i32', 'i64', 'f32', 'f64', 'v128'];
export const TYPE_CODE: Readonly<Record<NumberType, number>> = {
  i32: 0x7f,
  i64: 0x7e,
  f32: 0x7d,
  f64: 0x7c,
  v128: 0x7b,
};

export interface Operation {
  readonly code: readonly number[];
  readonly takes: readonly NumberType[];
  /** Lanes of these floats in the result: their NaN may be any NaN. */
  readonly floats?: 'f32' | 'f64';
  /** An immediate byte below this. */
  readonly lanes?: number;
  /** The operand whose sign of NaN shows in the result. */
  readonly showsNanOf?: number;
}

const OPERATIONS: Record<NumberType, Operation[]> = {
  i32: [],
  i64: [],
  f32: [],
  f64: [],
  v128: [],
};

function plain(gives: NumberType, first: number, last: number, ...takes: NumberType[]): void {
  for (let code = first; code <= last; code++) OPERATIONS[gives].push({ code: [code], takes });
}
function simd(gives: NumberType, takes: readonly NumberType[], ...codes: readonly number[]): void {
  for (const code of codes)
    OPERATIONS[gives].push({ code: [0xfd, ...leb(code)], takes, ...floatsOf(code) });
}
function lane(gives: NumberType, code: number, lanes: number, ...takes: NumberType[]): void {
  OPERATIONS[gives].push({ code: [0xfd, code], takes, lanes, ...floatsOf(code) });
}
const leb = (code: number) => (code < 0x80 ? [code] : [(code & 0x7f) | 0x80, code >>> 7]);
const range = (first: number, last: number) =>
  Array.from({ length: last - first + 1 }, (_, index) => first + index);

const F32_LANES = new Set([19, 32, 94, ...range(103, 106), 224, 225, ...range(227, 235)]);
const F64_LANES = new Set([20, 34, 95, 116, 117, 122, 148, 236, 237, ...range(239, 247)]);

function floatsOf(code: number): { floats?: 'f32' | 'f64' } {
  if (F32_LANES.has(code)) return { floats: 'f32' };
  return F64_LANES.has(code) ? { floats: 'f64' } : {};
}

plain('i32', 0x45, 0x45, 'i32');
plain('i32', 0x46, 0x4f, 'i32', 'i32');
plain('i32', 0x50, 0x50, 'i64');
plain('i32', 0x51, 0x5a, 'i64', 'i64');
plain('i32', 0x5b, 0x60, 'f32', 'f32');
plain('i32', 0x61, 0x66, 'f64', 'f64');
plain('i32', 0x67, 0x69, 'i32');
plain('i32', 0x6a, 0x78, 'i32', 'i32');
plain('i64', 0x79, 0x7b, 'i64');
plain('i64', 0x7c, 0x8a, 'i64', 'i64');
plain('f32', 0x8b, 0x91, 'f32');
plain('f32', 0x92, 0x97, 'f32', 'f32');
plain('f64', 0x99, 0x9f, 'f64');
plain('f64', 0xa0, 0xa5, 'f64', 'f64');
OPERATIONS.f32.push({ code: [0x98], takes: ['f32', 'f32'], showsNanOf: 1 });
OPERATIONS.f64.push({ code: [0xa6], takes: ['f64', 'f64'], showsNanOf: 1 });
plain('i32', 0xa7, 0xa7, 'i64');
plain('i32', 0xa8, 0xa9, 'f32');
plain('i32', 0xaa, 0xab, 'f64');
plain('i64', 0xac, 0xad, 'i32');
plain('i64', 0xae, 0xaf, 'f32');
plain('i64', 0xb0, 0xb1, 'f64');
plain('f32', 0xb2, 0xb3, 'i32');
plain('f32', 0xb4, 0xb5, 'i64');
plain('f32', 0xb6, 0xb6, 'f64');
plain('f64', 0xb7, 0xb8, 'i32');
plain('f64', 0xb9, 0xba, 'i64');
plain('f64', 0xbb, 0xbb, 'f32');
OPERATIONS.i32.push({ code: [0xbc], takes: ['f32'], showsNanOf: 0 });
OPERATIONS.i64.push({ code: [0xbd], takes: ['f64'], showsNanOf: 0 });
plain('f32', 0xbe, 0xbe, 'i32');
plain('f64', 0xbf, 0xbf, 'i64');
plain('i32', 0xc0, 0xc1, 'i32');
plain('i64', 0xc2, 0xc4, 'i64');
for (const [index, from] of (['f32', 'f32', 'f64', 'f64'] as const).entries()) {
  OPERATIONS.i32.push({ code: [0xfc, index], takes: [from] });
  OPERATIONS.i64.push({ code: [0xfc, index + 4], takes: [from] });
}

const V1: readonly NumberType[] = ['v128'];
const V2: readonly NumberType[] = ['v128', 'v128'];
simd('v128', ['i32'], 15, 16, 17);
simd('v128', ['i64'], 18);
simd('v128', ['f32'], 19);
simd('v128', ['f64'], 20);
simd('v128', V2, 14, ...range(35, 76), ...range(78, 81), 101, 102, ...range(110, 115));
simd('v128', V2, ...range(118, 121), 123, 130, 133, 134, ...range(142, 147), 149);
simd('v128', V2, ...range(150, 153), ...range(155, 159), 174, 177, 181, ...range(182, 186));
simd('v128', V2, ...range(188, 191), 206, 209, ...range(213, 223), ...range(228, 235));
simd('v128', V2, ...range(240, 247));
simd('v128', V1, 77, 94, 95, 96, 97, 98, ...range(103, 106), 116, 117, 122, ...range(124, 129));
simd('v128', V1, ...range(135, 138), 148, 160, 161, ...range(167, 170), 192, 193);
simd('v128', V1, ...range(199, 202), 224, 225, 227, 236, 237, 239, ...range(248, 255));
simd('v128', ['v128', 'v128', 'v128'], 82);
simd('v128', ['v128', 'i32'], ...range(107, 109), ...range(139, 141), ...range(171, 173));
simd('v128', ['v128', 'i32'], ...range(203, 205));
simd('i32', V1, 83, 99, 100, 131, 132, 163, 164, 195, 196);
lane('i32', 21, 16, 'v128');
lane('i32', 22, 16, 'v128');
lane('v128', 23, 16, 'v128', 'i32');
lane('i32', 24, 8, 'v128');
lane('i32', 25, 8, 'v128');
lane('v128', 26, 8, 'v128', 'i32');
lane('i32', 27, 4, 'v128');
lane('v128', 28, 4, 'v128', 'i32');
lane('i64', 29, 2, 'v128');
lane('v128', 30, 2, 'v128', 'i64');
lane('f32', 31, 4, 'v128');
lane('v128', 32, 4, 'v128', 'f32');
lane('f64', 33, 2, 'v128');
lane('v128', 34, 2, 'v128', 'f64');

export function pickOperation(random: Random, gives: NumberType): Operation {
  return random.pick(OPERATIONS[gives]);
}

/** Loads and stores: their code and the greatest alignment, as a power of two. */
export const LOADS: Readonly<
  Record<NumberType, readonly (readonly [readonly number[], number])[]>
> = {
  i32: [
    [[0x28], 2],
    [[0x2c], 0],
    [[0x2d], 0],
    [[0x2e], 1],
    [[0x2f], 1],
  ],
  i64: [
    [[0x29], 3],
    [[0x30], 0],
    [[0x31], 0],
    [[0x32], 1],
    [[0x33], 1],
    [[0x34], 2],
    [[0x35], 2],
  ],
  f32: [[[0x2a], 2]],
  f64: [[[0x2b], 3]],
  v128: [
    [[0xfd, 0], 4],
    ...range(1, 6).map((code) => [[0xfd, code], 3] as const),
    ...range(7, 10).map((code) => [[0xfd, code], code - 7] as const),
    [[0xfd, 92], 2],
    [[0xfd, 93], 3],
  ],
};
export const STORES: typeof LOADS = {
  i32: [
    [[0x36], 2],
    [[0x3a], 0],
    [[0x3b], 1],
  ],
  i64: [
    [[0x37], 3],
    [[0x3c], 0],
    [[0x3d], 1],
    [[0x3e], 2],
  ],
  f32: [[[0x38], 2]],
  f64: [[[0x39], 3]],
  v128: [[[0xfd, 11], 4]],
};
