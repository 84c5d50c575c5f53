// The package runs in browsers and in Node 20: it imports nothing but its own files, and uses no name of Node alone.
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { parseSync } from 'oxc-parser';
import { expect, test } from 'vitest';

const folder = join(import.meta.dirname, '../../client');
const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(
  (name) => name.endsWith('.ts') && !name.includes('node_modules'),
);

/** Names of Node alone, and names that Node 20 or browsers of that time do not have. */
const UNKNOWN =
  /\b(?:process\.\w+|Buffer|require|setImmediate|__dirname|AbortSignal\.any|Promise\.(?:try|withResolvers)|groupBy|randomUUID\(|using)\b(?!['`])/;

test('there are files', () => {
  expect(files.length).toBeGreaterThan(20);
});

test.each(files)('%s imports files of the package alone', (name) => {
  const { module } = parseSync(name, readFileSync(join(folder, name), 'utf8'));
  const specifiers = [
    ...module.staticImports.map(({ moduleRequest }) => moduleRequest.value),
    ...module.staticExports
      .flatMap(({ entries }) => entries)
      .flatMap(({ moduleRequest }) => (moduleRequest == null ? [] : [moduleRequest.value])),
  ];
  expect(module.dynamicImports).toEqual([]);
  for (const specifier of specifiers) {
    expect(specifier).toMatch(/^\.{1,2}\/[\w./-]+\.ts$/);
    expect(join(folder, name, '..', specifier).startsWith(folder)).toBe(true);
  }
});

test.each(files)('%s uses names that browsers and Node 20 have', (name) => {
  const text = readFileSync(join(folder, name), 'utf8');
  const code = text.replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*$|'[^'\n]*'|`[^`]*`/gm, '');
  expect(UNKNOWN.exec(code)?.[0]).toBeUndefined();
});
