// docs/reference/sdk.md against the sources of the SDK: every public name with its signature, and none more.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { EntityClass } from '../../guest-sdk/compiler/entity-declaration.ts';
import { clientClass } from '../../guest-sdk/compiler/written-entity-code.ts';
import type { SyntaxNode } from '../support/mutants/source-pattern.ts';
import { SourceFile, nameOf, nodes } from '../support/source-file.ts';

const root = join(import.meta.dirname, '..', '..');
const page = readFileSync(join(root, 'docs/reference/sdk.md'), 'utf8');

/** Objects of these come from the runtime and the SDK. */
const NEVER_CONSTRUCTED = new Set([
  'Context',
  'DeferredCall',
  'Due',
  'Request',
  'EntityClient',
  'EventContext',
  'FoundRow',
  'Page',
  'RecordedEvent',
  'Result',
  'RowChange',
  'RowCount',
  'ServiceResponse',
  'Verdict',
  'VerifiedBody',
]);
/** The compiler writes these into each client. */
const OF_EVERY_CLIENT = [
  'events(afterSeq: u64 = 0, limit: u32 = 100)',
  'withIdempotencyKey(key: string)',
];

interface Export {
  readonly name: string;
  readonly source: SourceFile;
  readonly declaration: SyntaxNode;
}

const exported: readonly Export[] = SourceFile.read('guest-sdk/assembly/index.ts').exports.flatMap(
  ({ names, from }) => {
    const source = SourceFile.read(`guest-sdk/assembly/${from!}.ts`);
    return names.map((name) => ({ name, source, declaration: source.declaration(name) }));
  },
);
const isFunction = ({ declaration }: Export) => declaration.type === 'FunctionDeclaration';
const types = exported.filter((one) => !isFunction(one));

function membersOf(type: Export): readonly string[] {
  const members = type.source.members(type.name);
  if (type.declaration.type === 'TSEnumDeclaration') return members.map(nameOf);
  return members.flatMap((member) =>
    nameOf(member) === 'constructor' ? constructed(type, member) : memberOf(type, member),
  );
}

/** The constructor, and the fields that it declares. */
function constructed({ name, source }: Export, { value }: SyntaxNode): readonly string[] {
  const callable = value as SyntaxNode;
  const call = source.parametersOf(callable).replaceAll(/(?:public|private|readonly) /g, '');
  const fields = nodes(callable['params'])
    .filter(({ accessibility }) => accessibility === 'public')
    .map((field) => source.textOf(field).replace(/^public (?:readonly )?/, ''));
  return NEVER_CONSTRUCTED.has(name) ? fields : [`new ${name}${call}`, ...fields];
}

/** A public member; of a base class also one for those that extend it. */
function memberOf(
  { name: type, source, declaration }: Export,
  member: SyntaxNode,
): readonly string[] {
  const { accessibility } = member;
  const isBase = declaration['abstract'] === true;
  const name = nameOf(member);
  const isHidden = accessibility === 'private' || (accessibility === 'protected' && !isBase);
  if (isHidden || name.startsWith('__svc_')) return [];
  const prefix = member['static'] === true ? `${type}.` : '';
  if (!member.type.endsWith('MethodDefinition'))
    return [`${prefix}${name}${source.textOf(member['typeAnnotation'])}`];
  const callable = member['value'] as SyntaxNode;
  const isGetter = member['kind'] === 'get';
  const takes = isGetter ? '' : source.parametersOf(callable);
  const generic = source.textOf(callable['typeParameters']);
  return [`${prefix}${name}${generic}${takes}${source.textOf(callable['returnType'])}`];
}

/** `name<T>(parameter: T): Result`. */
function signatureOf({ name, source, declaration }: Export): string {
  const { typeParameters, returnType } = declaration as SyntaxNode & Record<string, unknown>;
  const takes = source.parametersOf(declaration);
  return `${name}${source.textOf(typeParameters)}${takes}${source.textOf(returnType)}`;
}

/** The first cells of the table under a heading. */
function shown(heading: string): string[] {
  const start = page.indexOf(`\n## ${heading}\n`);
  if (start === -1) throw new Error(`sdk.md has no heading ${heading}`);
  const section = page.slice(start + 4).split('\n## ')[0]!;
  return [...section.matchAll(/^\| `((?:[^`|]|\\\|)+)`.*\|$/gm)].map((match) =>
    match[1]!.replaceAll(String.raw`\|`, '|'),
  );
}

test('the sources are read', () => {
  expect(exported.length).toBeGreaterThan(14);
  expect(types.flatMap(membersOf).length).toBeGreaterThan(40);
});

test('every function is there', () => {
  const functions = exported.filter(isFunction).map(signatureOf);
  expect(shown('Functions').toSorted()).toEqual(functions.toSorted());
});

describe('the members of', () => {
  test.each(types)('$name', (type) => {
    const heading = /^## (`(\w+)(?:<.*>)?`)$/gm;
    const [, title] = [...page.matchAll(heading)].find((match) => match[2] === type.name) ?? [];
    const inherited = type.name === 'EntityClient' ? OF_EVERY_CLIENT : [];
    expect(shown(title ?? type.name).toSorted()).toEqual(
      [...membersOf(type), ...inherited].toSorted(),
    );
  });

  test('every client', () => {
    // An entity without handlers, at the beginning of its file.
    const entity = {
      declaration: { name: { range: { start: 0, end: 0 } } },
      name: 'Cart',
      component: 'cart',
      event: 'CartEvent',
      handlers: [],
    } as unknown as EntityClass;
    const source = new SourceFile('client.ts', clientClass(entity));
    const members = source.members('CartClient').filter((one) => nameOf(one) !== 'constructor');
    const written = members.map(
      (member) => `${nameOf(member)}${source.parametersOf(member['value'] as SyntaxNode)}`,
    );
    expect(written.toSorted()).toEqual(OF_EVERY_CLIENT);
  });
});

test('there is a heading for each class and enum, and for nothing else', () => {
  const names = [...page.matchAll(/^## `(\w+)/gm)].map((match) => match[1]!);
  expect(names.toSorted()).toEqual(types.map(({ name }) => name).toSorted());
});

test('every decorator is there', () => {
  const declared = SourceFile.read('guest-sdk/assembly/editor-decorators.ts').declaredFunctions;
  const names = new Set(declared.map((name) => `@${name}`));
  const rows = shown('Decorators').map((cell) => /^@\w+/.exec(cell)![0]);
  expect(rows.toSorted()).toEqual([...names].toSorted());
});
