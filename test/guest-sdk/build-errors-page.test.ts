// Holds docs/reference/compile-errors.md against the compiler: each message there is one that it has.
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { SDK_NAMES } from '../../guest-sdk/compiler/diagnostic-help.ts';

const root = join(import.meta.dirname, '..', '..');
const page = readFileSync(join(root, 'docs', 'reference', 'compile-errors.md'), 'utf8');
const messages = [...page.matchAll(/^\| `([^`]+)`.* \| /gm)].map((match) => match[1]!);
const sources = globSync('guest-sdk/compiler/*.ts', { cwd: root })
  .map((file) => readFileSync(join(root, file), 'utf8'))
  .join('\n')
  .replaceAll("\\'", "'");

test('the page has the messages of every kind', () => {
  expect(messages.length).toBeGreaterThan(35);
});

test.each(messages)('the compiler has the message: %s', (message) => {
  // What stands between the names is the compiler's own.
  const parts = message.split('…').filter((part) => /\w/.test(part));
  expect(parts).not.toEqual([]);
  const pattern = parts.map((part) => RegExp.escape(part)).join(String.raw`[^\n]*?`);
  expect(sources).toMatch(new RegExp(pattern));
});

test('the compiler proposes the import of every name of the SDK', () => {
  const index = readFileSync(join(root, 'guest-sdk', 'assembly', 'index.ts'), 'utf8');
  const exported = [...index.matchAll(/^export \{ (.*) \}/gm)].flatMap((match) =>
    match[1]!.split(', '),
  );
  expect([...SDK_NAMES].toSorted()).toEqual(exported.toSorted());
});
