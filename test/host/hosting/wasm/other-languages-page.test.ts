// docs/how-to/other-languages.md lists what a module imports and exports: exactly what the component tools make of
// wit/0.1.0/runtime.wit, and what the host accepts.
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { componentEmbed } from '@bytecodealliance/jco';
import { beforeAll, describe, expect, test } from 'vitest';
import {
  INITIALIZE_EXPORT,
  REALLOC_EXPORT,
  coreInterface,
  optionalCoreExports,
  requiredCoreExports,
} from '../../../../host/hosting/wasm/binary/core-interface.ts';
import {
  type CoreModule,
  readCoreModule,
} from '../../../../host/hosting/wasm/binary/core-module-reader.ts';

const world = coreInterface('0.1.0');
const root = join(import.meta.dirname, '../../../..');
const file = join(root, 'docs/how-to/other-languages.md');
const page = readFileSync(file, 'utf8');
/** The rows of the table under a heading, cell by cell, without their quotes. */
const tableUnder = (heading: string) =>
  page
    .split(`## ${heading}\n`)[1]!
    .split('\n## ')[0]!
    .split('\n')
    .filter((line) => line.startsWith('| `'))
    .map((line) =>
      line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim().replaceAll('`', '')),
    );
/** `(2 × i32, i64) → ()` as core-interface.ts writes it. */
const signatureOf = (words: string) => {
  const [parameters, result] = words.split(' → ') as [string, string];
  const each = parameters
    .slice(1, -1)
    .split(', ')
    .flatMap((run) => {
      const [count, type] = run.includes(' × ') ? run.split(' × ') : ['1', run];
      return Array.from({ length: Number(count) }, () => type);
    });
  return `${each.join(' ')} -> ${result === '()' ? '' : result}`.trim();
};
const POST = 'cabi_post_';
const imports = tableUnder('What the core module imports').map(
  ([module, name, type]) => [module!, name!, signatureOf(type!)] as const,
);
const exports = tableUnder('What the core module exports').map(
  ([name, type, post]) => [name!, signatureOf(type!), post === 'yes'] as const,
);
const exported = (name: string, signature: string, post: boolean): [string, string][] => [
  [name, signature],
  ...(post ? [[`${POST}${name}`, 'i32 ->'] as [string, string]] : []),
];
const renamed = (name: string) => name.replace('@0.1.0', '@0.2.0');
const functionsOf = (core: CoreModule) =>
  core.exports
    .filter(({ kind }) => kind === 0)
    .map(({ name, index }) => [olderName(name), core.functions[index]!] as const);

/** The tools' own example of a module has names of the newer convention. */
function olderName(name: string): string {
  if (name === 'cm32p2_realloc') return REALLOC_EXPORT;
  if (name === 'cm32p2_initialize') return INITIALIZE_EXPORT;
  const [, of, member] = name.split('|') as [string, string, string];
  const posted = member.endsWith('_post');
  const plain = member.replace(/_post$/, '').replace(/^(\w+)_dtor$/, '[dtor]$1');
  return `${posted ? POST : ''}${of}.0#${plain}`;
}

function olderImport(module: string, name: string): readonly [string, string] {
  const of = module.replace('cm32p2|_ex_', '[export]').replace('cm32p2|', '');
  return [`${of}.0`, name.replace(/^(\w+)_(new|rep|drop)$/, '[resource-$2]$1')];
}

describe('the page about other languages', () => {
  let dummy: CoreModule;
  beforeAll(async () => {
    const options = {
      dummy: true,
      witSource: readFileSync(join(root, 'wit/0.1.0/runtime.wit'), 'utf8'),
      world: 'service',
    };
    dummy = readCoreModule(await componentEmbed(options));
  });

  test('names the imports that wit/0.1.0/runtime.wit has, with their types', () => {
    const ofTools = dummy.imports.map(({ module, name, signature }) => [
      ...olderImport(module, name),
      signature,
    ]);
    expect(new Set(imports)).toEqual(new Set(ofTools));
    const ofHost = [...world.coreImports].flatMap(([module, functions]) =>
      [...functions].map(([name, signature]) => [module, name, signature]),
    );
    expect(new Set(imports)).toEqual(new Set(ofHost));
  });

  test('names the exports that wit/0.1.0/runtime.wit has, with their types and post-returns', () => {
    const named = exports.flatMap(([name, signature, post]) => [
      [name, signature],
      ...(post ? [[`${POST}${name}`, 'i32 ->']] : []),
    ]);
    expect(new Set(named)).toEqual(new Set(functionsOf(dummy)));
    const ofHost = [
      ...requiredCoreExports(world, world.requiredExports),
      ...optionalCoreExports(world),
    ];
    expect(new Set(named)).toEqual(new Set(ofHost));
  });

  test('names what version 0.2.0 has in addition', async () => {
    const newest = coreInterface('0.2.0');
    const further = tableUnder('Timers, views and consumers').map(
      ([names, type]) => [names!, signatureOf(type!)] as const,
    );
    const core = readCoreModule(
      await componentEmbed({
        dummy: true,
        witSource: readFileSync(join(root, 'wit/runtime.wit'), 'utf8'),
        world: 'service-with-views-and-consumers',
      }),
    );
    const importsOfTools = core.imports.map(({ module, name, signature }) => [
      ...olderImport(module, name),
      signature,
    ]);
    const importsOfPage = [
      ...imports.map(([module, name, type]) => [renamed(module), name, type]),
      ...further.flatMap(([names, type]) =>
        names.includes(' ') ? [[...names.split(' '), type]] : [],
      ),
    ];
    expect(new Set(importsOfPage)).toEqual(new Set(importsOfTools));
    const importsOfHost = [...newest.coreImports].flatMap(([module, functions]) =>
      [...functions].map(([name, signature]) => [module, name, signature]),
    );
    expect(new Set(importsOfPage)).toEqual(new Set(importsOfHost));
    const exportsOfPage = [
      ...exports.flatMap(([name, signature, post]) => exported(renamed(name), signature, post)),
      ...further.flatMap(([names, type]) =>
        names.includes(' ') ? [] : exported(names, type, true),
      ),
    ];
    expect(new Set(exportsOfPage)).toEqual(new Set(functionsOf(core)));
    const exportsOfHost = [
      ...requiredCoreExports(newest, [...newest.componentExports.keys()]),
      ...optionalCoreExports(newest),
    ];
    expect(new Map(exportsOfPage)).toEqual(new Map(exportsOfHost));
  });

  test('is right that no function has more than the 16 parameters that are passed flat', () => {
    const counts = functionsOf(dummy).map(
      ([, signature]) => signature.split(' ->')[0]!.split(' ').length,
    );
    expect(Math.max(...counts)).toBe(16);
  });

  test('points at files that exist', () => {
    const links = [...page.matchAll(/\]\((?!http)([^)#]+)/g)].map((match) => match[1]!);
    expect(links.length).toBeGreaterThan(4);
    expect(links.filter((link) => !existsSync(join(dirname(file), link)))).toEqual([]);
  });
});
