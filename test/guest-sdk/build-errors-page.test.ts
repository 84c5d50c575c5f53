// Compares docs/reference/compile-errors.md with the compiler: each message on the page is one of the compiler's.
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { SDK_NAMES } from '../../guest-sdk/compiler/diagnostic-help.ts';
import { SourceFile } from '../support/source-file.ts';

const root = join(import.meta.dirname, '..', '..');
const page = readFileSync(join(root, 'docs', 'reference', 'compile-errors.md'), 'utf8');
const messages = [...page.matchAll(/^\| `([^`]+)`.* \| /gm)].map((match) => match[1]!);
const texts = globSync('guest-sdk/compiler/*.ts', { cwd: root }).flatMap(
  (file) => SourceFile.read(file).texts,
);

test('the page has the messages of every kind', () => {
  expect(messages.length).toBeGreaterThan(35);
});

test.each(messages)('the compiler has the message: %s', (message) => {
  // The text between the names is the compiler's own.
  const parts = message.split('…').filter((part) => /\w/.test(part));
  expect(parts).not.toEqual([]);
  const pattern = new RegExp(parts.map((part) => RegExp.escape(part)).join('[^]*?'));
  expect(texts.some((text) => pattern.test(text))).toBe(true);
});

test('the compiler proposes the import of every name of the SDK', () => {
  const { exports } = SourceFile.read('guest-sdk/assembly/index.ts');
  const exported = exports.flatMap(({ names }) => names);
  expect([...SDK_NAMES].toSorted()).toEqual(exported.toSorted());
});
