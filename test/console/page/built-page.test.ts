// The page as it is built and published: small, complete, and without requests to other servers.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { beforeAll, describe, expect, test } from 'vitest';
import { buildConsolePage } from '../../../scripts/console-page.ts';
import { temporaryFolderOfFile } from '../../support/temporary-folder.ts';

const GZIPPED_BYTES_MAX = 150_000;
const CHECKOUT = join(import.meta.dirname, '../../..');

const parent = temporaryFolderOfFile();
let files: ReadonlyMap<string, string>;

async function built(name: string): Promise<ReadonlyMap<string, string>> {
  const folder = join(parent, name);
  await buildConsolePage(folder);
  const names = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1));
  return new Map(
    names.toSorted().map((file) => [file, readFileSync(join(folder, file), 'utf8')] as const),
  );
}

beforeAll(async () => {
  files = await built('one');
});

describe('the built page', () => {
  test('is below 150 KB gzipped', () => {
    const sizes = [...files.values()].map((content) => gzipSync(content).length);
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(GZIPPED_BYTES_MAX);
  });

  test('says nothing of where it was built', () => {
    for (const [name, content] of files)
      expect([name, content.includes(CHECKOUT) || content.includes('.tsx')]).toEqual([name, false]);
  });

  test('is one script, one stylesheet, an icon and a page, and no source map', () => {
    const names = [...files.keys()].map((name) => name.replace(/-[\w-]{8}\./, '-HASH.')).toSorted();
    expect(names).toEqual([
      'assets/icon-HASH.svg',
      'assets/index-HASH.css',
      'assets/index-HASH.js',
      'index.html',
    ]);
  });

  test('holds no address but its own', () => {
    const addresses = [...files.values()].flatMap(
      (content) =>
        content.match(/\b(?:https?|wss?):\/\/[^\s'"`)<>]+|['"(]\/\/[a-z][^\s'"`)]*/g) ?? [],
    );
    // Names of markup languages, which are not addresses to load.
    expect([...new Set(addresses)].filter((one) => !one.startsWith('http://www.w3.org/'))).toEqual(
      [],
    );
  });

  test('has no script and no style but in files', () => {
    const page = files.get('index.html')!;
    expect(page).not.toMatch(/<style|\sstyle=|\son\w+=|javascript:/i);
    expect(page.match(/<script\b[^>]*>[^<]*<\/script>/g)).toEqual([
      expect.stringMatching(
        /^<script type="module"[^>]* src="\/assets\/index-[\w-]{8}\.js"><\/script>$/,
      ),
    ]);
    for (const content of files.values()) expect(content).not.toContain('data:image');
  });

  test('is the same each time', async () => {
    expect(await built('two')).toEqual(files);
  });
});

test('no source of the page makes markup of a text', () => {
  const folder = join(import.meta.dirname, '../../../console/page');
  const sources = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name))
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'utf8'));
  expect(sources.length).toBeGreaterThan(30);
  for (const source of sources)
    expect(source).not.toMatch(
      /dangerouslySetInnerHTML|innerHTML|outerHTML|insertAdjacentHTML|\beval\(|new Function/,
    );
});
