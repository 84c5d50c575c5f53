// ModuleRewriter: metered code stops, all other code computes the same as before, and code that cannot be metered or
// undone is refused.
import { describe, expect, test } from 'vitest';
import {
  BEGIN_EXPORT,
  FUEL_EXPORT,
  GROWTH_REFUSED_EXPORT,
  SAVE_GLOBALS_EXPORT,
  PAGES_EXPORT,
  RESTORE_GLOBALS_EXPORT,
  START_EXPORT,
} from '../../../../../host/hosting/wasm/metering/module-rewriter.ts';
import { SvcError } from '../../../../../kit/svc-error.ts';
import { SMALL_LIMITS, metered, rewrite } from '../support/metered-module.ts';

async function refusal(fields: string, memory?: string): Promise<string> {
  try {
    await rewrite(fields, memory);
  } catch (error) {
    if (error instanceof SvcError) return error.code;
    throw error;
  }
  return 'admitted';
}

describe('fuel', () => {
  test.each([
    ['an empty loop', '(func (export "run") (loop $l (br $l)))'],
    ['a loop inside a loop', '(func (export "run") (loop $l (loop $k (br $k))))'],
    [
      'a loop entered by br_table',
      '(func (export "run") (loop $l (block $b (br_table $b $l (i32.const 1)))))',
    ],
    [
      'a loop in an else',
      '(func (export "run") (if (i32.const 0) (then) (else (loop $l (br $l)))))',
    ],
    [
      'a loop with parameters',
      '(func (export "run") (i32.const 1) (loop $l (param i32) (drop) (br $l (i32.const 1))))',
    ],
    ['recursion in tail position', '(func $f (export "run") (return_call $f))'],
    [
      'functions that call each other in a table',
      `(type $t (func)) (table 2 funcref) (elem (i32.const 0) $f $g)
       (func $f (export "run") (type $t) (return_call_indirect (type $t) (i32.const 1)))
       (func $g (type $t) (return_call_indirect (type $t) (i32.const 0)))`,
    ],
    [
      'growing by nothing again and again',
      '(func (export "run") (loop $l (drop (memory.grow (i32.const 0))) (br $l)))',
    ],
    [
      'a tree of calls',
      '(func $f (export "run") (call $g) (call $g)) (func $g (call $h) (call $h)) (func $h (loop $l (br $l)))',
    ],
  ])('stops %s', async (_what, fields) => {
    const { fuel, run } = await metered(fields);
    fuel.value = 100_000;
    expect(() => run()).toThrow(WebAssembly.RuntimeError);
    expect(fuel.value).toBeLessThan(0);
  });

  test('stops deep recursion, unless the stack ends first', async () => {
    const { fuel, run } = await metered('(func $f (export "run") (call $f))');
    fuel.value = 1000;
    expect(() => run()).toThrow(WebAssembly.RuntimeError);
    fuel.value = 2_000_000_000;
    expect(() => run()).toThrow(RangeError);
  });

  test('covers a start function with the small budget of starting', async () => {
    const bytes = await rewrite('(func $s (loop $l (br $l))) (start $s)');
    const { exports } = new WebAssembly.Instance(new WebAssembly.Module(bytes), {});
    expect(exports[START_EXPORT]).toThrow(WebAssembly.RuntimeError);
    expect(exports[FUEL_EXPORT]).toHaveProperty(
      'value',
      expect.toSatisfy((left) => left < 0),
    );
  });

  test.each([
    ['filling', '(memory.fill (i32.const 0) (i32.const 1) (i32.const 65536))'],
    ['copying', '(memory.copy (i32.const 0) (i32.const 1) (i32.const 65535))'],
  ])('pays for %s by the byte', async (_what, body) => {
    const { fuel, run } = await metered(`(func (export "run") ${body})`);
    fuel.value = 10_000;
    run();
    expect(fuel.value).toBeLessThan(10_000 - 65_535 / 64);
    fuel.value = 1000;
    expect(() => run()).toThrow(WebAssembly.RuntimeError);
  });

  test('pays for initialising from a segment by the byte', async () => {
    const { fuel, run } = await metered(
      `(data $d "${'x'.repeat(6400)}")
       (func (export "run") (memory.init $d (i32.const 0) (i32.const 0) (i32.const 6400)))`,
    );
    fuel.value = 10_000;
    run();
    expect(fuel.value).toBeLessThan(10_000 - 100);
  });
});

describe('the rewritten code computes the same', () => {
  test.each([
    [
      'loops',
      `(func (export "run") (param $n i32) (result i32) (local $sum i32)
        (loop $l (local.set $sum (i32.add (local.get $sum) (local.get $n)))
          (br_if $l (local.tee $n (i32.sub (local.get $n) (i32.const 1)))))
        (local.get $sum))`,
      [10],
      55,
    ],
    [
      'recursion',
      `(func $fib (export "run") (param $n i32) (result i32)
        (if (result i32) (i32.lt_s (local.get $n) (i32.const 2)) (then (local.get $n))
          (else (i32.add (call $fib (i32.sub (local.get $n) (i32.const 1)))
            (call $fib (i32.sub (local.get $n) (i32.const 2)))))))`,
      [12],
      144,
    ],
    [
      'br_table, select and blocks with results',
      `(func (export "run") (param $n i32) (result i32)
        (block $c (block $b (block $a (br_table $a $b $c (local.get $n))) (return (i32.const 10)))
          (return (select (i32.const 20) (i32.const 21) (local.get $n))))
        (block (result i32) (i32.const 30)))`,
      [1],
      20,
    ],
    [
      'tables and references',
      `(type $t (func (result i32))) (table 3 funcref) (elem (i32.const 1) $f) (elem declare func $f)
       (func $f (type $t) (i32.const 7))
       (func (export "run") (param $n i32) (result i32)
         (if (ref.is_null (table.get 0 (i32.const 0))) (then
           (drop (ref.func $f)) (drop (ref.null func)) (drop (table.size 0))
           (return (call_indirect (type $t) (local.get $n)))))
         (i32.const 0))`,
      [1],
      7,
    ],
    [
      'vectors',
      `(func (export "run") (param $n i32) (result i32)
        (v128.store align=1 (i32.const 0) (i32x4.splat (local.get $n)))
        (v128.store8_lane 3 (i32.const 64) (v128.load (i32.const 0)))
        (i32x4.extract_lane 3 (i32x4.add (v128.const i32x4 1 2 3 4)
          (i8x16.shuffle 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 (v128.load (i32.const 0)) (v128.load32_zero (i32.const 0))))))`,
      [5],
      9,
    ],
    [
      'wide constants, conversions and memory',
      `(func (export "run") (param $n i32) (result i32)
        (i64.store offset=300 (i32.const 4) (i64.const -9223372036854775808))
        (f64.store (i32.const 16) (f64.const 1.5)) (f32.store (i32.const 24) (f32.const 2.5))
        (memory.fill (i32.const 32) (i32.const 3) (local.get $n))
        (memory.copy (i32.const 40) (i32.const 32) (i32.const 4))
        (i32.add (i32.trunc_sat_f64_s (f64.load (i32.const 16)))
          (i32.add (i32.load8_u (i32.const 43)) (i32.extend8_s (i32.const 255)))))`,
      [4],
      3,
    ],
  ])('%s', async (_what, fields, parameters, expected) => {
    const { fuel, run } = await metered(fields);
    fuel.value = 10_000;
    expect(run(...parameters)).toBe(expected);
    expect(fuel.value).toBeGreaterThan(0);
    expect(fuel.value).toBeLessThan(10_000);
  });
});

describe('memory', () => {
  const grow = '(func (export "run") (param $n i32) (result i32) (memory.grow (local.get $n)))';

  test.each(['(memory (export "memory") 1)', '(memory (export "memory") 1 1000)'])(
    'grows to the limit and no further: %s',
    async (memory) => {
      const { exports, fuel, run } = await metered(grow, memory);
      fuel.value = 100_000;
      const refused = exports[GROWTH_REFUSED_EXPORT] as WebAssembly.Global;
      expect(run(7)).toBe(1);
      expect(refused.value).toBe(0);
      expect(run(1)).toBe(-1);
      expect(refused.value).toBe(1);
      expect(run(0)).toBe(8);
    },
  );

  test('is restored to the size that the module knew, and grows without growing', async () => {
    const { exports, fuel, run } = await metered(
      `(func (export "size") (result i32) (memory.size)) ${grow}`,
      '(memory (export "memory") 1)',
    );
    const size = exports['size'] as () => number;
    const memory = exports['memory'] as WebAssembly.Memory;
    const call = (name: string) => (exports[name] as () => void)();
    fuel.value = 1_000_000;
    expect(run(1)).toBe(1);
    call(SAVE_GLOBALS_EXPORT);
    expect(run(3)).toBe(2);
    const { buffer } = memory;
    call(RESTORE_GLOBALS_EXPORT);
    expect(size()).toBe(2);
    expect([run(0), run(2), run(1), size()]).toEqual([2, 2, 4, 5]);
    expect(memory.buffer).toBe(buffer);
    expect([run(3), size(), run(1)]).toEqual([5, 8, -1]);
    expect(memory.buffer.byteLength).toBe(8 * 65_536);
    expect((exports[PAGES_EXPORT] as WebAssembly.Global).value).toBe(8);
  });

  test("keeps the module's own maximum when it is smaller", async () => {
    const { fuel, run } = await metered(grow, '(memory (export "memory") 1 2)');
    fuel.value = 100_000;
    expect(run(2)).toBe(-1);
    expect(run(1)).toBe(1);
  });

  test('may not begin larger than the limit', async () => {
    expect(await refusal('', '(memory 9)')).toBe('SVC_MODULE_STRUCTURE');
    expect(await refusal('', '(memory 8)')).toBe('admitted');
  });

  test('is one, of its own, with 32 bits, and not shared', async () => {
    expect(await refusal('', '')).toBe('SVC_MODULE_STRUCTURE');
    expect(await refusal('', '(memory 1) (memory 1)')).toBe('SVC_MODULE_UNSUPPORTED_CODE');
    expect(await refusal('', '(memory i64 1)')).toBe('SVC_MODULE_UNSUPPORTED_CODE');
    expect(await refusal('', '(memory 1 2 shared)')).toBe('SVC_MODULE_UNSUPPORTED_CODE');
  });
});

describe('what could not be undone or metered is refused', () => {
  test.each([
    ['large tables', '(table 6 funcref) (table 5 funcref)', 'SVC_MODULE_STRUCTURE'],
    ['tables of references', '(table 1 externref)'],
    ['table.set', '(table 1 funcref) (func (table.set 0 (i32.const 0) (ref.null func)))'],
    ['table.grow', '(table 1 funcref) (func (drop (table.grow 0 (ref.null func) (i32.const 1))))'],
    [
      'table.fill',
      '(table 1 funcref) (func (table.fill 0 (i32.const 0) (ref.null func) (i32.const 1)))',
    ],
    [
      'table.copy',
      '(table 1 funcref) (func (table.copy (i32.const 0) (i32.const 0) (i32.const 0)))',
    ],
    [
      'table.init',
      '(table 1 funcref) (elem $e funcref) (func (table.init $e (i32.const 0) (i32.const 0) (i32.const 0)))',
    ],
    ['elem.drop', '(elem $e funcref) (func (elem.drop $e))'],
    ['data.drop', '(data $d "x") (func (data.drop $d))'],
    ['exceptions', '(tag $t) (func (throw $t))'],
    ['try_table', '(func (block $b (try_table (catch_all $b))))'],
    ['atomics', '(func (drop (i32.atomic.load (i32.const 0))))'],
    ['garbage collection', '(type $s (struct (field i32)))'],
    ['i31 references', '(func (drop (ref.i31 (i32.const 1))))'],
    [
      'typed references',
      '(type $t (func)) (func $f (param (ref null $t)) (call_ref $t (local.get 0)))',
    ],
    [
      'relaxed vectors',
      '(func (drop (i8x16.relaxed_swizzle (v128.const i64x2 0 0) (v128.const i64x2 0 0))))',
    ],
    ['more mutable globals than are put back', '(global (mut i32) (i32.const 0))'.repeat(1001)],
    [
      'a reserved name',
      '(global (export "svc-host:global-0") i32 (i32.const 0))',
      'SVC_MODULE_STRUCTURE',
    ],
  ])('%s', async (_what, fields, code = 'SVC_MODULE_UNSUPPORTED_CODE') => {
    expect(await refusal(fields)).toBe(code);
  });
});

test('mutable globals of every type are restored to their saved values', async () => {
  const { exports, fuel, run } = await metered(
    `(elem declare func $f) (func $f)
     (global $i (mut i32) (i32.const 1)) (global i64 (i64.const 2)) (global $l (mut i64) (i64.const 3))
     (global $s (mut f32) (f32.const 4)) (global $d (mut f64) (f64.const 5))
     (global $v (mut v128) (v128.const i32x4 6 6 6 6)) (global $r (mut funcref) (ref.func $f))
     (global $e (mut externref) (ref.null extern))
     (func (export "run")
       (global.set $i (i32.const 0)) (global.set $l (i64.const 0)) (global.set $s (f32.const 0))
       (global.set $d (f64.const 0)) (global.set $v (v128.const i32x4 0 0 0 0))
       (global.set $r (ref.null func)) (global.set $e (ref.null extern)))
     (func (export "sum") (result f64)
       (f64.add (f64.convert_i32_s (i32.add (global.get $i) (i32.add
           (i32x4.extract_lane 3 (global.get $v))
           (i32.add (i32.mul (i32.const 100) (ref.is_null (global.get $r))) (ref.is_null (global.get $e))))))
         (f64.add (f64.convert_i64_s (global.get $l))
           (f64.add (f64.promote_f32 (global.get $s)) (global.get $d)))))`,
  );
  const call = (name: string) => (exports[name] as () => number)();
  fuel.value = 1000;
  expect(call('sum')).toBe(1 + 3 + 4 + 5 + 6 + 1);
  call(SAVE_GLOBALS_EXPORT);
  run();
  expect(call('sum')).toBe(101);
  call(RESTORE_GLOBALS_EXPORT);
  expect(call('sum')).toBe(20);
});

test('a call begins with its fuel, and without the refusal of an earlier one', async () => {
  const { exports, fuel, run } = await metered(
    '(func (export "run") (param $n i32) (result i32) (memory.grow (local.get $n)))',
  );
  const begin = exports[BEGIN_EXPORT] as (units: number) => void;
  const refused = exports[GROWTH_REFUSED_EXPORT] as WebAssembly.Global;
  begin(10_000);
  run(1000);
  expect(refused.value).toBe(1);
  begin(20_000);
  expect([refused.value, fuel.value]).toEqual([0, 20_000]);
});

test('custom sections are left out', async () => {
  const bytes = await rewrite(
    '(func $a_name_that_would_show (export "run")) (@custom "notes" "text")',
  );
  const text = Buffer.from(bytes).toString('latin1');
  expect(text).not.toContain('a_name_that_would_show');
  expect(text).not.toContain('notes');
});

test('code that grows too long while it is metered is refused', async () => {
  const loops = `(func ${'(loop)'.repeat(200)})`.repeat(20);
  const plain = 20 * 200 * 3;
  const small = { ...SMALL_LIMITS, moduleBytesMax: plain };
  await expect(rewrite(loops, undefined, small)).rejects.toMatchObject({
    code: 'SVC_MODULE_TOO_LARGE',
  });
  await expect(
    rewrite(loops, undefined, { ...small, moduleBytesMax: 10 * plain }),
  ).resolves.toBeDefined();
});
