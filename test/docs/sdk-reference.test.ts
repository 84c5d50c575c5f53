// docs/reference/sdk.md against the sources of the SDK: every public name with its signature, and none more.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';

const root = join(import.meta.dirname, '..', '..');
const read = (path: string) => readFileSync(join(root, path), 'utf8');
const page = read('docs/reference/sdk.md');

/** Objects of these come from the runtime and the SDK. */
const NEVER_CONSTRUCTED = new Set([
  'Context',
  'Request',
  'EntityClient',
  'RecordedEvent',
  'Result',
]);
/** The compiler writes these into each client. */
const OF_EVERY_CLIENT = [
  'events(afterSeq: u64 = 0, limit: u32 = 100)',
  'withIdempotencyKey(key: string)',
];

interface Export {
  readonly name: string;
  readonly kind: string;
  /** From its declaration on to the end of the file. */
  readonly text: string;
}

const exported: readonly Export[] = [
  ...read('guest-sdk/assembly/index.ts').matchAll(/^export \{ (.+) \} from "\.\/(.+)";$/gm),
].flatMap(([, names, file]) => {
  const source = read(`guest-sdk/assembly/${file}.ts`);
  return names!.split(', ').map((name) => {
    const found = new RegExp(
      String.raw`^export (?:abstract )?(class|enum|function) ${name}\b`,
      'm',
    ).exec(source);
    if (found === null) throw new Error(`${file}.ts exports no ${name}`);
    return { name, kind: found[1]!, text: source.slice(found.index) };
  });
});

const types = exported.filter(({ kind }) => kind !== 'function');

/** What stands between the braces of a class or enum, on one line each. */
function bodyOf({ text }: Export): string {
  return text.slice(text.indexOf('{\n') + 2, text.search(/^\}/m));
}

const oneLine = (text: string) =>
  text
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/\( | \)/g, (found) => found.trim())
    .replaceAll(',)', ')');

function membersOf(type: Export): string[] {
  const body = bodyOf(type).replaceAll(
    /^ *\/\*\*[\s\S]*?\*\/\n| *\/\*\*.*?\*\/\n|^ *\/\/.*\n/gm,
    '',
  );
  if (type.kind === 'enum') return [...body.matchAll(/^ {2}(\w+) =/gm)].map((match) => match[1]!);
  const members: string[] = [];
  const isBase = type.text.startsWith('export abstract');
  const pattern =
    /^ {2}((?:(?:public|protected|private|abstract|static|readonly|get) )*)(\w+)(<[\w ,[\]]+>)?(\(((?:[^()]|\([^()]*\))*)\))?(?:!?: ([^=;{]+?))?(?: = [^;]+)?(?:;| \{)/gm;
  for (const [, words, name, generic, call, parameters, result] of body.matchAll(pattern)) {
    const has = (word: string) => words!.split(' ').includes(word);
    if (name === 'constructor') {
      const all = oneLine(parameters!).trim().replace(/,$/, '');
      if (!NEVER_CONSTRUCTED.has(type.name))
        members.push(`new ${type.name}(${all.replaceAll(/(?:public|private|readonly) /g, '')})`);
      for (const [, field] of all.matchAll(/public (?:readonly )?(\w+: \w+)/g))
        members.push(field!);
      continue;
    }
    if (name!.startsWith('__svc_') || has('private') || (has('protected') && !isBase)) continue;
    const prefix = has('static') ? `${type.name}.` : '';
    const takes = call === undefined || has('get') ? '' : oneLine(call.replace(/,\s*\)$/, ')'));
    members.push(`${prefix}${name}${generic ?? ''}${takes}: ${result}`);
  }
  return members;
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
  const functions = exported
    .filter(({ kind }) => kind === 'function')
    .map(({ text }) =>
      oneLine(/^export function ([^{]+) \{/.exec(text)![1]!.replace(/,\s*\)/, ')')),
    );
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
    const written = read('guest-sdk/compiler/written-code.ts');
    expect(OF_EVERY_CLIENT.filter((member) => !written.includes(`\n  ${member}: `))).toEqual([]);
  });
});

test('there is a heading for each class and enum, and for nothing else', () => {
  const names = [...page.matchAll(/^## `(\w+)/gm)].map((match) => match[1]!);
  expect(names.toSorted()).toEqual(types.map(({ name }) => name).toSorted());
});

test('every decorator is there', () => {
  const declared = read('guest-sdk/assembly/editor-decorators.ts').matchAll(
    /^declare function (\w+)/gm,
  );
  const names = new Set([...declared].map((match) => `@${match[1]}`));
  const rows = shown('Decorators').map((cell) => /^@\w+/.exec(cell)![0]);
  expect(rows.toSorted()).toEqual([...names].toSorted());
});
