// CodeMetering: code pays the worst-case cost of its instructions, once for each time that they may run.
import { describe, expect, test } from 'vitest';
import {
  entryUnits,
  turnUnits,
} from '../../../../../host/hosting/wasm/metering/instruction-cost.ts';
import { metered, unitsOf } from '../support/metered-module.ts';

const N = 640;
/** A function with `count` of them, beside one without. */
async function unitsEach(one: string, more = ''): Promise<number> {
  const body = (code: string) => `${more} (func (export "run") (local $i i32) (local $l i64)
    (local $s f32) (local $d f64) (local $v v128) ${code})`;
  const many = unitsOf(await metered(body(one.repeat(N))));
  return (many - unitsOf(await metered(body('')))) / N;
}

/** `$f`, and the declaration that `ref.func` needs. */
const FUNCTION =
  '(func $f) (elem declare func $f) (table 2 funcref) (elem (i32.const 0) func $f) (type $t (func))';

describe('pays a unit for what takes about 16 nanoseconds at its worst:', () => {
  test.each([
    ['a load', 15, '(local.set $i (i32.load (local.get $i)))'],
    ['a load of a vector', 15, '(local.set $v (v128.load (local.get $i)))'],
    ['a load of a lane', 15, '(local.set $v (v128.load8_lane 0 (local.get $i) (local.get $v)))'],
    ['a load of one lane alone', 15, '(local.set $v (v128.load64_zero (local.get $i)))'],
    ['a store', 1.5, '(i32.store (local.get $i) (local.get $i))'],
    ['a store of a vector', 1.5, '(v128.store (local.get $i) (local.get $v))'],
    ['a store of a lane', 1.5, '(v128.store8_lane 0 (local.get $i) (local.get $v))'],
    ['a division', 1.8, '(local.set $i (i32.div_u (local.get $i) (i32.const 3)))'],
    ['a remainder', 1.8, '(local.set $l (i64.rem_s (local.get $l) (i64.const 3)))'],
    ['an f32', 2.5, '(local.set $s (f32.mul (local.get $s) (local.get $s)))'],
    ['an f64', 2.5, '(local.set $d (f64.sqrt (local.get $d)))'],
    ['a promotion', 2.5, '(local.set $d (f64.promote_f32 (local.get $s)))'],
    ['a demotion', 2.5, '(local.set $s (f32.demote_f64 (local.get $d)))'],
    ['a vector of f32', 2.5, '(local.set $v (f32x4.div (local.get $v) (local.get $v)))'],
    ['a vector of f64', 2.5, '(local.set $v (f64x2.mul (local.get $v) (local.get $v)))'],
    ['a promoted vector', 2.5, '(local.set $v (f64x2.promote_low_f32x4 (local.get $v)))'],
    ['rounding', 0.5, '(local.set $d (f64.nearest (local.get $d)))'],
    ['a conversion', 0.5, '(local.set $l (i64.trunc_sat_f64_u (local.get $d)))'],
    ['a vector of integers', 0.35, '(local.set $v (i64x2.mul (local.get $v) (local.get $v)))'],
    ['a branch', 0.5, '(block (br_if 0 (local.get $i)))'],
    ['a table of branches', 6, '(block (br_table 0 0 0 (local.get $i)))'],
    ['moving no byte', 15, '(memory.copy (local.get $i) (local.get $i) (i32.const 0))'],
    ['filling no byte', 15, '(memory.fill (local.get $i) (local.get $i) (i32.const 0))'],
  ])('%s', async (_what, units, one) => {
    expect(await unitsEach(one)).toBeGreaterThanOrEqual(units);
  });

  test.each([
    ['a call', 6.5, '(call $f)'],
    ['a call through a table', 12, '(call_indirect (type $t) (i32.const 0))'],
    ['a reference to a function', 60, '(drop (ref.func $f))'],
    ['a reference out of a table', 60, '(drop (table.get 0 (local.get $i)))'],
  ])('%s', async (_what, units, one) => {
    expect(await unitsEach(one, FUNCTION)).toBeGreaterThanOrEqual(units);
  });

  test('and little for what only counts', async () => {
    const units = await unitsEach('(local.set $i (i32.add (local.get $i) (i32.const 1)))');
    expect(units).toBeGreaterThan(0.1);
    expect(units).toBeLessThan(0.2);
  });
});

describe('pays', () => {
  const loads = '(drop (i32.load (i32.const 0)))'.repeat(64);

  test('for the code of a loop at each turn, and not at the entry of what is around it', async () => {
    const turns = await metered(`(func (export "run") (param $n i32)
      (loop $l (br_if $l (local.tee $n (i32.sub (local.get $n) (i32.const 1)))) ) (loop ${loads}))`);
    const once = unitsOf(turns, 1);
    expect(once).toBeGreaterThan(1000);
    expect(once).toBeLessThan(1050);
    expect(unitsOf(turns, 1001) - once).toBe(1000);
  });

  test('for the code of an inner loop at its own turns alone', async () => {
    const module = await metered(`(func (export "run") (param $n i32)
      (loop $outer
        (if (i32.eqz (local.get $n)) (then (loop ${loads})))
        (br_if $outer (i32.ge_s (local.tee $n (i32.sub (local.get $n) (i32.const 1))) (i32.const 0)))
        ${loads}))`);
    const [one, ten] = [unitsOf(module, 0), unitsOf(module, 9)];
    expect(one).toBeGreaterThan(2000);
    expect(ten - one).toBeGreaterThan(9 * 1000);
    expect(ten - one).toBeLessThan(9 * 1050);
  });

  test('for what stands behind a loop that was never entered', async () => {
    const module = await metered(`(func (export "run") (param $n i32)
      (if (local.get $n) (then (loop))) ${loads})`);
    expect(unitsOf(module, 0)).toBeGreaterThan(1000);
  });

  test('for locals by their number', async () => {
    const many = await metered(`(func (export "run") ${'(local i64) '.repeat(1600)})`);
    const none = await metered('(func (export "run"))');
    expect(unitsOf(many) - unitsOf(none)).toBe(50);
  });

  test('for growing the memory, and for each page that it grows by', async () => {
    const module = await metered(
      '(func (export "run") (param $n i32) (drop (memory.grow (local.get $n))))',
    );
    const none = unitsOf(module, 0);
    expect(none).toBeGreaterThan(2000);
    expect(unitsOf(module, 3) - none).toBe(3000);
    expect(unitsOf(module, 100)).toBe(none);
  });

  test('never more than the counter can be lowered by at once', () => {
    expect(turnUnits(1e15)).toBe(2 ** 31 - 1);
    expect(entryUnits(1e15, 50_000)).toBe(2 ** 31 - 1);
  });
});
