// What the pages show is run: each snippet of a how-to page is a part of a file under test, and the
// commands of all pages are ones that svc has.
import { commandWords } from '../host/hosting/process/command-words.ts';
import { execFileSync } from 'node:child_process';
import { cpSync, globSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readArguments } from '../cli/arguments.ts';
import { findCommand } from '../cli/command-list.ts';
import { filesWith, snippetsOf } from './support/doc-snippets.ts';
import { temporaryFolder } from './support/temporary-folder.ts';

const root = join(import.meta.dirname, '..');
/** Where what runs lies. */
const SOURCES = ['test/**/*.ts', 'examples/**/*.ts', 'fixtures/**/*.ts', 'cli/template/**/*.ts'];
const SDK_README = join('guest-sdk', 'README.md');

const pages = globSync('docs/how-to/*.md', { cwd: root });
const snippets = pages.flatMap((page) => snippetsOf(page, 'ts'));

test('there are snippets to look for', () => {
  expect(pages).toContain(join('docs', 'how-to', 'testing.md'));
  expect(snippets.length).toBeGreaterThan(5);
});

describe('the snippet at', () => {
  test.each(snippets)('$place is a part of a file that runs', ({ code }) => {
    expect(filesWith(code, SOURCES)).not.toEqual([]);
  });
});

/** `svc …` and `npx svc …`, without what a shell does with them. */
const commands = globSync('**/*.md', {
  cwd: root,
  exclude: ['**/node_modules/**', 'build/**'],
})
  .flatMap((page) => snippetsOf(page, 'sh'))
  .flatMap(({ place, code }) =>
    [...code.replaceAll('\\\n', ' ').matchAll(/(?:^|[(&|] *)(?:npx )?svc +([^\n#&|<>)]+)/gm)].map(
      ([, line]) => ({ place, line: line!.trim() }),
    ),
  );

describe('the command', () => {
  test('is looked for on every page that shows one', () => {
    expect(commands.length).toBeGreaterThan(12);
    expect(new Set(commands.map(({ place }) => place)).size).toBeGreaterThan(6);
  });

  test.each(commands)('svc $line of $place is one that svc has', async ({ line }) => {
    const found = await findCommand(commandWords(line) ?? line.split(/ +/));
    expect(found).toBeDefined();
    expect(() => readArguments(found!.command.description, found!.args)).not.toThrow();
  });
});

test('each npm script that a page names is one of the checkout, of an example or of what svc new makes', () => {
  const manifests = globSync(
    ['package.json', 'examples/*/package.json', 'cli/template/*/package.json'],
    {
      cwd: root,
    },
  );
  const scripts = new Set(
    manifests.flatMap((file) => {
      const text = readFileSync(join(root, file), 'utf8');
      return Object.keys((JSON.parse(text) as { scripts: object }).scripts);
    }),
  );
  const all = globSync('**/*.md', {
    cwd: root,
    exclude: ['**/node_modules/**', 'build/**'],
  });
  const named = all.flatMap((page) =>
    [...readFileSync(join(root, page), 'utf8').matchAll(/\bnpm run ([a-z][a-z:-]*)/g)].map(
      ([, name]) => ({ page, name: name! }),
    ),
  );
  expect(named.length).toBeGreaterThan(10);
  expect(named.filter(({ name }) => !scripts.has(name))).toEqual([]);
});

test("the program in the SDK's README builds what it names", () => {
  const [program, ...others] = snippetsOf(SDK_README, 'ts');
  expect(others).toEqual([]);
  const folder = temporaryFolder();
  cpSync(join(root, 'fixtures', 'counter', 'assembly'), join(folder, 'assembly'), {
    recursive: true,
  });
  mkdirSync(join(folder, 'node_modules'));
  symlinkSync(join(root, 'node_modules', '@svc'), join(folder, 'node_modules', '@svc'));
  const report = 'console.log(descriptor.entities.length, component.length > 0, warnings);';
  writeFileSync(join(folder, 'build.mjs'), program!.code + report);
  const said = execFileSync(process.execPath, ['build.mjs'], { cwd: folder, encoding: 'utf8' });
  expect(said).toBe('1 true []\n');
});
