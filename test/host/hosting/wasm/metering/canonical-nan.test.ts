// A NaN that a module computes is the canonical one, whatever its operands are; instructions that only move bits
// preserve NaNs. The operands have a sign and a payload, which processors propagate.
import { describe, expect, test } from 'vitest';
import { metered } from '../support/metered-module.ts';

const ODD_32 = 'f32.const -nan:0x200001';
const ODD_64 = 'f64.const -nan:0x4000000000001';
const CANONICAL_32 = 0x7fc00000n;
const CANONICAL_64 = 0x7ff8000000000000n;
const ODD_BITS_32 = 0xffa00001n;
const ODD_BITS_64 = 0xfff4000000000001n;

/** Returns the 64-bit words that `code` stores at 0 and 8. */
async function stored(code: string): Promise<bigint[]> {
  const { exports, fuel, run } = await metered(
    `(func (export "run") (param $p i32) (local $s f32) (local $d f64)
      (local.set $s (${ODD_32})) (local.set $d (${ODD_64})) ${code})`,
  );
  fuel.value = 100_000;
  run(0);
  const { buffer } = exports['memory'] as WebAssembly.Memory;
  return [...new BigUint64Array(buffer, 0, 2)];
}

const one32 = '(local.get $s)';
const one64 = '(local.get $d)';
const v32 = `(f32x4.splat ${one32})`;
const v64 = `(f64x2.splat ${one64})`;
const unary = ['ceil', 'floor', 'trunc', 'nearest', 'sqrt'];
const binary = ['add', 'sub', 'mul', 'div', 'min', 'max'];
const both = (type: string, value: string) => [
  ...unary.map((name) => `(${type}.${name} ${value})`),
  ...binary.map((name) => `(${type}.${name} ${value} ${value})`),
];
const twice = (word: bigint) => (word << 32n) | word;

describe('the canonical NaN comes out of', () => {
  test.each([...both('f32', one32), `(f32.demote_f64 ${one64})`])('%s', async (code) => {
    expect(await stored(`(f32.store (local.get $p) ${code})`)).toEqual([CANONICAL_32, 0n]);
  });

  test.each([...both('f64', one64), `(f64.promote_f32 ${one32})`])('%s', async (code) => {
    expect(await stored(`(f64.store (local.get $p) ${code})`)).toEqual([CANONICAL_64, 0n]);
  });

  test.each(both('f32x4', v32))('%s', async (code) => {
    const word = twice(CANONICAL_32);
    expect(await stored(`(v128.store (local.get $p) ${code})`)).toEqual([word, word]);
  });

  test.each(both('f64x2', v64))('%s', async (code) => {
    const words = [CANONICAL_64, CANONICAL_64];
    expect(await stored(`(v128.store (local.get $p) ${code})`)).toEqual(words);
  });

  test('vectors that are made wider or narrower', async () => {
    expect(await stored(`(v128.store (local.get $p) (f32x4.demote_f64x2_zero ${v64}))`)).toEqual([
      twice(CANONICAL_32),
      0n,
    ]);
    expect(await stored(`(v128.store (local.get $p) (f64x2.promote_low_f32x4 ${v32}))`)).toEqual([
      CANONICAL_64,
      CANONICAL_64,
    ]);
  });

  test('what is no number, on a processor that says it with the other sign', async () => {
    expect(
      await stored(`(local.set $d (f64.const 0))
        (i64.store (local.get $p) (i64.reinterpret_f64 (f64.div ${one64} ${one64})))`),
    ).toEqual([CANONICAL_64, 0n]);
  });
});

describe('however the bits of a NaN are looked at:', () => {
  test.each([
    ['stored', `(f64.store (local.get $p) (f64.add ${one64} ${one64}))`],
    [
      'as an integer',
      `(i64.store (local.get $p) (i64.reinterpret_f64 (f64.add ${one64} ${one64})))`,
    ],
    [
      'without its sign taken away',
      `(f64.store (local.get $p) (f64.neg (f64.neg (f64.add ${one64} ${one64}))))`,
    ],
    [
      'by the sign that it gives to another',
      `(i64.store (local.get $p) (select (i64.const ${CANONICAL_64}) (i64.const 1)
        (f64.eq (f64.const 1) (f64.copysign (f64.const 1) (f64.add ${one64} ${one64})))))`,
    ],
    [
      'out of a local',
      `(local.set $d (f64.add ${one64} ${one64})) (f64.store (local.get $p) ${one64})`,
    ],
    [
      'out of a block',
      `(f64.store (local.get $p) (block (result f64) (f64.add ${one64} ${one64})))`,
    ],
    [
      'out of a function',
      `(f64.store (local.get $p) (if (result f64) (local.get $p) (then (f64.const 1))
        (else (return (f64.store (local.get $p) (f64.mul (f64.add ${one64} ${one64}) ${one64}))))))`,
    ],
    [
      'after arithmetic that does not look at it',
      `(f64.store (local.get $p) (f64.sqrt (f64.sqrt (f64.sqrt ${one64}))))`,
    ],
    [
      'in lanes of another width',
      `(v128.store (local.get $p) (i64x2.add (f64x2.add ${v64} ${v64}) (v128.const i64x2 0 0)))
       (i64.store offset=8 (local.get $p) (i64.const 0))`,
    ],
  ])('%s', async (_how, code) => {
    expect(await stored(code)).toEqual([CANONICAL_64, 0n]);
  });

  test('by arithmetic on lanes of another width', async () => {
    // The upper half of a canonical NaN of 64 bits is one of 32 bits, and its lower half is 0.
    const code = `(v128.store (local.get $p) (f32x4.add (v128.const i64x2 0 0) (f64x2.add ${v64} ${v64})))`;
    const word = CANONICAL_32 << 32n;
    expect(await stored(code)).toEqual([word, word]);
  });
});

test.each([
  ['a constant', `(f64.store (local.get $p) (${ODD_64}))`, [ODD_BITS_64, 0n]],
  ['a local', `(f32.store (local.get $p) ${one32})`, [ODD_BITS_32, 0n]],
  [
    'a load',
    `(i64.store (local.get $p) (i64.const ${BigInt.asIntN(64, ODD_BITS_64)}))
     (f64.store offset=8 (local.get $p) (f64.load (local.get $p)))`,
    [ODD_BITS_64, ODD_BITS_64],
  ],
  ['a sign', `(f64.store (local.get $p) (f64.abs ${one64}))`, [ODD_BITS_64 & ~(1n << 63n), 0n]],
  ['a vector', `(v128.store (local.get $p) ${v64})`, [ODD_BITS_64, ODD_BITS_64]],
  [
    'the lesser of two lanes',
    `(v128.store (local.get $p) (f64x2.pmin ${v64} ${v64}))`,
    [ODD_BITS_64, ODD_BITS_64],
  ],
])('%s is moved as it is', async (_what, code, words) => {
  expect(await stored(code)).toEqual(words);
});

test('numbers, infinities and zeros are computed as ever', async () => {
  const { exports, fuel, run } = await metered(
    `(func (export "run") (param $p i32) (param $n i32) (local $a f64) (local $b i64)
      (local.set $a (f64.convert_i32_s (local.get $n)))
      (f64.store (i32.const 0) (f64.div (f64.const 1) (local.get $a)))
      (f64.store (i32.const 8) (f64.neg (f64.sqrt (local.get $a))))
      (v128.store (i32.const 16) (f32x4.mul (f32x4.splat (f32.demote_f64 (local.get $a))) (v128.const f32x4 1 -2 inf 0.5))))`,
  );
  const results = (n: number) => {
    fuel.value = 100_000;
    run(0, n);
    const { buffer } = exports['memory'] as WebAssembly.Memory;
    return [[...new Float64Array(buffer, 0, 2)], [...new Float32Array(buffer, 16, 4)]];
  };
  expect(results(4)).toEqual([
    [0.25, -2],
    [4, -8, Infinity, 2],
  ]);
  expect(results(0)).toEqual([
    [Infinity, -0],
    [0, -0, NaN, 0],
  ]);
});
