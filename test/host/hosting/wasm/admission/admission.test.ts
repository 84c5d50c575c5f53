// Admission: every reason for refusing a module, and that no input makes the reader fail in another way.
import { beforeAll, describe, expect, test } from 'vitest';
import { DESCRIPTOR_SECTION } from '@svc/contract';
import { parse } from '@bytecodealliance/jco';
import {
  type ModuleReport,
  admitModule,
  inspectModule,
} from '../../../../../host/hosting/wasm/admission/admission.ts';
import { WASM_LIMITS_DEFAULT } from '../../../../../host/hosting/wasm/wasm-limits.ts';
import { SvcError } from '../../../../../kit/svc-error.ts';
import { counter } from '../support/counter.ts';
import {
  COMMAND_EXPORT,
  QUIET_MEMORY,
  component,
  guestModule,
  guestWat,
  mainCore,
  testDescriptor,
  vector,
  withCustomSection,
  withDescriptor,
  withMainCore,
} from '../support/guest-module.ts';

const codeOf = (bytes: Uint8Array) => inspectModule(bytes).refusal?.code;
const messageOf = (bytes: Uint8Array) => inspectModule(bytes).refusal?.message;
let good: Uint8Array;
let undescribed: Uint8Array;

beforeAll(async () => {
  undescribed = await component(guestWat(counter));
  good = withDescriptor(undescribed, testDescriptor());
});

describe('a good module', () => {
  test('is admitted, and the report says what it is', () => {
    const report = inspectModule(good);
    expect(report.refusal).toBeUndefined();
    expect(report.imports).toContain('svc:runtime/routing@0.1.0');
    expect(report.exports).toEqual([
      'svc:runtime/entity@0.1.0',
      'svc:runtime/http@0.1.0',
      'svc:runtime/diagnostics@0.1.0',
    ]);
    expect(report.descriptor).toEqual(testDescriptor());
    expect(report.stringEncoding).toBe('utf8');
    expect(report.sizes).toMatchObject({ module: good.length, initialMemoryPages: 2 });
    expect(report.sizes.core).toBe(mainCore(good).length);
    expect(report.sizes.meteredCore).toBeGreaterThan(1000);
  });

  test.each(['utf8', 'utf16', 'latin1+utf16'] as const)(
    'may have its strings in %s',
    async (encoding) => {
      expect(admitModule(await guestModule({}, encoding)).stringEncoding).toBe(encoding);
    },
  );

  test('may leave imports out that it does not need', async () => {
    const imports = `(import "[export]svc:runtime/entity@0.1.0" "[resource-new]instance"
      (func $resource-new (param i32) (result i32)))`;
    expect(codeOf(await guestModule({ imports }))).toBeUndefined();
  });

  test('is admitted and inspected with the same result', () => {
    const { refusal } = inspectModule(undescribed);
    expect(() => admitModule(undescribed)).toThrow(refusal!.message);
  });
});

describe('a file is refused', () => {
  test('when it is empty or not wasm', () => {
    expect(codeOf(new Uint8Array())).toBe('SVC_MODULE_NOT_WASM');
    expect(codeOf(Buffer.from('export class Cart {}'))).toBe('SVC_MODULE_NOT_WASM');
  });

  test('when it is a core module', async () => {
    expect(codeOf(await parse(guestWat()))).toBe('SVC_MODULE_NOT_A_COMPONENT');
  });

  test('when it is a component of another binary version', () => {
    const other = Buffer.from(good);
    other[4] = 0x0e;
    expect(codeOf(other)).toBe('SVC_MODULE_NOT_A_COMPONENT');
  });

  test('when it is larger than the limit', () => {
    const limits = { ...WASM_LIMITS_DEFAULT, moduleBytesMax: good.length - 1 };
    expect(inspectModule(good, limits).refusal?.code).toBe('SVC_MODULE_TOO_LARGE');
    expect(inspectModule(good, { ...limits, moduleBytesMax: good.length }).refusal).toBeUndefined();
  });

  test('when it begins as wasm and ends there', () => {
    expect(codeOf(good.subarray(0, 4))).toBe('SVC_MODULE_MALFORMED');
  });

  test('when a number has more than 32 bits, or more bytes than it may', () => {
    const preamble = [...good.subarray(0, 8)];
    expect(codeOf(Buffer.from([...preamble, 0, 0xff, 0xff, 0xff, 0xff, 0x1f]))).toBe(
      'SVC_MODULE_MALFORMED',
    );
    expect(codeOf(Buffer.from([...preamble, 0, 0x80, 0x80, 0x80, 0x80, 0x80, 0x01]))).toBe(
      'SVC_MODULE_MALFORMED',
    );
  });

  test('when it counts more imports than it has bytes', () => {
    const bytes = Buffer.from([...good.subarray(0, 8), 10, 5, 0xff, 0xff, 0xff, 0xff, 0x0f]);
    expect(codeOf(bytes)).toBe('SVC_MODULE_MALFORMED');
  });
});

describe('a component with an absurd number of things is refused before they fill memory:', () => {
  test.each([
    ['imports', () => crowd(10, 1001, [0, 0, 5, 0]), 'SVC_MODULE_STRUCTURE', '1000 imports'],
    ['exports', () => crowd(11, 1001, [0, 0, 5, 0, 0]), 'SVC_MODULE_STRUCTURE', '1000 imports'],
    ['sections', () => Buffer.alloc(10_001 * 3, Buffer.from([0, 1, 0])), 'SVC_MODULE_STRUCTURE'],
  ])('%s', (_what, content, code, said = '10000 sections') => {
    const bytes = Buffer.concat([good.subarray(0, 8), content()]);
    expect(codeOf(bytes)).toBe(code);
    expect(messageOf(bytes)).toContain(said);
  });

  test('exports of a core module', () => {
    const bytes = withDescriptor(undescribed, testDescriptor());
    const crowded = Buffer.concat([bytes, coreSection(crowd(7, 10_001, [0, 0, 0]))]);
    expect(codeOf(crowded)).toBe('SVC_MODULE_UNSUPPORTED_CODE');
    expect(messageOf(crowded)).toContain('more than 10000 imports or exports');
  });
});

describe('a component is refused', () => {
  test('by the name of a foreign import', async () => {
    const bytes = await importing('wasi:filesystem/types@0.2.0');
    expect(codeOf(bytes)).toBe('SVC_MODULE_FOREIGN_IMPORT');
    expect(messageOf(bytes)).toContain("'wasi:filesystem/types@0.2.0'");
  });

  test.each(['svc:runtime/secrets@0.1.0', 'svc:runtimes/clock@0.1.0', 'constructor', 'env'])(
    'when it imports %s, which only resembles what is allowed',
    async (name) => {
      expect(codeOf(await importing(name))).toBe('SVC_MODULE_FOREIGN_IMPORT');
    },
  );

  test('when it needs another version, and the message names those of this host', async () => {
    const bytes = await importing('svc:runtime/clock@0.3.0');
    expect(codeOf(bytes)).toBe('SVC_MODULE_OTHER_VERSION');
    expect(messageOf(bytes)).toMatch(
      /clock@0\.3\.0.*runs modules of svc:runtime 0\.1\.0 and 0\.2\.0/,
    );
  });

  test('when it imports an interface twice, or exports one twice', () => {
    const name = Buffer.from('svc:runtime/clock@0.1.0');
    const imports = Buffer.from([0, name.length, ...name, 5, 0]);
    const twice = Buffer.concat([good.subarray(0, 8), crowd(10, 2, [...imports])]);
    expect(messageOf(Buffer.concat([twice, good.subarray(8)]))).toContain("clock@0.1.0' twice");
    const exported = Buffer.from('svc:runtime/http@0.1.0');
    const again = crowd(11, 1, [0, exported.length, ...exported, 5, 0, 0]);
    expect(messageOf(Buffer.concat([good, again]))).toContain("http@0.1.0' twice");
  });

  test('when it imports what is allowed as something that it is not', async () => {
    const bytes = await parse('(component (import "svc:runtime/clock@0.1.0" (func)))');
    expect(codeOf(bytes)).toBe('SVC_MODULE_STRUCTURE');
    expect(messageOf(bytes)).toContain('as a function, not as an interface');
  });

  test('when it leaves out an interface of the world', async () => {
    expect(codeOf(await parse('(component)'))).toBe('SVC_MODULE_STRUCTURE');
  });

  test('with its names escaped and cut in the message', () => {
    // An import section with one name of control characters.
    const name = Buffer.from(`\u001B[2J\r\n\u202E${'x'.repeat(1000)}`);
    const size = [(name.length & 0x7f) | 0x80, name.length >> 7];
    const content = Buffer.from([1, 0, ...size, ...name, 5, 0]);
    const length = [(content.length & 0x7f) | 0x80, content.length >> 7];
    const bytes = Buffer.from([...good.subarray(0, 8), 10, ...length, ...content]);
    const message = messageOf(bytes)!;
    expect(codeOf(bytes)).toBe('SVC_MODULE_BAD_NAME');
    expect(message).toContain('\\u{1b}[2J\\u{d}\\u{a}\\u{202e}xxx');
    expect(message).toMatch(/^[\x20-\x7e…]*$/);
    expect(message.length).toBeLessThan(500);
  });
});

describe('a descriptor is refused', () => {
  test('when it declares entities and the core cannot make any', async () => {
    const imports = '(func $resource-new (param i32) (result i32) (i32.const 1))';
    const wat = guestWat({ imports, destroy: '' });
    const bytes = await component(wat);
    const described = withDescriptor(bytes, testDescriptor());
    expect(codeOf(described)).toBe('SVC_MODULE_BAD_DESCRIPTOR');
    expect(messageOf(described)).toContain("'[resource-new]instance'");
    expect(codeOf(withDescriptor(bytes, { ...testDescriptor(), entities: [] }))).toBeUndefined();
  });

  test('when two of its routes take the same requests, by inspection too', () => {
    const descriptor = testDescriptor();
    const [endpoint] = descriptor.endpoints;
    const twice = { ...descriptor, endpoints: [endpoint!, { ...endpoint!, name: 'Again' }] };
    const bytes = withDescriptor(undescribed, twice);
    expect(codeOf(bytes)).toBe('SVC_MODULE_BAD_DESCRIPTOR');
    expect(messageOf(bytes)).toContain('match the same requests');
  });

  test('when there is none', () => {
    expect(codeOf(undescribed)).toBe('SVC_MODULE_NO_DESCRIPTOR');
  });

  test.each([
    ['is not JSON', Buffer.from('{')],
    ['is not UTF-8', Buffer.from([0x22, 0xff, 0x22])],
    ['does not keep the schema', Buffer.from('{}')],
    ['is nested deeper than a stack', Buffer.from('['.repeat(500_000))],
    ['is too large', Buffer.alloc(1024 * 1024 + 1, ' ')],
  ])('when it %s', (_what, content) => {
    const bytes = withCustomSection(undescribed, DESCRIPTOR_SECTION, content);
    expect(codeOf(bytes)).toBe('SVC_MODULE_BAD_DESCRIPTOR');
  });

  test('when it comes twice', () => {
    expect(codeOf(withDescriptor(good, testDescriptor()))).toBe('SVC_MODULE_BAD_DESCRIPTOR');
  });

  test.each([
    ['0.2.0', /names svc:runtime 0\.2\.0, and its code uses 0\.1\.0/],
    ['0.3.0', /built for svc:runtime 0\.3\.0, and this host runs modules of 0\.1\.0 and 0\.2\.0/],
  ])('when it names another protocol, %s', (protocol, message) => {
    const bytes = withDescriptor(undescribed, { ...testDescriptor(), protocol });
    expect(codeOf(bytes)).toBe('SVC_MODULE_OTHER_VERSION');
    expect(messageOf(bytes)).toMatch(message);
  });
});

describe('a core module is refused', () => {
  test('by the name of an import that is on no list', async () => {
    const bytes = await withCore(alteredWat('(module', '(module (import "env" "abort" (func))'));
    expect(codeOf(bytes)).toBe('SVC_MODULE_FOREIGN_IMPORT');
    expect(messageOf(bytes)).toContain("'abort' of 'env'");
  });

  test.each([
    ['constructor', 'constructor'],
    ['__proto__', 'toString'],
    ['svc:runtime/clock@0.1.0', 'constructor'],
    ['svc:runtime/clock@0.1.0', '__proto__'],
    ['hasOwnProperty', 'call'],
  ])('when it imports %s %s, the name of a property of every object', async (module, name) => {
    const imported = `(module (import "${module}" "${name}" (func))`;
    const bytes = await withCore(alteredWat('(module', imported));
    expect(codeOf(bytes)).toBe('SVC_MODULE_FOREIGN_IMPORT');
  });

  test.each([
    '(import "svc:runtime/clock@0.1.0" "now-ms" (global i64))',
    '(import "env" "memory" (memory 1))',
    '(import "env" "table" (table 1 funcref))',
  ])('when it imports what is no function: %s', async (imported) => {
    const bytes = await withCore(alteredWat('(module', `(module ${imported}`));
    expect(codeOf(bytes)).toBe('SVC_MODULE_FOREIGN_IMPORT');
  });

  test('when it imports a function with another type', async () => {
    const wat = alteredWat('$now-ms (result i64)', '$now-ms (result i32)');
    expect(codeOf(await withCore(wat))).toBe('SVC_MODULE_STRUCTURE');
  });

  test('when it exports a function with another type', async () => {
    const wat = alteredWat('(param $old i32)', '(param $old i64)');
    expect(codeOf(await withCore(wat))).toBe('SVC_MODULE_STRUCTURE');
  });

  test('when it exports an import as its own function', async () => {
    const post = `(export "cabi_post_${COMMAND_EXPORT}" (func $resource-drop))`;
    const wat = alteredWat('(global $top', `${post} (global $top`);
    expect(messageOf(await withCore(wat))).toContain('exports an import');
    expect(codeOf(await withCore(wat))).toBe('SVC_MODULE_STRUCTURE');
  });

  test('when it has no command, or does not export its memory', async () => {
    const noCommand = alteredWat(COMMAND_EXPORT, 'something else');
    expect(codeOf(await withCore(noCommand))).toBe('SVC_MODULE_STRUCTURE');
    const noMemory = alteredWat(QUIET_MEMORY, '(memory 2)');
    expect(codeOf(await withCore(noMemory))).toBe('SVC_MODULE_STRUCTURE');
  });

  test('when it leaves out a function, or exports something else as a function', async () => {
    const without = alteredWat('diagnostics@0.1.0#take-log"', 'diagnostics@0.1.0#other"');
    expect(messageOf(await withCore(without))).toContain('does not export');
    const post = `(global (export "cabi_post_${COMMAND_EXPORT}") i32 (i32.const 1))`;
    const wat = alteredWat('(global $top', `${post} (global $top`);
    expect(messageOf(await withCore(wat))).toContain('which is not a function');
  });

  test('when there are two that could be the main one', () => {
    const bytes = withMainCore(good, mainCore(good), mainCore(good));
    expect(messageOf(bytes)).toContain('several core modules');
  });

  test('when it is not valid', async () => {
    const wat = alteredWat(
      '(func $clear (result i32)',
      '(func $clear (result i32) (drop (i64.const 1)) (i32.add)',
    );
    expect(codeOf(await withCore(wat))).toBe('SVC_MODULE_MALFORMED');
  });

  test('when it reaches for the global that the host would add to it', async () => {
    // The index after the last one, which is that of the fuel counter. (WAT refuses names of unknown globals, but not
    // indexes.)
    const wat = alteredWat(
      '(func $clear (result i32)',
      '(func $clear (result i32) (global.set 1 (i32.const 2000000000))',
    );
    expect(codeOf(await withCore(wat))).toBe('SVC_MODULE_MALFORMED');
  });

  test('when it exports a name that is reserved for the host', async () => {
    const wat = alteredWat(
      '(global $top',
      '(global (export "svc-host:fuel") i32 (i32.const 1)) (global $top',
    );
    expect(codeOf(await withCore(wat))).toBe('SVC_MODULE_STRUCTURE');
  });
});

describe('whatever the bytes are', () => {
  test('a module cut short anywhere is refused with a code', () => {
    for (let length = 0; length < undescribed.length; length += 7)
      expect(expectReport(good.subarray(0, length)), `cut at ${length}`).toBeDefined();
  });

  test('a module with flipped bytes is refused with a code or admitted', () => {
    const plain = withDescriptor(undescribed, { ...testDescriptor(), endpoints: [] });
    let state = 12345;
    const random = (below: number) => {
      state = (Math.imul(state, 1103515245) + 12345) >>> 0;
      return Math.floor((state / 2 ** 32) * below);
    };
    let refused = 0;
    for (let round = 0; round < 400; round++) {
      const bytes = Buffer.from(plain);
      for (let flips = random(3); flips >= 0; flips--)
        bytes[random(undescribed.length)]! ^= 1 << random(8);
      if (expectReport(bytes) !== undefined) refused++;
    }
    expect(refused).toBeGreaterThan(100);
  });

  test('the error is an SvcError, not another', () => {
    expect(() => admitModule(good.subarray(0, 5000))).toThrow(SvcError);
  });
});

function importing(name: string): Promise<Uint8Array> {
  return parse(`(component (import ${JSON.stringify(name)} (instance (export "f" (func)))))`);
}

/** A component of the world with this core module in it. */
async function withCore(wat: string): Promise<Uint8Array> {
  return withDescriptor(
    withMainCore(await component(guestWat()), await parse(wat)),
    testDescriptor(),
  );
}

function alteredWat(from: string | RegExp, to: string): string {
  return guestWat().replace(from, to);
}

function expectReport(bytes: Uint8Array): ModuleReport['refusal'] {
  const { refusal } = inspectModule(bytes);
  expect(refusal?.code ?? 'SVC_MODULE_').toMatch(/^SVC_MODULE_/);
  return refusal;
}

/** A section with `count` copies of the same item. */
function crowd(id: number, count: number, item: readonly number[]): Buffer {
  const number = [(count & 0x7f) | 0x80, ((count >> 7) & 0x7f) | 0x80, count >> 14];
  const items = Buffer.alloc(count * item.length, Buffer.from(item));
  return Buffer.concat([Buffer.from([id]), vector(Buffer.concat([Buffer.from(number), items]))]);
}

/** A core module of one section, as a section of a component. */
function coreSection(section: Buffer): Buffer {
  const head = Buffer.from([0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0]);
  return Buffer.concat([Buffer.from([1]), vector(Buffer.concat([head, section]))]);
}
