// CoreSegments: the unpaid work of each instantiation is bounded, and compilers stay within the bounds.
import { parse } from '@bytecodealliance/jco';
import { describe, expect, test } from 'vitest';
import { readCoreModule } from '../../../../../host/hosting/wasm/binary/core-module-reader.ts';
import { rewrite } from '../support/metered-module.ts';

describe('element segments', () => {
  const FIELDS = '(table 3 funcref) (func $f) (func $g)';

  test.each([
    ['functions from a place on', '(elem (i32.const 0) $f $g $f)'],
    [
      'functions of a named table',
      '(table $t 3 funcref) (elem (table $t) (i32.const 0) func $f $g $f)',
    ],
    ['functions that wait', '(elem func $f $g $f)'],
    ['functions that are only declared', '(elem declare func $f $g $f)'],
    [
      'expressions from a place on',
      '(elem (i32.const 0) funcref (ref.func $f) (ref.func $g) (ref.null func))',
    ],
    ['expressions that wait', '(elem funcref (ref.func $f) (ref.func $g) (ref.null func))'],
    [
      'references of the host',
      '(elem externref (ref.null extern) (ref.null extern) (ref.null extern))',
    ],
    ['several segments', '(elem (i32.const 0) $f) (elem (i32.const 0) $g) (elem func $f)'],
  ])('count: %s', async (_what, segments) => {
    const { segmentElements } = readCoreModule(await module(`${FIELDS} ${segments}`));
    expect(segmentElements).toBe(3);
  });

  test('have no more elements together than tables may have', async () => {
    const segment = `(elem (i32.const 0) ${'$f '.repeat(3)})`;
    const fields = (count: number) => `${FIELDS} ${segment.repeat(count)}`;
    await expect(rewrite(fields(3))).resolves.toBeDefined();
    await expect(rewrite(fields(4))).rejects.toMatchObject({
      code: 'SVC_MODULE_STRUCTURE',
      message: expect.stringContaining('fills its tables with 12 elements, and the limit is 10'),
    });
  });

  test.each([
    ['of a typed reference', '(elem (ref null func) (ref.func $f)) (elem anyref (ref.null any))'],
    ['of what is no reference to a function', '(elem i31ref (ref.i31 (i32.const 1)))'],
  ])('%s are refused', async (_what, segment) => {
    const bytes = await module(`${FIELDS} ${segment}`);
    expect(() => readCoreModule(bytes)).toThrow('typed references');
  });

  test('of an unknown form are refused', () => {
    expect(() => readCoreModule(withSection(9, [1, 8]))).toThrow(
      'an element segment of the form 8',
    );
  });

  test('of a kind that is not that of functions are refused', () => {
    expect(() => readCoreModule(withSection(9, [1, 1, 1, 0]))).toThrow('typed references');
  });
});

describe('data segments', () => {
  test.each([
    ['from a place on', '(data (i32.const 0) "abc")'],
    ['from a place of a global on', '(global $g i32 (i32.const 8)) (data (global.get $g) "abc")'],
    ['that wait', '(data "abc")'],
    ['of the named memory', '(data (memory 0) (i32.const 0) "abc")'],
  ])('are taken: %s', async (_what, fields) => {
    const bytes = await module(fields);
    expect(() => readCoreModule(bytes)).not.toThrow();
  });

  test('of the only memory are taken where its number is written out', () => {
    expect(() => readCoreModule(withSection(11, [1, 2, 0, 0x41, 0, 0x0b, 1, 7]))).not.toThrow();
  });

  test.each([
    ['another memory', [1, 2, 1, 0x41, 0, 0x0b, 1, 7], 'several memories'],
    ['an unknown form', [1, 3, 0x41, 0, 0x0b, 1, 7], 'a data segment of the form 3'],
    ['more bytes than the section', [1, 1, 5, 7], 'a length runs past the end'],
    ['bytes behind the last', [1, 1, 1, 7, 7], 'a section is longer than what it holds'],
  ])('of %s are refused', (_what, content, said) => {
    expect(() => readCoreModule(withSection(11, content))).toThrow(said);
  });
});

describe('a constant expression may have sixteen instructions', () => {
  test.each<readonly [string, (constant: string) => string]>([
    ['of a global', (constant) => `(global i32 ${constant})`],
    ['of the place of data', (constant) => `(data (offset ${constant}) "a")`],
    [
      'of the place of elements',
      (constant) => `(table 30 funcref) (func $f) (elem (offset ${constant}) $f)`,
    ],
  ])('%s', async (_what, fields) => {
    const short = await module(fields(sum(15)));
    expect(() => readCoreModule(short)).not.toThrow();
    const long = await module(fields(sum(17)));
    expect(WebAssembly.validate(long)).toBe(true);
    expect(() => readCoreModule(long)).toThrow(
      expect.objectContaining({ code: 'SVC_MODULE_TOO_LARGE' }),
    );
  });
});

function module(fields: string) {
  return parse(`(module (memory 1) ${fields})`);
}

/** A module with one memory, followed by this section. */
function withSection(id: number, content: readonly number[]): Uint8Array {
  const preamble = [0, 0x61, 0x73, 0x6d, 1, 0, 0, 0];
  return Uint8Array.from([...preamble, 5, 3, 1, 0, 1, id, content.length, ...content]);
}

/** An expression with an odd number of instructions. */
function sum(count: number): string {
  return `(i32.const 0) ${'(i32.const 1) (i32.add) '.repeat((count - 1) / 2)}`;
}
