// docs/reference/wit.md is generated; this holds that the reader of the WIT leaves nothing out.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readWit } from '../../scripts/wit-source.ts';
import { witReference } from '../../scripts/wit-reference.ts';

const text = readFileSync(join(import.meta.dirname, '../../wit/runtime.wit'), 'utf8');
const page = witReference();
const words = (prose: string) => prose.replaceAll(/\s+/g, ' ');

test('every interface, function and type of the WIT is on the page', () => {
  const interfaces = [...text.matchAll(/^interface (\S+) \{/gm)].map((match) => match[1]);
  expect(page.match(/^## `.+`$/gm)).toEqual(interfaces.map((name) => `## \`${name}\``));
  const functions = text.match(/\bfunc\(|^ +constructor\(/gm)!;
  expect(page.match(/^\| `[^`]*\([^`]*\)[^`]*` \|/gm)).toHaveLength(functions.length);
  const types = text.match(/^ {4}(?:record|variant|enum|type) /gm)!;
  expect(page.match(/^\| `(?:record|variant|enum|type) [^`]+` \| \|/gm)).toHaveLength(types.length);
});

test('every comment of the WIT is on the page', () => {
  const comments = text
    .split('\n')
    .filter((line) => /^\s*\/\/\/ ./.test(line))
    .map((line) => words(line.replace(/^\s*\/\/\/ /, '')));
  expect(comments.length).toBeGreaterThan(60);
  expect(comments.filter((line) => !words(page).includes(line))).toEqual([]);
});

test('members stand with their types, and directions are those of the world', () => {
  const { interfaces, directions } = readWit(text);
  const http = interfaces.find(({ name }) => name === 'http')!;
  const request = http.types.find(({ name }) => name === 'request')!;
  expect(request.members.map(({ form }) => form)).toEqual([
    'route: u32',
    'parameters: list<string>',
    'query: string',
    'headers: list<tuple<string, string>>',
    'caller: string',
    'body: body',
  ]);
  expect([...directions]).toEqual([
    ['clock', 'import'],
    ['journal', 'import'],
    ['routing', 'import'],
    ['entity', 'export'],
    ['http', 'export'],
    ['diagnostics', 'export'],
    ['view', 'export'],
    ['consumer', 'export'],
  ]);
});
