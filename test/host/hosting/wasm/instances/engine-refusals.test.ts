// Admission uses V8's own verdicts: for a core module that is not valid, for one that V8 cannot compile once it is
// metered, and for its imports.
import { parse } from '@bytecodealliance/jco';
import { expect, test } from 'vitest';
import { checkLinks, inspectModule } from '../../../../../host/hosting/wasm/admission/admission.ts';
import { coreInterface } from '../../../../../host/hosting/wasm/binary/core-interface.ts';
import { WASM_LIMITS_DEFAULT } from '../../../../../host/hosting/wasm/wasm-limits.ts';
import { component, guestWat, testDescriptor, withDescriptor } from '../support/guest-module.ts';

const compiled = async (wat: string) => new WebAssembly.Module(await parse(wat));

test('a function that is too long for V8 once it is metered is refused', async () => {
  const loops = `(func ${'(loop)'.repeat(600_000)})`;
  const bytes = withDescriptor(await component(guestWat({ fields: loops })), testDescriptor());
  const limits = { ...WASM_LIMITS_DEFAULT, functionBytesMax: 4 * 1024 * 1024 };
  expect(inspectModule(bytes, limits).refusal).toMatchObject({
    code: 'SVC_MODULE_UNSUPPORTED_CODE',
    message: expect.stringContaining('smaller functions'),
  });
});

test.each([
  ['a function of another module', '(import "env" "now-ms" (func (result i64)))'],
  ['another function', '(import "svc:runtime/clock@0.1.0" "now-us" (func (result i64)))'],
  ['a global', '(import "svc:runtime/clock@0.1.0" "now-ms" (global i64))'],
  ['what every object has', '(import "constructor" "constructor" (func))'],
])('%s is not linked, whatever was read before', async (_what, imported) => {
  const module = await compiled(`(module ${imported})`);
  expect(() => checkLinks(module, coreInterface('0.1.0'))).toThrow(
    expect.objectContaining({ code: 'SVC_MODULE_FOREIGN_IMPORT' }),
  );
});

test('what is on the closed list is linked', async () => {
  const clock = '(module (import "svc:runtime/clock@0.1.0" "now-ms" (func (result i64))))';
  expect(() =>
    checkLinks(
      new WebAssembly.Module(new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0])),
      coreInterface('0.1.0'),
    ),
  ).not.toThrow();
  const module = await compiled(clock);
  expect(() => checkLinks(module, coreInterface('0.1.0'))).not.toThrow();
});
