// GlueModule: the two known forms are recognised, and nothing else is taken for one.
import { parse } from '@bytecodealliance/jco';
import { describe, expect, test } from 'vitest';
import { readGlueModule } from '../../../../../host/hosting/wasm/admission/glue-module.ts';

const shim = (
  body = 'local.get 0 i32.const 0 call_indirect (type 0)',
  more = '',
  table = '(table 1 1 funcref) (export "$imports" (table 0))',
) => `(module (type (func (param i32))) (type (func)) ${table}
  (export "0" (func 0)) (func (type 0) ${body}) ${more})`;
const fixup = (more = '', elements = '(elem (i32.const 0) func 0 1)') =>
  `(module (import "actual" "0" (func)) (import "actual" "1" (func))
    (import "shim" "$imports" (table 2 2 funcref)) ${elements} ${more})`;
const read = async (wat: string) => readGlueModule(await parse(wat));

describe('glue', () => {
  test('is a shim: functions that call the element of their own number', async () => {
    expect(await read(shim())).toEqual({ kind: 'shim', functions: 1 });
  });

  test('is a shim with more functions than one byte counts', async () => {
    const numbers = Array.from({ length: 130 }, (_, index) => index);
    const many = `(module (type (func)) (table 130 130 funcref) (export "$imports" (table 0))
      ${numbers.map((number) => `(export "${number}" (func ${number}))`).join('')}
      ${numbers.map((number) => `(func (type 0) i32.const ${number} call_indirect (type 0))`).join('')})`;
    expect(await read(many)).toEqual({ kind: 'shim', functions: 130 });
  });

  test('is a fixup: it fills a table with what it imports', async () => {
    expect(await read(fixup('(start 1)'))).toEqual({
      kind: 'fixup',
      slots: [
        { module: 'actual', name: '0' },
        { module: 'actual', name: '1' },
      ],
      start: { module: 'actual', name: '1' },
    });
  });

  test('is an initialisation: it calls what it imports', async () => {
    expect(await read('(module (import "" "" (func)) (start 0))')).toEqual({
      kind: 'fixup',
      slots: [],
      start: { module: '', name: '' },
    });
  });
});

describe('no glue is', () => {
  test.each([
    [
      'a function that passes on something else',
      shim('i32.const 7 i32.const 0 call_indirect (type 0)'),
    ],
    [
      'a function that calls another element',
      shim('local.get 0 i32.const 1 call_indirect (type 0)'),
    ],
    ['a function that calls as another type', shim('i32.const 0 call_indirect (type 1)')],
    ['a function that does more', shim('local.get 0 i32.const 0 call_indirect (type 0) nop')],
    ['a function with locals', shim('(local i32) local.get 0 i32.const 0 call_indirect (type 0)')],
    ['a function without an end', shim('(loop br 0)')],
    ['a shim with a memory', shim(undefined, '(memory 1)')],
    ['a shim with a global', shim(undefined, '(global i32 (i32.const 0))')],
    [
      'a shim with a start',
      shim(undefined, '(func (type 1) i32.const 1 call_indirect (type 1)) (start 1)'),
    ],
    ['a shim with data', shim(undefined, '(memory 1) (data (i32.const 0) "a")')],
    [
      'a shim that imports',
      shim().replace('(type (func)) ', '(type (func)) (import "a" "b" (func)) '),
    ],
    [
      'a shim whose table has room for more',
      shim(undefined, '', '(table 2 2 funcref) (export "$imports" (table 0))'),
    ],
    [
      'a shim whose table has another name',
      shim(undefined, '', '(table 1 1 funcref) (export "table" (table 0))'),
    ],
    ['a shim with a second table', shim(undefined, '(table 1 1 funcref)')],
    [
      'a shim with a table of something else',
      shim(undefined, '', '(table 1 1 externref) (export "$imports" (table 0))'),
    ],
    ['a shim with a function that is not exported', shim().replace('(export "0" (func 0))', '')],
    ['a shim with a function of another name', shim().replace('"0"', '"1"')],
    ['a fixup with a memory', fixup('(memory 1)')],
    ['a fixup with a global', fixup('(global (mut i32) (i32.const 0))')],
    ['a fixup that exports', fixup('(export "again" (func 0))')],
    [
      'a fixup that imports a memory',
      fixup().replace('(import "shim"', '(import "main" "memory" (memory 1)) (import "shim"'),
    ],
    ['a fixup that imports another table', fixup().replace('$imports', 'functions')],
    [
      'a fixup with two tables',
      fixup().replace('(elem', '(import "other" "$imports" (table 2 2 funcref)) (elem'),
    ],
    ['a fixup that crosses two elements', fixup('', '(elem (i32.const 0) func 1 0)')],
    ['a fixup that begins at another place', fixup('', '(elem (i32.const 1) func 0)')],
    ['a fixup that fills in the same function twice', fixup('', '(elem (i32.const 0) func 0 0)')],
  ])('%s', async (_what, wat) => {
    await expect(read(wat)).rejects.toMatchObject({
      code: 'SVC_MODULE_STRUCTURE',
      message: expect.stringContaining('neither its main one nor the glue of the component tools'),
    });
  });

  test('a function that does more after its end', async () => {
    const bytes = await parse(shim('local.get 0 i32.const 0 call_indirect (type 0) nop'));
    // This swaps the nop and the end.
    const at = Buffer.from(bytes).lastIndexOf(Buffer.from([0x01, 0x0b]));
    bytes.set([0x0b, 0x01], at);
    expect(() => readGlueModule(bytes)).toThrow(
      expect.objectContaining({ code: 'SVC_MODULE_MALFORMED' }),
    );
  });

  test('a module with more functions than any interface has', async () => {
    const crowd = `(module (type (func)) ${'(import "actual" "0" (func))'.repeat(1001)})`;
    await expect(read(crowd)).rejects.toMatchObject({ code: 'SVC_MODULE_STRUCTURE' });
  });
});
