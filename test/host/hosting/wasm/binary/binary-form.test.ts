// Rules for the form of a binary, each on its own: in a whole module the next rule would refuse the same bytes.
import { beforeAll, describe, expect, test } from 'vitest';
import { parse } from '@bytecodealliance/jco';
import { DESCRIPTOR_SECTION } from '@svc/contract';
import { inspectModule } from '../../../../../host/hosting/wasm/admission/admission.ts';
import { ByteReader } from '../../../../../host/hosting/wasm/binary/byte-reader.ts';
import {
  component,
  guestWat,
  testDescriptor,
  withCustomSection,
  withDescriptor,
  withMainCore,
} from '../support/guest-module.ts';

let undescribed: Uint8Array;

beforeAll(async () => {
  undescribed = await component(guestWat());
});

const reading = (...bytes: readonly number[]) => new ByteReader(Uint8Array.from(bytes));

describe('of what a file may hold:', () => {
  test('a number of more than 32 bits is malformed', () => {
    expect(reading(0xff, 0xff, 0xff, 0xff, 0x0f).u32()).toBe(2 ** 32 - 1);
    expect(() => reading(0xff, 0xff, 0xff, 0xff, 0x1f).u32()).toThrow('more than 32 bits');
    expect(() => reading(0x80, 0x80, 0x80, 0x80, 0x80, 0x01).u32()).toThrow('more than 32 bits');
  });

  test('a signed number of too many bytes is malformed', () => {
    const padded = reading(0xff, 0xff, 0xff, 0xff, 0x7f);
    padded.skipSigned(5);
    expect(padded.done).toBe(true);
    expect(() => reading(0xff, 0xff, 0xff, 0xff, 0xff, 0x7f).skipSigned(5)).toThrow('too long');
  });

  test('a byte behind the end is malformed', () => {
    const stretch = new ByteReader(Uint8Array.of(1, 2, 3), 0, 1);
    expect(stretch.u8()).toBe(1);
    expect(() => stretch.u8()).toThrow('ends too early');
  });

  test('a length that runs past the end is malformed', () => {
    expect(() => new ByteReader(Uint8Array.of(1, 2, 3), 0, 2).part(3)).toThrow('past the end');
  });

  test('a count of more items than there are bytes is malformed', () => {
    expect(reading(2, 0, 0).count()).toBe(2);
    expect(() => reading(3, 0, 0).count()).toThrow('a count runs past the end');
  });

  test('a name that is not UTF-8 is malformed', () => {
    expect(() => reading(1, 0xff).name()).toThrow('not UTF-8');
  });

  test('a part that is longer than what it holds is malformed', () => {
    expect(() => reading(0).expectDone('a section')).toThrow('a section is longer');
  });

  test('a file that is a core module is refused with the advice to wrap it', async () => {
    const { refusal } = inspectModule(await parse('(module)'));
    expect(refusal?.message).toContain('wraps the module into a component');
  });

  test('a descriptor that is too large is refused for its size', () => {
    const padding = ' '.repeat(1024 * 1024);
    const text = Buffer.from(JSON.stringify(testDescriptor()) + padding);
    const { refusal } = inspectModule(withCustomSection(undescribed, DESCRIPTOR_SECTION, text));
    expect(refusal?.message).toContain('the limit is 1048576');
  });

  test('a descriptor that is not UTF-8 is refused for its encoding', () => {
    const text = Buffer.from(
      JSON.stringify(testDescriptor()).replace('"wat"', '"w\u00ff"'),
      'latin1',
    );
    const { refusal } = inspectModule(withCustomSection(undescribed, DESCRIPTOR_SECTION, text));
    expect(refusal?.message).toContain('not UTF-8');
  });

  test('a foreign import of the core is found before its code is rewritten', async () => {
    const wat = guestWat().replace('(module', '(module (import "env" "abort" (func))');
    const bytes = withDescriptor(withMainCore(undescribed, await parse(wat)), testDescriptor());
    const { refusal, sizes } = inspectModule(bytes);
    expect(refusal?.code).toBe('SVC_MODULE_FOREIGN_IMPORT');
    expect(sizes.meteredCore).toBeUndefined();
  });
});
