// ARCHITECTURE.md and CONTRIBUTING.md name files and folders that there are, and every folder of the host has its row.
import { globSync, readFileSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { filesOf, readTree } from '../architecture/source-tree.ts';

const root = join(import.meta.dirname, '..', '..');
const read = (page: string) => readFileSync(join(root, page), 'utf8');
const files = globSync('*/**/*.*', {
  cwd: root,
  exclude: ['**/node_modules/**', 'build/**'],
});
const folders = new Set(files.flatMap((file) => parentsOf(file)));

function parentsOf(file: string): readonly string[] {
  const folder = dirname(file);
  return folder === '.' ? [] : [folder, ...parentsOf(folder)];
}

/** The whole of `path`, or the end of it, as a page shortens it. */
const isAmong = (paths: Iterable<string>, path: string) =>
  [...paths].some((one) => one === path || one.endsWith(`/${path}`));

describe.each(['ARCHITECTURE.md', 'CONTRIBUTING.md'])('%s', (page) => {
  const named = [...read(page).matchAll(/`([\w@.-]+(?:\/[\w@.-]+)*\/?)`/g)].map(
    ([, name]) => name!,
  );

  test('names files that exist', () => {
    const wanted = named.filter((name) => /\.(?:ts|tsx|mjs|c|json|wit)$/.test(name));
    expect(wanted.length).toBeGreaterThan(0);
    expect(wanted.filter((name) => !isAmong(files, name))).toEqual([]);
  });

  test('names folders that exist', () => {
    // The fuzzer makes it for what it finds.
    const made = 'fixtures/hostile/crashers/';
    const wanted = named.filter((name) => name.endsWith('/') && name !== made);
    expect(wanted.filter((name) => !isAmong(folders, name.slice(0, -1)))).toEqual([]);
  });
});

test('every folder of the host, and every one of the checkout that has sources, has a row', () => {
  const rows = [...read('ARCHITECTURE.md').matchAll(/^\| `([^`]+)\/` \|/gm)].map(([, row]) => row!);
  const own = readdirSync(join(root, 'host'), { withFileTypes: true }).filter((entry) =>
    entry.isDirectory(),
  );
  const wanted = [
    ...own.map(({ name }) => `host/${name}`).filter((name) => folders.has(name)),
    ...new Set(files.map((file) => file.split('/')[0]!)),
  ];
  const isCovered = (folder: string) =>
    rows.some((row) => row === folder || row.startsWith(`${folder}/`));
  expect(wanted.length).toBeGreaterThan(20);
  expect(wanted.filter((folder) => !isCovered(folder))).toEqual([]);
});

test('decisions are numbered from 0001 on, each number once, and their titles have it', () => {
  const pages = readdirSync(join(root, 'docs', 'decisions')).toSorted();
  const numbers = pages.map((_, index) => String(index + 1).padStart(4, '0'));
  expect(pages.map((page) => page.slice(0, 4))).toEqual(numbers);
  const titled = pages.map((page) => read(join('docs', 'decisions', page)).slice(0, 8));
  expect(titled).toEqual(numbers.map((number) => `# ${number}: `));
});

test('the layers of ARCHITECTURE.md have every folder of the host, and no file imports a layer above its own', () => {
  const [, diagram] = /^## Layers\n[\s\S]*?```\n([\s\S]*?)```/m.exec(read('ARCHITECTURE.md'))!;
  const layers = diagram!
    .trimEnd()
    .split('\n')
    .map((line) => line.split(/ {2,}/)[0]!.split(' · '));
  const layerOf = (file: string) => {
    const [top, folder] = file.split('/');
    return layers.findIndex((names) => names.includes(top === 'host' ? folder! : top!));
  };
  const { files: sources, imports } = readTree(
    root,
    filesOf(join(root, 'host'), 'ts').map((file) => `host/${file}`),
  );
  const inFolder = sources.filter((file) => /^host\/\w[\w-]*\//.test(file));
  expect(inFolder.filter((file) => layerOf(file) < 0)).toEqual([]);
  const upwards = imports.filter(
    ({ from, to, isPackage }) =>
      inFolder.includes(from) && !isPackage && inFolder.includes(to) && layerOf(to) < layerOf(from),
  );
  expect(upwards.map(({ from, to }) => `${from} → ${to}`)).toEqual([]);
});
