// Components that the test kit keeps between runs: they are used only while none of their inputs has changed.
import { mkdirSync, readFileSync, readdirSync, truncateSync, writeFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, test, vi } from 'vitest';
import { cachedComponent } from '../../../guest-sdk/testing/build-cache.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { QUERY, entity } from '../support/user-projects.ts';

// The test compiles, on a machine that may be busy.
vi.setConfig({ testTimeout: 180_000 });

const builds = vi.hoisted(() => ({ count: 0 }));
vi.mock(import('../../../guest-sdk/compiler/index.ts'), async (original) => {
  const compiler = await original();
  return {
    ...compiler,
    buildComponent: (options) => {
      builds.count += 1;
      return compiler.buildComponent({ ...options, optimizeLevel: 0 });
    },
  };
});

let project: string;
let entryFile: string;
const cache = (): string => join(project, 'node_modules', '.cache', 'svc');
const entry = (): string => join(cache(), readdirSync(cache())[0]!);

beforeEach(async () => {
  builds.count = 0;
  project = temporaryFolder();
  entryFile = join(project, 'assembly', 'index.ts');
  await mkdir(join(project, 'node_modules'));
  await mkdir(join(project, 'assembly'));
  await mkdir(join(project, 'shared'));
  await writeFile(join(project, 'shared', 'names.ts'), 'export const NAME = "one";');
  await writeFile(
    entryFile,
    `import { NAME } from "../shared/names";\n${entity(QUERY)}\nconsole.log(NAME);`,
  );
});

test('what has not changed is compiled once, and gives the same bytes', async () => {
  const first = await cachedComponent(entryFile);
  expect(await cachedComponent(entryFile)).toEqual(first);
  expect(builds.count).toBe(1);
  expect(readdirSync(cache())).toHaveLength(1);
});

test('two that ask at the same time wait for one build', async () => {
  await Promise.all([cachedComponent(entryFile), cachedComponent(entryFile)]);
  expect(builds.count).toBe(1);
});

test.each([
  [
    'an imported file outside of its folder',
    (): void => writeFileSync(join(project, 'shared', 'names.ts'), 'export const NAME = "two";'),
  ],
  ['a half of the entry', (): void => truncateSync(entry(), 1000)],
  ['an entry without a head', (): void => writeFileSync(entry(), 'no')],
  [
    'a byte of the component',
    (): void => {
      const bytes = readFileSync(entry());
      bytes[bytes.length - 1]! ^= 1;
      writeFileSync(entry(), bytes);
    },
  ],
  [
    'another compiler',
    (): void =>
      writeFileSync(
        entry(),
        readFileSync(entry(), 'latin1').replace(/"tools":"./, '"tools":"-'),
        'latin1',
      ),
  ],
  [
    'a file that now stands before the one that was found',
    (): void => {
      const [head] = readFileSync(entry(), 'utf8').split('\n', 1);
      const { inputs } = JSON.parse(head!) as { inputs: { file: string; hash: string | null }[] };
      const missing = inputs.find(({ file, hash }) => hash === null && file.startsWith(project));
      if (missing === undefined) return writeFileSync(entryFile, entity(QUERY));
      mkdirSync(join(missing.file, '..'), { recursive: true });
      writeFileSync(missing.file, 'export const NAME = "three";');
    },
  ],
])('it is compiled again after a change of %s', async (_name, change) => {
  await cachedComponent(entryFile);
  change();
  await cachedComponent(entryFile);
  expect(builds.count).toBe(2);
  await cachedComponent(entryFile);
  expect(builds.count).toBe(2);
});

test('what does not compile is not kept', async () => {
  await writeFile(entryFile, 'const a: Foo = 1;');
  for (const count of [1, 2]) {
    await expect(cachedComponent(entryFile)).rejects.toThrow(/Foo|nothing is registered/);
    expect(builds.count).toBe(count);
  }
});

test('a folder that cannot be written is no failure', async () => {
  await writeFile(join(project, 'node_modules', '.cache'), 'a file');
  await cachedComponent(entryFile);
  await cachedComponent(entryFile);
  expect(builds.count).toBe(2);
});

test('the folder does not grow beyond its bound: the oldest go', async () => {
  await mkdir(cache(), { recursive: true });
  const old = join(cache(), 'old.build');
  await writeFile(old, Buffer.alloc(64 * 1024 * 1024));
  const { utimesSync } = await import('node:fs');
  utimesSync(old, 1, 1);
  await cachedComponent(entryFile);
  expect(readdirSync(cache())).toHaveLength(1);
  await cachedComponent(entryFile);
  expect(builds.count).toBe(1);
});
