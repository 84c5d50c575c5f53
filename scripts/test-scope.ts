// TestScope: the tests and the sources that `npm test -- PATH…` checks. Tests mirror the sources, so a path in
// `test/` includes the mirrored sources, and any other path includes its tests.
import { existsSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';

export interface TestScope {
  /** Filters for vitest, each a part of the path of a test file. Empty: the paths have no tests. */
  readonly filters: readonly string[];
  /** Existing files and folders whose lint and format are checked. */
  readonly sources: readonly string[];
}

/**
 * Reads paths relative to `root`, the folder of the repository. Throws an Error with the first path that does not
 * exist there.
 */
export function testScope(root: string, paths: readonly string[]): TestScope {
  const own = paths.map((path) => {
    const inside = relative(root, resolve(root, path)).split(sep).join('/');
    if (inside === '' || inside.startsWith('..') || !existsSync(join(root, inside)))
      throw new Error(`there is no ${path} in this repository; npm test -- PATH takes its files`);
    return inside;
  });
  const filters = own.flatMap((path) => (isTest(path) ? path : (testsOf(root, path) ?? [])));
  const mirrored = own.flatMap((path) =>
    isTest(path) ? (sourcesOf(root, path) ?? []) : filters.filter((filter) => isIn(root, filter)),
  );
  return { filters, sources: [...new Set([...own, ...mirrored])] };
}

function isIn(root: string, path: string): boolean {
  return existsSync(join(root, path));
}

function isTest(path: string): boolean {
  return /^test(?:\/|$)|^examples\/[^/]+\/test(?:\/|$)/.test(path);
}

/**
 * Returns the test of a file or the folder of tests of a folder; otherwise the nearest folder around it that has tests;
 * undefined if there is none.
 */
function testsOf(root: string, path: string): string | undefined {
  const named = join('test', path.replace(/\.tsx?$/, ''));
  for (const ending of ['.test.ts', '.long.test.ts'])
    if (isIn(root, named + ending)) return named + ending;
  return nearest(root, named, 'test');
}

/** Returns the sources that a path in `test/` mirrors: a file or the nearest folder; undefined if there are none. */
function sourcesOf(root: string, path: string): string | undefined {
  if (!path.startsWith('test/')) return undefined;
  const named = path.slice('test/'.length).replace(/(?:\.long)?\.test\.ts$/, '.ts');
  return nearest(root, named, '.');
}

/**
 * Returns the nearest existing path, which is `path` itself or a folder around it; undefined if that would be
 * `outermost`.
 */
function nearest(root: string, path: string, outermost: string): string | undefined {
  for (let at = path; at !== outermost && at !== '.'; at = dirname(at))
    if (isIn(root, at)) return at;
  return undefined;
}
