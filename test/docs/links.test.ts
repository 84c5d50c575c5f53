// Links between pages lead somewhere, headings included, and each index names its pages.
import { existsSync, globSync, readFileSync, readdirSync, statSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { describe, expect, test } from 'vitest';

const root = join(import.meta.dirname, '..', '..');
const read = (page: string) => readFileSync(join(root, page), 'utf8');
/** What is between fences and in code is no Markdown. */
const prose = (page: string) =>
  read(page).replaceAll(/^```[\s\S]*?^```$|`[^`\n]*`/gm, (code) =>
    code.startsWith('```') ? '' : code,
  );

const pages = globSync('**/*.md', {
  cwd: root,
  exclude: ['**/node_modules/**', 'build/**'],
}).toSorted();

/** As forges make them of headings. */
function anchorsOf(page: string): string[] {
  return [...prose(page).matchAll(/^#+ (.+)$/gm)].map(([, heading]) =>
    heading!
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\- _]/gu, '')
      .replaceAll(' ', '-'),
  );
}

function lostLinks(page: string): string[] {
  const links = [...prose(page).matchAll(/\]\((?!https?:)([^)\s]+)\)/g)].map((match) => match[1]!);
  return links.filter((link) => {
    const [path, anchor] = link.split('#') as [string, string?];
    const target = path === '' ? page : relative(root, join(root, dirname(page), path));
    if (!existsSync(join(root, target))) return true;
    if (anchor === undefined) return false;
    return statSync(join(root, target)).isDirectory() || !anchorsOf(target).includes(anchor);
  });
}

test('there are pages, with links', () => {
  expect(pages.length).toBeGreaterThan(50);
  expect(pages.filter((page) => prose(page).includes('](')).length).toBeGreaterThan(20);
});

test.each(pages)('the links of %s lead somewhere', (page) => {
  expect(lostLinks(page)).toEqual([]);
});

describe.each(['docs/how-to', 'docs/reference'])('the index of %s', (folder) => {
  test('names every page', () => {
    const index = read(join(folder, 'README.md'));
    const others = readdirSync(join(root, folder)).filter((name) => name !== 'README.md');
    expect(others.filter((name) => !index.includes(`](${name})`))).toEqual([]);
  });
});
