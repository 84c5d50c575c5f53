// ComponentStructure: a component is refused if it differs from what the host makes of it, or contains more. Each
// case changes the text of a valid component at one point.
import { parse, print } from '@bytecodealliance/jco';
import { beforeAll, describe, expect, test } from 'vitest';
import { inspectModule } from '../../../../../host/hosting/wasm/admission/admission.ts';
import {
  COMMAND_EXPORT,
  component,
  guestWat,
  testDescriptor,
  withDescriptor,
} from '../support/guest-module.ts';

const POST = `(func (export "cabi_post_${COMMAND_EXPORT}") (param i32))`;
const fields = `(func (export "_initialize")) (func (export "other") (param i32))`;
let text: string;

beforeAll(async () => {
  text = await print(await component(guestWat({ fields: `${POST}${fields}` })));
});

const refusalOf = async (changed: string) =>
  inspectModule(withDescriptor(await parse(changed), testDescriptor())).refusal;

/** Returns the refusal of the component after each of these texts was replaced once. */
async function refusalWith(...changes: readonly (readonly [from: string, to: string])[]) {
  let changed = text;
  for (const [from, to] of changes) {
    expect(changed).toContain(from);
    changed = changed.replace(from, () => to);
  }
  return refusalOf(changed);
}

const MAIN_MEMORY = '(alias core export $main "memory" (core memory $memory (;0;)))';
const REALLOC = '(alias core export $main "cabi_realloc" (core func $cabi_realloc (;7;)))';
const FIXUP = '(core module $wit-component-fixup (;2;)';
const APPLY = 'svc:runtime/entity@0.1.0#[method]instance.apply';
const QUERY = 'svc:runtime/entity@0.1.0#[method]instance.query';
const lift = (name: string) => `(canon lift (core func $"${name}") (memory $memory)`;
const CLOSE = '\n)';
const atEnd = (more: string): readonly [string, string] => [
  text.slice(text.lastIndexOf('(@producers')),
  `${more}${CLOSE}`,
];

describe('a component', () => {
  test('is admitted as the component tools wrote it, once more by way of its text', async () => {
    expect(await refusalOf(text)).toBeUndefined();
  });

  const cases: readonly [what: string, from: () => readonly [string, string], said: string][] = [
    [
      'instantiates its main module twice',
      () => [
        FIXUP,
        `(core instance (instantiate $main
        (with "svc:runtime/clock@0.1.0" (instance $svc:runtime/clock@0.1.0))
        (with "svc:runtime/journal@0.1.0" (instance $svc:runtime/journal@0.1.0))
        (with "svc:runtime/routing@0.1.0" (instance $svc:runtime/routing@0.1.0))
        (with "[export]svc:runtime/entity@0.1.0" (instance $"[export]svc:runtime/entity@0.1.0"))))
        ${FIXUP}`,
      ],
      'not instantiated exactly once',
    ],
    [
      'has a core module that nothing instantiates',
      () => atEnd('(core module)'),
      'not instantiated exactly once',
    ],
    [
      'has a core module with code of its own',
      () => atEnd('(core module $own (func nop)) (core instance (instantiate $own))'),
      'neither its main one nor the glue',
    ],
    [
      'has two shims',
      () =>
        atEnd(`(core module $second (table 0 0 funcref) (export "$imports" (table 0)))
          (core instance (instantiate $second))
          (core module $third (type (func)) (table 1 1 funcref) (export "0" (func 0))
            (export "$imports" (table 0)) (func (type 0) i32.const 0 call_indirect (type 0)))
          (core instance (instantiate $third))`),
      'neither its main one nor the glue',
    ],
    [
      'has a second shim',
      () =>
        atEnd(`(core module $third (type (func)) (table 1 1 funcref) (export "0" (func 0))
            (export "$imports" (table 0)) (func (type 0) i32.const 0 call_indirect (type 0)))
          (core instance (instantiate $third))`),
      'several core modules that are shims',
    ],
    [
      'has two modules that call something at the start',
      () =>
        atEnd(`(core module $again (import "main" "_initialize" (func)) (start 0))
          (core instance (instantiate $again (with "main" (instance $main))))`),
      'several core modules that do the same',
    ],
    [
      'calls another function at the start',
      () => [
        '(import "main" "_initialize" (func (;3;) (type 3)))',
        '(import "main" "other" (func (;3;) (type 2)))',
      ],
      'something else than its initialisation',
    ],
    [
      'has two modules that fill a table',
      () =>
        atEnd(`(core module $again (import "actual" "0" (func))
            (import "shim" "$imports" (table 0 funcref)) (elem (i32.const 0) func 0))
          (core instance (instantiate $again (with "actual" (instance $actual))
            (with "shim" (instance $wit-component-shim-instance))))`),
      'several core modules that do the same',
    ],
    [
      'has a glue module that does nothing more than another',
      () =>
        atEnd(`(core module $none) (core module $nothing)
          (core instance (instantiate $none)) (core instance (instantiate $nothing))`),
      'several core modules that do the same',
    ],
    [
      'fills the table of its shim with the shim',
      () => [
        '(export "0" (func $"#core-func8 indirect-svc:runtime/journal@0.1.0-read"))',
        '(export "0" (func $indirect-svc:runtime/journal@0.1.0-read))',
      ],
      "links the import 'read'",
    ],
    [
      'gives its main module an argument twice',
      () => [
        '(with "svc:runtime/clock@0.1.0" (instance $svc:runtime/clock@0.1.0))',
        `(with "svc:runtime/clock@0.1.0" (instance $svc:runtime/clock@0.1.0))
         (with "svc:runtime/clock@0.1.0" (instance $svc:runtime/clock@0.1.0))`,
      ],
      "links the import 'now-ms'",
    ],
    [
      'gives an import twice',
      () => [
        '(export "now-ms" (func $now-ms))',
        '(export "now-ms" (func $now-ms)) (export "now-ms" (func $now-ms))',
      ],
      "links the import 'now-ms'",
    ],
    [
      'makes a shell twice',
      () => atEnd('(instance (instantiate $svc:runtime/diagnostics@0.1.0-shim-component))'),
      'another number of nested components',
    ],
    [
      'gives a shell its function twice',
      () => [
        '(with "import-method-instance-query" (func $"[method]instance.query"))',
        `(with "import-method-instance-query" (func $"[method]instance.query"))
         (with "import-method-instance-query" (func $"[method]instance.query"))`,
      ],
      'exports something else as',
    ],
    [
      'crosses two imports',
      () => ['(export "0" (func $"#core-func8', '(export "1" (func $"#core-func8'],
      "links the import 'read'",
    ],
    [
      'gives an import another function',
      () => ['(export "now-ms" (func $now-ms))', '(export "now-ms" (func $resource.new))'],
      "links the import 'now-ms'",
    ],
    [
      'gives a resource another intrinsic',
      () => ['(canon resource.drop $instance)', '(canon resource.rep $instance)'],
      "links the import '[resource-drop]instance'",
    ],
    [
      'lowers through what is not its memory',
      () => [MAIN_MEMORY, MAIN_MEMORY.replace('"memory"', '"storage"')],
      'another memory',
    ],
    [
      'lowers with a release',
      () => ['(canon lower (func $now-ms))', '(canon lower (func $now-ms) (post-return $now-ms))'],
      "something else than its 'cabi_post_' function",
    ],
    [
      'allocates by another function',
      () => [REALLOC, REALLOC.replace('cabi_realloc"', 'other"')],
      "something else than 'cabi_realloc'",
    ],
    [
      'does not release what should be released',
      () => [`(post-return $"cabi_post_${COMMAND_EXPORT}")`, ''],
      "something else than its 'cabi_post_' function",
    ],
    [
      'releases by another function',
      () => [`"cabi_post_${COMMAND_EXPORT}" (core func`, '"other" (core func'],
      "something else than its 'cabi_post_' function",
    ],
    [
      'releases what nobody should',
      () => [lift(QUERY), `${lift(QUERY)} (post-return $"cabi_post_${COMMAND_EXPORT}")`],
      "something else than its 'cabi_post_' function",
    ],
    [
      'lifts without a memory',
      () => [
        `${lift(APPLY)} (realloc $cabi_realloc) string-encoding=utf8`,
        lift(APPLY).replace(' (memory $memory)', ''),
      ],
      'without a memory',
    ],
    [
      'lifts another function in its place',
      () => [lift(QUERY), lift(COMMAND_EXPORT)],
      `exports something else as '${QUERY}'`,
    ],
    [
      'lifts a function that no interface has',
      () => atEnd('(type $none (func)) (func (type $none) (canon lift (core func $cabi_realloc)))'),
      'lifts more functions',
    ],
    [
      'mixes its encodings',
      () => [
        `${lift(QUERY)} (realloc $cabi_realloc) string-encoding=utf8`,
        `${lift(QUERY)} (realloc $cabi_realloc) string-encoding=utf16`,
      ],
      'mixes the string encodings',
    ],
    [
      'has a nested component with a core module',
      () => ['shim-component (;0;)', 'shim-component (;0;) (core module)'],
      'more than the shell',
    ],
    [
      'has a nested component that imports an instance',
      () => ['shim-component (;0;)', 'shim-component (;0;) (import "more" (instance))'],
      'more than the shell',
    ],
    [
      'has a nested component more',
      () => atEnd('(component)'),
      'another number of nested components',
    ],
    [
      'crosses two functions of a shell',
      () => [
        '(with "import-method-instance-command" (func $"[method]instance.command"))',
        '(with "import-method-instance-command" (func $"[method]instance.query"))',
      ],
      'exports something else as',
    ],
    [
      'exports the shell of another interface',
      () => [
        '"svc:runtime/http@0.1.0" (instance $svc:runtime/http@0.1.0-shim-instance)',
        '"svc:runtime/http@0.1.0" (instance $svc:runtime/entity@0.1.0-shim-instance)',
      ],
      "exports 'svc:runtime/http@0.1.0' with other functions",
    ],
    [
      'exports an interface that it imports',
      () => [
        '"svc:runtime/http@0.1.0" (instance $svc:runtime/http@0.1.0-shim-instance)',
        '"svc:runtime/http@0.1.0" (instance $svc:runtime/types@0.1.0)',
      ],
      'by something else than a shell',
    ],
    [
      'exports more than the world',
      () => atEnd('(export "another" (instance $svc:runtime/types@0.1.0))'),
      "exports 'another', which is not of the world",
    ],
    [
      'has a value or a start of a component',
      () => atEnd('(core type (func))'),
      'which no component of the world has',
    ],
    [
      'bundles an instance',
      () => atEnd('(instance (export "now-ms" (func $now-ms)))'),
      'bundles exports',
    ],
    [
      'takes a global out of its core',
      () => atEnd('(alias core export $main "memory" (core global))'),
      'takes a core global',
    ],
  ];
  test.each(cases)('that %s is refused', async (_what, change, said) => {
    const refusal = await refusalWith(change());
    expect(refusal?.message).toContain(said);
    expect(refusal?.code).toBe('SVC_MODULE_STRUCTURE');
  });
});
