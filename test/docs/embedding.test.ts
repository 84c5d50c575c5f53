// The pages about embedding: every name that the host exports is on the reference page, and the program that the
// host's README shows is one that runs.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { filesWith, snippetsOf } from '../support/doc-snippets.ts';

const root = join(import.meta.dirname, '..', '..');
const read = (file: string) => readFileSync(join(root, file), 'utf8');
const page = read('docs/reference/embedding.md');

/** Names in `export { … }`, `export type { … }` and of declarations. */
function exportedNames(source: string): string[] {
  const lists = [...source.matchAll(/^export (?:type )?\{([^}]*)\}/gm)].flatMap(([, list]) =>
    list!.split(',').map((name) => name.trim().replace(/^type /, '')),
  );
  const declared = [
    ...source.matchAll(/^export (?:async )?(?:function|interface|type|class|const) (\w+)/gm),
  ].map(([, name]) => name!);
  return [...lists, ...declared].filter((name) => name !== '');
}

test('every name of @svc/host is on the reference page', () => {
  const names = exportedNames(read('host/embed.ts'));
  expect(names).toContain('createService');
  expect(names.length).toBeGreaterThan(25);
  expect(names.filter((name) => !new RegExp(`\\b${name}\\b`).test(page))).toEqual([]);
});

test("the program in the host's README is a part of one that runs", () => {
  const snippets = snippetsOf('host/README.md', 'ts');
  expect(snippets).toHaveLength(1);
  for (const { code } of snippets) expect(filesWith(code, ['examples/**/*.ts'])).not.toEqual([]);
});

test('what the reference page shows is a part of what tests run', () => {
  const snippets = snippetsOf('docs/reference/embedding.md', 'ts');
  expect(snippets).not.toEqual([]);
  for (const { code } of snippets)
    expect(filesWith(code, ['test/host/hosting/embedded/*.ts'])).not.toEqual([]);
});

test('the members of a service and its options are on the reference page', () => {
  const source = read('host/service/embedded-options.ts');
  const parts = ['CommonOptions', 'Service ', 'CallOptions', 'ObservabilityOptions'];
  for (const part of parts.map((name) => `interface ${name}`)) {
    const at = source.indexOf(part);
    const body = source.slice(at, source.indexOf('\n}', at));
    const members = [...body.matchAll(/^ {2}(?:readonly )?(\w+)[?<(:]/gm)].map(([, name]) => name!);
    expect(members.length).toBeGreaterThan(0);
    expect(members.filter((name) => !page.includes(`\`${name}`))).toEqual([]);
  }
});
