// SafeName: which names of imports and exports a module may have.
import { describe, expect, test } from 'vitest';
import { parse } from '@bytecodealliance/jco';
import { inspectModule } from '../../../../../host/hosting/wasm/admission/admission.ts';
import { checkName, NAME_BYTES_MAX } from '../../../../../host/hosting/wasm/admission/safe-name.ts';
import {
  component,
  guestWat,
  testDescriptor,
  withDescriptor,
  withMainCore,
} from '../support/guest-module.ts';

function isAccepted(name: string): boolean {
  try {
    checkName('exports', name);
    return true;
  } catch {
    return false;
  }
}
const codeOf = (bytes: Uint8Array) => inspectModule(bytes).refusal?.code;
const withCore = async (wat: string) =>
  withDescriptor(withMainCore(await component(guestWat()), await parse(wat)), testDescriptor());

describe('a name', () => {
  test.each([
    'svc:runtime/entity@0.1.0#[method]instance.command',
    'cabi_post_svc:runtime/http@0.1.0#handle',
    '[export]svc:runtime/entity@0.1.0',
    'A0',
    'x'.repeat(NAME_BYTES_MAX),
  ])('may be %j', (name) => {
    expect(() => checkName('exports', name)).not.toThrow();
  });

  test('has no other character of the first three hundred', () => {
    const characters = Array.from({ length: 300 }, (_, code) => String.fromCharCode(code));
    expect(characters.filter((character) => isAccepted(`a${character}`)).join('')).toBe(
      '#-./0123456789:@ABCDEFGHIJKLMNOPQRSTUVWXYZ[]_abcdefghijklmnopqrstuvwxyz',
    );
  });

  test.each([
    '',
    'x'.repeat(NAME_BYTES_MAX + 1),
    'сlock',
    'clock\u200b',
    'a\u202eb',
    '😀',
    '\ud800',
  ])('is not %j', (name) => {
    expect(() => checkName('imports', name)).toThrow(
      expect.objectContaining({ code: 'SVC_MODULE_BAD_NAME' }),
    );
  });
});

describe('a module is refused by a name', () => {
  test.each([
    ['that its core exports', guestWat({ fields: '(func (export "a b"))' })],
    [
      'of a module that its core imports',
      guestWat().replace('(module', '(module (import "a b" "c" (func))'),
    ],
    ['that its core imports', guestWat().replace('(module', '(module (import "a" "b c" (func))')],
  ])('%s', async (_what, wat) => {
    expect(codeOf(await withCore(wat))).toBe('SVC_MODULE_BAD_NAME');
  });

  test('that it imports, or exports', () => {
    const head = [0x00, 0x61, 0x73, 0x6d, 0x0d, 0x00, 0x01, 0x00];
    const imported = Buffer.from([...head, 10, 8, 1, 0, 3, ...Buffer.from('a b'), 5, 0]);
    expect(codeOf(imported)).toBe('SVC_MODULE_BAD_NAME');
    const exported = Buffer.from([...head, 11, 9, 1, 0, 3, ...Buffer.from('a b'), 5, 0, 0]);
    expect(codeOf(exported)).toBe('SVC_MODULE_BAD_NAME');
  });
});
