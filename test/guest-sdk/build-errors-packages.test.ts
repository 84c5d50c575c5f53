// Files that are not the author's and were changed after publishing: a package that the component imports, the SDK,
// the compiler itself. The problem names the file, and does not ask the author to change the component.
import { execFile } from 'node:child_process';
import { cp, mkdir, readFile, readdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { QUERY, UserProjects, entity } from './support/user-projects.ts';

// The test compiles, on a machine that may be busy.
vi.setConfig({ testTimeout: 180_000 });

const ROOT = join(import.meta.dirname, '../..');
const MARKER = '<<<<<<< HEAD\n';
const REINSTALL = expect.stringMatching(/part of a package .* install the package again/) as string;

let projects: UserProjects;
beforeAll(async () => {
  projects = await UserProjects.open();
});
afterAll(() => projects.remove());

test.each([
  ['a marker of a merge', `${MARKER}export const A = 1;\n`, /marker of a merge conflict/, 1],
  ['a syntax error', 'export const A = 1;\nlet = ;\n', /AS1\d{3}/, 2],
  ['stray words', 'export const A = 1;\nstray;\n', /Cannot find name 'stray'/, 2],
])('%s in a package is reported with its file and line', async (_what, text, message, line) => {
  const problems = await projects.problemsOf({
    'index.ts': `import { A } from "dep/assembly";\n${entity(QUERY)}\nconsole.log(A.toString());`,
    'node_modules/dep/assembly/index.ts': text,
  });
  expect(problems[0]).toMatchObject({
    file: '~lib/dep/assembly/index.ts',
    line,
    message: expect.stringMatching(message) as string,
    help: REINSTALL,
  });
});

const calling = (call: string) =>
  `import { A } from "dep/assembly";\n${entity(QUERY)}\nconsole.log(${call}.toString());`;

test.each([
  ['a name that is not there', 'export function A(): i32 {\n  return stray;\n}\n', 2, /'stray'/],
  [
    'a type that is not there',
    'export function A(a: Gone | null = null): i32 {\n  return 1;\n}\n',
    1,
    /'Gone'/,
  ],
  [
    'a value of another type',
    'export function A(): i32 {\n  return "1";\n}\n',
    2,
    /'string'.* 'i32'/,
  ],
  [
    'a type that a generic function does not take',
    'import { toJson } from "@svc/guest-sdk";\nclass B {}\nexport function A(): i32 {\n  return toJson<B>(new B()).length;\n}\n',
    4,
    /no JSON form/,
  ],
])('%s, in a function of a package', async (_what, text, line, message) => {
  const problems = await projects.problemsOf({
    'index.ts': calling('A()'),
    'node_modules/dep/assembly/index.ts': text,
  });
  expect(problems).toEqual([
    expect.objectContaining({
      file: '~lib/dep/assembly/index.ts',
      line,
      message: expect.stringMatching(message) as string,
      help: REINSTALL,
    }),
  ]);
});

test('a type that a generic function of a package does not take is the caller’s', async () => {
  const [problem] = await projects.problemsOf({
    'index.ts': calling('A<i32>(1)'),
    'node_modules/dep/assembly/index.ts':
      'export function A<T>(one: T): i32 {\n  return one.length;\n}\n',
  });
  expect(problem?.file).toBe('index.ts');
  expect(problem?.message).toMatch(/'length'/);
});

/** Returns the message of a build by a copy of the compiler in which one file begins with a marker. */
async function builtWithMarkerIn(file: string): Promise<string> {
  const folder = temporaryFolder();
  const copy = join(folder, 'guest-sdk');
  await cp(join(ROOT, 'guest-sdk'), copy, { recursive: true });
  await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  await writeFile(join(copy, file), MARKER + (await readFile(join(copy, file), 'utf8')));
  const entryFile = await projects.write({ 'index.ts': entity(QUERY) });
  const script = `const { buildComponent } = await import(${JSON.stringify(join(copy, 'compiler/index.ts'))});
    await buildComponent({ entryFile: ${JSON.stringify(entryFile)} }).catch((error) => console.log(error.message));`;
  const ran = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script]);
  return ran.stdout;
}

test('a marker in the SDK is reported with its file', async () => {
  const message = await builtWithMarkerIn('assembly/client.ts');
  expect(message).toMatch(/^~lib\/@svc\/guest-sdk\/client\.ts:1:1: error: .* merge conflict/);
  expect(message).toContain('install the package again');
});

test('a marker in a file of the compiler is reported with its file, and is not a crash on the component', async () => {
  const message = await builtWithMarkerIn('compiler/descriptor.ts');
  expect(message).toMatch(
    /the compiler of @svc\/guest-sdk does not start: .*descriptor\.ts:1 cannot be loaded: Merge conflict/,
  );
  expect(message).toContain('your component is not the reason');
  expect(message).not.toContain('crashed');
});

test.each(['package.json', 'compiler/index.ts'])(
  'a marker in %s of the compiler is no bug of svc: the command line says what to install again',
  async (file) => {
    const folder = temporaryFolder();
    const modules = join(folder, 'node_modules');
    await mkdir(join(modules, '@svc'), { recursive: true });
    const links = (await readdir(join(ROOT, 'node_modules'))).filter((name) => name !== '@svc');
    for (const name of links) await symlink(join(ROOT, 'node_modules', name), join(modules, name));
    for (const name of ['contract', 'host', 'kit'])
      await symlink(join(ROOT, name), join(modules, '@svc', name));
    for (const name of ['cli', 'guest-sdk'])
      await cp(join(ROOT, name), join(folder, name), { recursive: true });
    await symlink(join(folder, 'guest-sdk'), join(modules, '@svc', 'guest-sdk'));
    const broken = join(folder, 'guest-sdk', file);
    await writeFile(broken, MARKER + (await readFile(broken, 'utf8')));
    const entryFile = await projects.write({ 'index.ts': entity(QUERY) });
    const ran = promisify(execFile)(process.execPath, [
      join(folder, 'cli/main.ts'),
      'build',
      entryFile,
    ]);
    const { stderr } = (await ran.catch((error: unknown) => error)) as { readonly stderr: string };
    expect(stderr).toMatch(/^svc: The compiler, @svc\/guest-sdk, cannot be loaded: /);
    expect(stderr).toContain('install the packages again');
    expect(stderr).toContain('[SVC_BUILD_FAILED]');
    expect(stderr).not.toContain('bug');
  },
);
