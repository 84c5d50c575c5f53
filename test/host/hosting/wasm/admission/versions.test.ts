// Modules of every version of svc:runtime: what each may import and export, and that a module is of one version.
import { parse } from '@bytecodealliance/jco';
import { type ModuleDescriptor, PROTOCOL_VERSIONS, type ProtocolVersion } from '@svc/contract';
import { describe, expect, test } from 'vitest';
import { inspectModule } from '../../../../../host/hosting/wasm/admission/admission.ts';
import {
  type GuestParts,
  component,
  guestModule,
  guestWat,
  testDescriptor,
  withDescriptor,
  withMainCore,
} from '../support/guest-module.ts';

const refusalOf = (bytes: Uint8Array) => inspectModule(bytes).refusal;
const NEW = '0.2.0';
const ROW = { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] } as const;
const keys = '(call $clear)';
const fold = '(call $clear)';
const consume = '(call $clear)';
const renamed = (wat: string, from: string, to: string) => {
  expect(wat).toContain(from);
  return wat.replaceAll(from, to);
};
/** A component of version 0.2.0 with the main core module of other parts. */
const withCoreOf = async (parts: GuestParts, wat: string) => {
  const bytes = await component(guestWat({ ...parts, version: NEW }));
  return withDescriptor(withMainCore(bytes, await parse(wat)), testDescriptor(NEW));
};

describe('a module of version 0.2.0', () => {
  test.each([
    ['without views and consumers', {}, []],
    ['with views', { keys, fold }, ['view']],
    ['with consumers', { consume }, ['consumer']],
    ['with views and consumers', { keys, fold, consume }, ['view', 'consumer']],
  ] as const)('%s is admitted', async (_what, parts, further) => {
    const { refusal, exports } = inspectModule(await guestModule({ ...parts, version: NEW }));
    expect(refusal).toBeUndefined();
    expect(new Set(exports)).toEqual(
      new Set(
        ['entity', 'http', 'diagnostics', ...further].map((name) => `svc:runtime/${name}@0.2.0`),
      ),
    );
  });

  test('may have its strings in any encoding', async () => {
    for (const encoding of ['utf16', 'latin1+utf16'] as const)
      expect(refusalOf(await guestModule({ version: NEW, keys, fold }, encoding))).toBeUndefined();
  });

  test.each([
    ['keys', 'view@0.2.0#keys', 'view@0.2.0#other'],
    ['fold', 'view@0.2.0#fold', 'view@0.2.0#other'],
    ['handle', 'consumer@0.2.0#handle', 'consumer@0.2.0#other'],
  ])('whose core lacks %s, which its interface has, is refused', async (_what, from, to) => {
    const parts = { keys, fold, consume };
    const wat = renamed(guestWat({ ...parts, version: NEW }), from, to);
    expect(refusalOf(await withCoreOf(parts, wat))).toMatchObject({
      code: 'SVC_MODULE_STRUCTURE',
      message: expect.stringContaining(`does not export 'svc:runtime/${from}'`),
    });
  });

  test.each([
    [
      'keys',
      '(param $view i32) (param $view-length i32) (param $events i32) (param $count i32)',
      '',
    ],
    ['set-timer', '(func $set-timer (param i32 i32))', '(func $set-timer (param i32))'],
    ['find', '(param i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32)', '(param i64)'],
    [
      'request',
      '$request (param i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32)',
      '$request (param i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i64)',
    ],
  ])('that has %s with another type is refused', async (name, from, to) => {
    const parts = { keys, fold };
    const wat = renamed(guestWat({ ...parts, version: NEW }), from, to);
    const { code, message } = refusalOf(await withCoreOf(parts, wat))!;
    expect(code).toBe('SVC_MODULE_STRUCTURE');
    expect(message).toMatch(new RegExp(`${name}.* with another type than it has`));
  });

  test('that imports what no version has is refused', async () => {
    const wat = renamed(guestWat({ version: NEW }), '"set-timer"', '"set-alarm"');
    expect(refusalOf(await withCoreOf({}, wat))).toMatchObject({
      code: 'SVC_MODULE_FOREIGN_IMPORT',
      message: expect.stringContaining("'set-alarm' of 'svc:runtime/clock@0.2.0'"),
    });
  });
});

describe('a module that declares what it does not export is refused', () => {
  const views = [{ id: 'counts', sources: ['counter'], row: ROW, indexes: [], queries: [] }];
  const consumers = [{ id: 'ledger', sources: ['counter'], start: 'now' }];
  test.each([
    ['a view', { views }, 'view', { keys, fold }],
    ['a consumer', { consumers }, 'consumer', { consume }],
  ] as const)('%s', async (_what, declared, name, parts) => {
    const descriptorOf = (version: ProtocolVersion) =>
      ({ ...testDescriptor(version), ...declared }) as ModuleDescriptor;
    const without = await component(guestWat({ version: NEW }));
    expect(refusalOf(withDescriptor(without, descriptorOf(NEW)))).toMatchObject({
      code: 'SVC_MODULE_BAD_DESCRIPTOR',
      message: expect.stringContaining(`does not export 'svc:runtime/${name}@0.2.0'`),
    });
    // Version 0.1.0 has neither interface.
    const older = await component(guestWat());
    expect(refusalOf(withDescriptor(older, descriptorOf('0.1.0')))).toMatchObject({
      code: 'SVC_MODULE_BAD_DESCRIPTOR',
      message: expect.stringContaining('need a newer svc:runtime than 0.1.0'),
    });
    const complete = await component(guestWat({ version: NEW, ...parts }));
    expect(refusalOf(withDescriptor(complete, descriptorOf(NEW)))).toBeUndefined();
  });
});

describe('a module of version 0.1.0', () => {
  test.each([
    ['set-timer', '"now-ms"'],
    ['cancel-timer', '"now-ms"'],
    ['find', '"read"'],
    ['request', '"call"'],
  ])('that imports %s, which its version has not, is refused', async (name, from) => {
    const bytes = await component(guestWat());
    const core = await parse(renamed(guestWat(), from, `"${name}"`));
    expect(refusalOf(withDescriptor(withMainCore(bytes, core), testDescriptor()))).toMatchObject({
      code: 'SVC_MODULE_FOREIGN_IMPORT',
    });
  });

  test('that exports an interface which its version has not is refused', async () => {
    const bytes = await component(guestWat({ version: NEW, keys, fold }));
    const older = Buffer.from(bytes).toString('latin1').replaceAll('@0.2.0', '@0.1.0');
    expect(refusalOf(withDescriptor(Buffer.from(older, 'latin1'), testDescriptor()))).toMatchObject(
      {
        code: 'SVC_MODULE_STRUCTURE',
        message: expect.stringContaining("exports 'svc:runtime/view@0.1.0'"),
      },
    );
  });
});

describe('a module that mixes versions is refused', () => {
  test.each([
    ['0.1.0', '0.2.0'],
    ['0.2.0', '0.1.0'],
  ] as const)('with the descriptor of %s and the code of %s', async (named, used) => {
    const bytes = await component(guestWat({ version: used }));
    expect(refusalOf(withDescriptor(bytes, testDescriptor(named)))).toEqual({
      code: 'SVC_MODULE_OTHER_VERSION',
      message:
        `The module's descriptor names svc:runtime ${named}, and its code uses ${used}. ` +
        'Build both with one SDK.',
    });
  });

  test.each(['clock', 'journal', 'routing', 'http', 'diagnostics'])(
    'with %s of another version',
    async (name) => {
      for (const version of PROTOCOL_VERSIONS) {
        const other: ProtocolVersion = version === NEW ? '0.1.0' : NEW;
        const bytes = await component(guestWat({ version }));
        const mixed = Buffer.from(bytes)
          .toString('latin1')
          .replaceAll(`svc:runtime/${name}@${version}`, `svc:runtime/${name}@${other}`);
        const described = withDescriptor(Buffer.from(mixed, 'latin1'), testDescriptor(version));
        expect(refusalOf(described)).toMatchObject({
          code: 'SVC_MODULE_OTHER_VERSION',
          message: expect.stringMatching(
            `'svc:runtime/${name}@${other}' together with svc:runtime ${version}`,
          ),
        });
      }
    },
  );
});
