// CompileCost: short code that is expensive to compile is refused; the output of compilers is far below the limit.
import { parse } from '@bytecodealliance/jco';
import { describe, expect, test } from 'vitest';
import { inspectModule } from '../../../../../host/hosting/wasm/admission/admission.ts';
import { checkCompileCost } from '../../../../../host/hosting/wasm/admission/compile-cost.ts';
import { readCoreModule } from '../../../../../host/hosting/wasm/binary/core-module-reader.ts';
import { SvcError } from '../../../../../kit/svc-error.ts';
import { guestModule } from '../support/guest-module.ts';

const FUNCTION_MAX = 5_000_000;

/** Returns the error message for a function with these locals and this code; '' if it is accepted. */
async function refusal(locals: number, code: string, fields = ''): Promise<string> {
  const declared = `(local ${'i32 '.repeat(locals)})`;
  return refusalOf(`(func $f (param i32) ${declared} ${code}) ${fields}`);
}

async function refusalOf(fields: string): Promise<string> {
  const core = readCoreModule(await parse(`(module (memory 1) (table 1 funcref) ${fields})`));
  expect(WebAssembly.validate(core.bytes)).toBe(true);
  try {
    checkCompileCost(core);
    return '';
  } catch (error) {
    if (error instanceof SvcError && error.code === 'SVC_MODULE_TOO_LARGE') return error.message;
    throw error;
  }
}

/** The maximum number of locals, together with the parameter. */
const LOCALS = 49_999;
const times = (count: number, code: string) => code.repeat(count);
/** Merge points with about 50,000 values each. The entry and the end of a function take three of them. */
const PLACES = FUNCTION_MAX / (LOCALS + 1) - 3;

describe('a function of 50,000 locals may have about a hundred', () => {
  const places: readonly [string, number, (count: number) => string][] = [
    ['blocks and ends', 2, (count) => times(count, '(block)')],
    ['paths, joined again', 2, (count) => times(count, '(if (i32.eqz (local.get 0)) (then))')],
    ['else paths', 3, (count) => times(count, '(if (i32.eqz (local.get 0)) (then) (else))')],
    ['loops', 4, (count) => times(count, '(loop)')],
    [
      'branches',
      1,
      (count) => `(block $b ${times(count - 2, '(br_if $b (i32.eqz (local.get 0)))')})`,
    ],
    ['jumps', 3, (count) => times(count, '(block $b (br $b))')],
    [
      'labels of tables',
      1,
      // One of the labels is the default, which is counted in addition.
      (count) => `(block $b (br_table ${times(count - 2, '$b ')} (local.get 0)))`,
    ],
    ['calls, of which 32 are one', 1 / 32, (count) => times(count, '(call $f (i32.const 0))')],
    [
      'calls through a table, of which 32 are one',
      1 / 32,
      (count) => times(count, '(call_indirect (param i32) (i32.const 0) (i32.const 0))'),
    ],
  ];
  test.each(places)('%s', async (_what, weight, code) => {
    const most = PLACES / weight;
    expect(await refusal(LOCALS, code(Math.floor(most * 0.97)))).toBe('');
    expect(await refusal(LOCALS, code(Math.ceil(most * 1.03)))).toContain(
      `and the limit is ${FUNCTION_MAX}`,
    );
  });
});

describe('a function may branch on bare values about five thousand times', () => {
  const branches: readonly [string, string][] = [
    ['a local', '(if (local.get 0) (then))'],
    ['a local that is set', '(if (local.tee 0 (i32.const 1)) (then))'],
    ['a result of a block', '(if (block (result i32) (i32.const 1)) (then))'],
    ['a local, out of a block', '(block (br_if 0 (local.get 0)))'],
    ['a local, by a table', '(block (br_table 0 (local.get 0)))'],
  ];
  test.each(branches)('%s', async (_what, code) => {
    expect(await refusal(0, times(4900, code))).toBe('');
    expect(await refusal(0, times(5100, code))).toContain('values at its branches');
  });
});

test('a function may branch on what it computes more often', async () => {
  expect(await refusal(0, times(20_000, '(if (i32.eqz (local.get 0)) (then))'))).toBe('');
});

describe('a value on the stack counts like a local', () => {
  const HEIGHT = 1000;
  const pushes: readonly [string, string, number][] = [
    ['a local', '(local.get 0)', 1],
    ['a constant', '(i32.const 1)', 1],
    ['the size of the memory', '(memory.size)', 1],
    ['a result of a call', '(call $two)', 2],
    ['a result of a call through a table', '(call_indirect (result i32 i32) (i32.const 0))', 2],
    ['a result of a block', '(block (result i32) (i32.const 1))', 1],
    ['a result of a block with a type', '(block (result i32 i32) (call $two))', 2],
    ['a reference', '(ref.null func)', 1],
    ['a reference to a function', '(ref.func $two)', 1],
    ['the size of a table', '(table.size)', 1],
    ['a vector', '(v128.const i64x2 0 0)', 1],
  ];
  const two = '(func $two (result i32 i32) (i32.const 1) (i32.const 2)) (elem declare func $two)';
  test.each(pushes)('%s', async (_what, push, values) => {
    const code = (places: number) =>
      `${times(HEIGHT / values, push)} ${times(places, '(block)')} ${times(HEIGHT, '(drop)')}`;
    expect(await refusal(0, code(100), two)).toBe('');
    expect(await refusal(0, code(2600), two)).toContain('values at its branches');
  });

  test('and is gone once it is taken away', async () => {
    const taken = [
      '(drop (i32.const 1))',
      '(local.set 0 (i32.const 1))',
      '(i32.store (i32.const 0) (i32.const 1))',
      '(drop (i32.add (i32.const 1) (i32.const 1)))',
      '(drop (f64.mul (f64.const 1) (f64.const 1)))',
      '(drop (select (i32.const 1) (i32.const 1) (i32.const 1)))',
      '(memory.fill (i32.const 0) (i32.const 0) (i32.const 0))',
      '(block $b (br_if $b (i32.const 1)))',
      '(if (i32.const 1) (then (nop)) (else (nop)))',
      '(block (i32.const 1) (i32.const 1) (br 0))',
      '(call $f (i32.const 1))',
    ];
    for (const code of taken) expect(await refusal(0, times(3000, code))).toBe('');
  });
});

test('functions together may be as dear as twenty of the dearest', async () => {
  const one = `(func (local ${'i32 '.repeat(LOCALS)}) ${times(Math.floor(PLACES / 2), '(block)')})`;
  expect(await refusalOf(times(20, one))).toBe('');
  expect(await refusalOf(times(21, one))).toContain('the limit is 100000000');
});

test('a module of a kilobyte that takes gigabytes to compile is not admitted', async () => {
  const fields = `(func (local ${'i32 '.repeat(LOCALS)}) ${times(3000, '(block)')})`;
  const { refusal: found } = inspectModule(await guestModule({ fields }));
  expect(found).toMatchObject({ code: 'SVC_MODULE_TOO_LARGE' });
});
