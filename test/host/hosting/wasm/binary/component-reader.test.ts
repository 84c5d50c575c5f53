// ComponentReader: definitions that the component tools do not write are refused before anything is built from them.
import { describe, expect, test } from 'vitest';
import { readComponent } from '../../../../../host/hosting/wasm/binary/component-reader.ts';
import { readInterfaceShell } from '../../../../../host/hosting/wasm/admission/interface-shell.ts';

const PREAMBLE = [0x00, 0x61, 0x73, 0x6d, 0x0d, 0x00, 0x01, 0x00];
const component = (...sections: readonly (readonly number[])[]) =>
  Uint8Array.from([
    ...PREAMBLE,
    ...sections.flatMap(([id, ...content]) => [id!, content.length, ...content]),
  ]);
const read = (...sections: readonly (readonly number[])[]) => readComponent(component(...sections));
const lift = (...options: readonly number[]) => [8, 1, 0, 0, 0, ...options, 0];
const leb = (number: number) => [
  (number & 0x7f) | 0x80,
  ((number >> 7) & 0x7f) | 0x80,
  number >> 14,
];

const drops = (count: number) =>
  Uint8Array.from([
    ...PREAMBLE,
    8,
    ...leb(3 + count * 2),
    ...leb(count),
    ...Array.from({ length: count }, () => [3, 0]).flat(),
  ]);
const exported = (index: number) => [11, 1, 0, 1, 0x62, 1, index, 0];

describe('a component is refused', () => {
  test.each([
    ['with a section for core types', [3, 0]],
    ['with a section for a start', [9, 0]],
    ['with a section for values', [12, 0]],
    ['with an asynchronous lift', lift(1, 6)],
    ['with a callback', lift(1, 7, 0)],
    ['with another canonical function', [8, 1, 5, 0]],
    ['with its encoding twice', lift(2, 0, 0)],
    ['with two encodings', lift(2, 0, 1)],
    ['with its memory twice', lift(2, 3, 0, 3, 0)],
    ['with its allocator twice', lift(2, 4, 0, 4, 0)],
    ['with its post-return twice', lift(2, 5, 0, 5, 0)],
    ['with an instance of what it exports itself', [5, 1, 1, 0]],
    ['with a component taken out of an instance', [6, 1, 4, 0, 0, 1, 0x61]],
    ['with a global taken out of its core', [6, 1, 0, 3, 1, 0, 1, 0x61]],
  ])('%s', (_what, section) => {
    expect(() => read(section)).toThrow(expect.objectContaining({ code: 'SVC_MODULE_STRUCTURE' }));
  });

  test('with an alias of what lies outside of it, and says so', () => {
    const alias = [6, 1, 0, 0, 2, 0, 0];
    expect(() => read(alias)).toThrow('refers to what lies outside of it');
  });

  test.each([
    ['with a section that is none', [13, 0]],
    ['with an unknown form of a canonical function', [8, 1, 0, 1, 0, 0, 0]],
    ['with an unknown form of an instance', [2, 1, 2]],
    ['with an unknown form of a name', [10, 1, 2, 1, 0x61, 5, 0]],
    ['with an unknown sort', [10, 1, 0, 1, 0x61, 9, 0]],
    ['with a value', [10, 1, 0, 1, 0x61, 2, 0]],
    ['with an argument that is no instance', [2, 1, 0, 0, 1, 1, 0x61, 0x00, 0]],
    ['with an unknown bound of a type', [10, 1, 0, 1, 0x61, 3, 2]],
    ['with an export of an unknown form', [11, 1, 0, 1, 0x61, 5, 0, 2]],
    ['with a name that is not UTF-8', [10, 1, 0, 1, 0xff, 5, 0]],
    ['with more in a section than it counts', [8, 0, 0]],
  ])('as malformed %s', (_what, section) => {
    expect(() => read(section)).toThrow(expect.objectContaining({ code: 'SVC_MODULE_MALFORMED' }));
  });

  test('with more definitions than any has', () => {
    expect(readComponent(drops(10_000)).coreFunctions).toHaveLength(10_000);
    expect(() => readComponent(drops(10_001))).toThrow('more than 10000 definitions');
  });

  test('with more arguments of an instance than any has', () => {
    const content = [1, 1, ...leb(1001), ...Array.from({ length: 1001 }, () => [0, 0, 0]).flat()];
    const bytes = Uint8Array.from([...PREAMBLE, 2, ...leb(content.length), ...content]);
    expect(() => readComponent(bytes)).toThrow('more than 1000 arguments');
  });
});

describe('the shell of an interface', () => {
  const FUNCTION = [10, 1, 0, 1, 0x61, 1, 0];

  test('is what it exports, by what it imports', () => {
    expect([...readInterfaceShell(component(FUNCTION, exported(0)))]).toEqual([['b', 'a']]);
  });

  test.each([
    ['a core module', [1, 0]],
    ['a nested component', [4, ...PREAMBLE]],
    ['an alias', [6, 0]],
    ['a canonical function', [8, 0]],
    ['an import that is an instance', [10, 1, 0, 1, 0x61, 5, 0]],
    ['an export that is an instance', [11, 1, 0, 1, 0x62, 5, 0, 0]],
    ['an export of what it has not', exported(7)],
    ['more externs than any', [10, ...leb(1001), ...Array<number>(1001).fill(0)]],
  ])('holds no %s', (_what, section) => {
    const bytes = section.length > 127 ? undefined : component(section);
    const content =
      bytes ?? Uint8Array.from([...PREAMBLE, 10, ...leb(section.length - 1), ...section.slice(1)]);
    expect(() => readInterfaceShell(content)).toThrow('more than the shell of an interface');
  });

  test('exports nothing twice', () => {
    const twice = component(FUNCTION, exported(0), exported(0));
    expect(() => readInterfaceShell(twice)).toThrow('more than the shell of an interface');
  });

  test('is a component', () => {
    expect(() => readInterfaceShell(Uint8Array.of(0, 1, 2, 3, 4, 5, 6, 7))).toThrow(
      expect.objectContaining({ code: 'SVC_MODULE_NOT_WASM' }),
    );
  });
});
