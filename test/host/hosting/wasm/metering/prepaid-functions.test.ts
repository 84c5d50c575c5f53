// PrepaidFunctions: which functions their callers pay for, and that they do.
import { parse } from '@bytecodealliance/jco';
import { describe, expect, test } from 'vitest';
import { readCoreModule } from '../../../../../host/hosting/wasm/binary/core-module-reader.ts';
import { prepaidFunctions } from '../../../../../host/hosting/wasm/metering/prepaid-functions.ts';
import { type MeteredModule, metered, unitsOf } from '../support/metered-module.ts';

const SMALL = '(func $small (result i32) (i32.const 7))';
const RUN = '(func (export "run") (drop (call $small)))';

/** A module whose `run` has this code. */
function calls(code: string): Promise<MeteredModule> {
  return metered(`${SMALL} (func (export "run") (param $n i32) ${code})`);
}

/** Indexes of the prepaid functions of a module with these fields. */
async function prepaidOf(fields: string): Promise<number[]> {
  const bytes = await parse(`(module (memory 1) ${fields})`);
  expect(WebAssembly.validate(bytes)).toBe(true);
  return [...prepaidFunctions(readCoreModule(bytes)).keys()];
}

describe('a small function that is called directly', () => {
  test('is prepaid', async () => {
    expect(await prepaidOf(SMALL + RUN)).toEqual([0]);
  });

  test.each([
    ['is exported', '(export "small" (func $small))'],
    ['is in a table', '(table 1 funcref) (elem (i32.const 0) func $small)'],
    ['could be put into a table', '(table 1 funcref) (elem func $small)'],
    ['is in an expression', '(table 1 funcref) (elem (i32.const 0) funcref (ref.func $small))'],
    ['is declared to be referred to', '(elem declare func $small)'],
    ['is in a global', '(global funcref (ref.func $small))'],
  ])('pays for itself when it %s', async (_how, field) => {
    expect(await prepaidOf(SMALL + RUN + field)).toEqual([]);
  });

  test('pays for itself when it is the start', async () => {
    expect(await prepaidOf('(func $start) (start $start) (func (call $start))')).toEqual([1]);
  });

  test('pays for itself when it calls one that could be prepaid, or itself', async () => {
    expect(await prepaidOf(`${SMALL} (func $caller (drop (call $small)))`)).toEqual([0]);
    expect(await prepaidOf('(func $f (call $f))')).toEqual([]);
    expect(await prepaidOf('(func $f (call $g)) (func $g (call $f))')).toEqual([]);
    expect(await prepaidOf('(func $f (return_call $g)) (func $g)')).toEqual([1]);
  });

  test('pays for itself when entering it is dear, and not for what it does in loops', async () => {
    const loads = '(drop (i32.load (i32.const 0)))'.repeat(4);
    expect(await prepaidOf(`(func ${loads})`)).toEqual([]);
    expect(await prepaidOf(`(func (loop ${loads}))`)).toEqual([0]);
    expect(await prepaidOf(`(func ${'(local i64) '.repeat(1000)})`)).toEqual([]);
  });
});

describe('its caller', () => {
  const N = 64;

  test.each([
    ['at its entry', '(drop (call $small))'.repeat(N)],
    [
      'also for calls that are not reached',
      `(if (local.get $n) (then (return))) ${'(drop (call $small))'.repeat(N)}`,
    ],
  ])('pays for it %s', async (_how, code) => {
    const paid = unitsOf(await calls(code), 1) - unitsOf(await calls(''), 1);
    expect(paid / N).toBeGreaterThan(6.5);
    expect(paid / N).toBeLessThan(8);
  });

  test('pays for it at each turn of a loop', async () => {
    const loop = await calls(`(loop $l (drop (call $small))
      (br_if $l (local.tee $n (i32.sub (local.get $n) (i32.const 1)))))`);
    expect(unitsOf(loop, 1 + N) - unitsOf(loop, 1)).toBeGreaterThan(7 * N);
  });

  test('pays for it when it ends with the call', async () => {
    const tail = await metered(`${SMALL} (func (export "run") (result i32) (return_call $small))`);
    const none = await metered('(func (export "run") (result i32) (i32.const 7))');
    expect(unitsOf(tail) - unitsOf(none)).toBeGreaterThan(6.5);
  });

  test('has no end without fuel, however small the functions are', async () => {
    for (const fields of [
      '(func $f (return_call $f)) (func (export "run") (call $f))',
      '(func $f (return_call $g)) (func $g (return_call $f)) (func (export "run") (call $f))',
      '(func $f (return_call $g)) (func $g (return_call $h)) (func $h (return_call $f)) (func (export "run") (call $g))',
    ]) {
      const { fuel, run } = await metered(fields);
      fuel.value = 100_000;
      expect(() => run()).toThrow(WebAssembly.RuntimeError);
      expect(fuel.value).toBeLessThan(0);
    }
  });
});
