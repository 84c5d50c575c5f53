// The pages about embedding: every name that the host exports is on the reference page, and the program that the
// host's README shows is one that runs.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { filesWith, snippetsOf } from '../support/doc-snippets.ts';
import { SourceFile, nameOf } from '../support/source-file.ts';

const root = join(import.meta.dirname, '..', '..');
const page = readFileSync(join(root, 'docs/reference/embedding.md'), 'utf8');

test('every name of @svc/host is on the reference page', () => {
  // The second file is what the first one exports besides its own.
  const names = ['host/embed.ts', 'components/sdk.ts'].flatMap((file) =>
    SourceFile.read(file).exports.flatMap((one) => one.names),
  );
  expect(names).toContain('createService');
  expect(names).toContain('defineEntity');
  expect(names.length).toBeGreaterThan(25);
  expect(names.filter((name) => !new RegExp(`\\b${name}\\b`).test(page))).toEqual([]);
});

test('every name of @svc/host/testing is on the reference page', () => {
  const names = SourceFile.read('host/testing.ts').exports.flatMap((one) => one.names);
  expect(names).toContain('VirtualClock');
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
    expect(filesWith(code, ['test/{components,host/service}/*.ts'])).not.toEqual([]);
});

test('the members of a service and its options are on the reference page', () => {
  const source = SourceFile.read('host/service/embedded-options.ts');
  for (const type of ['CommonOptions', 'Service', 'CallOptions', 'ObservabilityOptions']) {
    const members = source.members(type).map(nameOf);
    expect(members.length).toBeGreaterThan(0);
    expect(members.filter((name) => !page.includes(`\`${name}`))).toEqual([]);
  }
});
