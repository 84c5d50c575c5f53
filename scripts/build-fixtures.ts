// Compiles the guest modules of fixtures/ and examples/ into the build cache, so that no test has to wait for a build.
// Two builds run at a time; a build of AssemblyScript has a thread of its own.
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { compileExample, compileFixture } from '../test/support/compile-fixture.ts';
import { compileWat, isWatFixture } from '../test/support/compile-wat.ts';

const BUILDS_AT_ONCE = 2;
const root = join(import.meta.dirname, '..');

function guestsUnder(folder: string): readonly string[] {
  return readdirSync(join(root, folder)).filter((name) =>
    existsSync(join(root, folder, name, 'assembly')),
  );
}

const builds: readonly (() => Promise<unknown>)[] = [
  ...readdirSync(join(root, 'fixtures'))
    .filter(isWatFixture)
    .map((name) => () => compileWat(name)),
  ...guestsUnder('fixtures').map((name) => () => compileFixture(name)),
  ...guestsUnder('examples').map((name) => () => compileExample(name)),
];
const waiting = builds.values();
const buildAll = async () => {
  for (const build of waiting) await build();
};
await Promise.all(Array.from({ length: BUILDS_AT_ONCE }, buildAll));
