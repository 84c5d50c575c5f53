// CoreLimits: the maximum number of each thing in a core module, and that the error names the limit.
import { parse } from '@bytecodealliance/jco';
import { describe, expect, test } from 'vitest';
import { readCoreModule } from '../../../../../host/hosting/wasm/binary/core-module-reader.ts';
import {
  WASM_LIMITS_DEFAULT,
  type WasmLimits,
} from '../../../../../host/hosting/wasm/wasm-limits.ts';

const refusal = async (fields: string, limits: Partial<WasmLimits> = {}) => {
  const bytes = await parse(`(module (memory 1) ${fields})`);
  try {
    readCoreModule(bytes, { ...WASM_LIMITS_DEFAULT, ...limits });
    return undefined;
  } catch (error) {
    return error as Error;
  }
};
const times = (count: number, field: string) => field.repeat(count);

describe('a core module may have', () => {
  const settings: readonly [string, Partial<WasmLimits>, (count: number) => string, string][] = [
    ['functions', { functionsMax: 3 }, (count) => times(count, '(func)'), 'functions-max'],
    [
      'globals',
      { globalsMax: 3 },
      (count) => times(count, '(global i32 (i32.const 0))'),
      'globals-max',
    ],
  ];
  test.each(settings)(
    'as many %s as is set, and no more',
    async (_what, limits, fields, setting) => {
      expect(await refusal(fields(3), limits)).toBeUndefined();
      expect(await refusal(fields(4), limits)).toMatchObject({
        code: 'SVC_MODULE_TOO_LARGE',
        message: expect.stringContaining(`the limit is 3 (svc.wasm.${setting})`),
      });
    },
  );

  test('functions as long as is set, and no longer', async () => {
    // The list of locals and the end instruction are one byte each.
    const limits = { functionBytesMax: 100 };
    expect(await refusal(`(func ${times(98, 'nop ')})`, limits)).toBeUndefined();
    expect(await refusal(`(func) (func ${times(99, 'nop ')})`, limits)).toMatchObject({
      code: 'SVC_MODULE_TOO_LARGE',
      message: expect.stringContaining(
        'of 101 bytes, and the limit is 100 (svc.wasm.function-bytes-max)',
      ),
    });
  });

  const constants: readonly [string, number, (count: number) => string][] = [
    ['types of functions', 10_000, (count) => times(count, '(type (func))')],
    ['tables', 100, (count) => times(count, '(table 0 funcref)')],
    ['element segments', 10_000, (count) => times(count, '(elem func)')],
    ['data segments', 50_000, (count) => times(count, '(data "")')],
    ['parameters', 255, (count) => `(type (func (param ${times(count, 'i32 ')})))`],
    ['results', 255, (count) => `(type (func (result ${times(count, 'i32 ')})))`],
  ];
  test.each(constants)('at most the %s of a compiler', async (what, max, fields) => {
    expect(await refusal(fields(max))).toBeUndefined();
    expect(await refusal(fields(max + 1))).toMatchObject({
      code: 'SVC_MODULE_TOO_LARGE',
      message: expect.stringMatching(new RegExp(`${max + 1} ${what}, and the limit is ${max}`)),
    });
  });
});
