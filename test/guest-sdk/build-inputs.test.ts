// Unusual files beside the author's: binary files, settings of other tools, odd names.
import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { BuildError, buildComponent } from '../../guest-sdk/compiler/index.ts';
import { QUERY, UserProjects, entity, problemLine } from './support/user-projects.ts';

let projects: UserProjects;

beforeAll(async () => {
  projects = await UserProjects.open();
});

afterAll(() => projects.remove());

test('an asconfig.json beside the files changes nothing, names no transform and need not even be JSON', async () => {
  const files = { 'index.ts': entity(QUERY) };
  const plain = await buildComponent({ entryFile: await projects.write(files) });
  const marker = join(projects.folder, 'transform-ran');
  for (const config of [
    JSON.stringify({
      entries: ['./other.ts'],
      options: { transform: ['./transform.mjs'], use: ['QUERY=1'], optimizeLevel: 0, lib: './lib' },
      extends: './more.json',
    }),
    'no JSON',
  ]) {
    const entryFile = await projects.write({
      ...files,
      'asconfig.json': config,
      'other.ts': 'this is no module',
      'transform.mjs': `import { writeFileSync } from 'node:fs';\nwriteFileSync(${JSON.stringify(marker)}, '');\nexport default class {}`,
    });
    const { component } = await buildComponent({ entryFile });
    expect(Buffer.from(component).equals(plain.component)).toBe(true);
  }
  expect(existsSync(marker)).toBe(false);
});

test('a file that is no text is said to be none', async () => {
  const entryFile = join(projects.folder, 'binary.ts');
  await writeFile(
    entryFile,
    Uint8Array.from({ length: 500 }, (_, index) => (index * 37) % 256),
  );
  await expect(buildComponent({ entryFile })).rejects.toThrow(
    `'${entryFile}' is not text: name a file of AssemblyScript, in UTF-8`,
  );
});

test('the name of the file that the compiler makes up is not for one of the user', async () => {
  const entryFile = await projects.write({ 'svc-module-entry.ts': entity(QUERY) });
  const own = join(dirname(entryFile), 'svc-module-entry.ts');
  await expect(buildComponent({ entryFile: own })).rejects.toThrow(
    "the name 'svc-module-entry.ts' is the compiler's own: give the file another one",
  );
});

test('very many errors are cut after the first ones, and the rest is counted', async () => {
  const lines = Array.from({ length: 60 }, (_, index) => `const a${index}: i32 = "a";`);
  const problems = await projects.problemsOf(lines.join('\n'));
  expect(problems).toHaveLength(51);
  expect(problems[49]).toMatchObject({ line: 50 });
  expect(problemLine(problems[50])).toBe('10 more errors are not shown');
});

test.each(['index.ts', 'other.ts'])('a file that is not in UTF-8 is named: %s', async (name) => {
  const files: Record<string, string> = {
    'index.ts': `import "./other";\n${entity(QUERY)}`,
    'other.ts': 'export const NAME: string = "plain";\nexport const PLACE: string = "Bern";',
  };
  const entryFile = await projects.write(files);
  const text = name === 'index.ts' ? `${files[name]}\n// ` : `${files[name]}\nconst A: string = "`;
  await writeFile(
    join(dirname(entryFile), name),
    Buffer.concat([Buffer.from(text), Buffer.from('grüße";', 'latin1')]),
  );
  const failure = await buildComponent({ entryFile }).catch((error: unknown) => error);
  expect((failure as BuildError).problems).toEqual([
    expect.objectContaining({
      line: text.split('\n').length,
      column: text.length - text.lastIndexOf('\n') + 2,
      message: 'the file is not in UTF-8',
    }),
  ]);
  expect((failure as BuildError).message).toContain(`${name}:`);
});

test('a byte order mark and lines that end as on Windows move no place', async () => {
  const source = entity('@query("get") get(s: State): State { return x; }');
  const [plain] = await projects.problemsOf(source);
  const [windows] = await projects.problemsOf(`\ufeff${source.replaceAll('\n', '\r\n')}`);
  expect(windows).toEqual(plain);
  const [first] = await projects.problemsOf('\ufeffconst a: i32 = "a";');
  expect(first).toMatchObject({ line: 1, column: 16, sourceLine: 'const a: i32 = "a";' });
});

test('files with blanks and letters of any script in their names, and import cycles', async () => {
  const folder = join(projects.folder, 'größe mit leer', 'ö#%?');
  await mkdir(folder, { recursive: true });
  const entryFile = join(folder, 'in dex.ts');
  await writeFile(
    entryFile,
    `import { Other } from "./ander es";\n${entity(QUERY)}\n@data export class Own { other: Other | null = null; }`,
  );
  await writeFile(
    join(dirname(entryFile), 'ander es.ts'),
    'import { Own } from "./in dex";\n@data export class Other { own: Own | null = null; }',
  );
  expect((await buildComponent({ entryFile })).descriptor.entities).toHaveLength(1);
});
