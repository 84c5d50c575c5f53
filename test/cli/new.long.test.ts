// svc new: its files, and that they build, pass their own tests and are never refused.
import { spawn, spawnSync } from 'node:child_process';
import {
  existsSync,
  globSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import componentsManifest from '../../components/package.json' with { type: 'json' };
import rootManifest from '../../package.json' with { type: 'json' };
import { runSvc, SvcProcess } from '../support/host-process.ts';
import { python, PYTHON_ENVIRONMENT } from '../support/python.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const root = join(import.meta.dirname, '..', '..');

interface Manifest {
  readonly name: string;
  readonly scripts: Readonly<Record<string, string>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
}

function filesOf(folder: string): string[] {
  return globSync('**/{*,.*}', { cwd: folder, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .toSorted();
}

function manifestOf(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest;
}

/** Files with a placeholder. */
function unfilledIn(folder: string): string[] {
  return filesOf(folder).filter((file) => readFileSync(join(folder, file), 'utf8').includes('{{'));
}

describe('svc new', () => {
  test('makes a project with entity, endpoint, test and README, and says what comes next', async () => {
    const above = temporaryFolder();
    const { code, stdout, stderr } = await runSvc(['new', 'made/my-lib'], { cwd: above });
    expect({ code, stdout }).toEqual({ code: 0, stdout: '' });
    expect(stderr).toMatch(
      /cd made\/my-lib && npm install\n.*npm test.*\n.*npm run dev.*\n.*npx svc console.*\n$/,
    );
    const folder = join(above, 'made', 'my-lib');
    expect(filesOf(folder)).toEqual([
      '.gitignore',
      'README.md',
      'assembly/book.ts',
      'assembly/index.ts',
      'assembly/tsconfig.json',
      'package.json',
      'test/library.test.ts',
    ]);
    expect(unfilledIn(folder)).toEqual([]);
  });

  test.each([
    ['typescript', 'src/book.ts', /cd my-lib && npm install\n.*npm test.*\n.*npm run dev.*\n/],
    ['python', 'book.py', /cd my-lib && python3 -m venv .*\n(?:.*\n)*.*svc dev --process-command /],
  ])(
    'with --process %s makes a project whose code is in a process, and whose README says that there is no sandbox',
    async (language, entity, steps) => {
      const above = temporaryFolder();
      const made = await runSvc(['new', '--process', language, 'my-lib'], { cwd: above });
      expect(made).toMatchObject({ code: 0, stdout: '', stderr: expect.stringMatching(steps) });
      const folder = join(above, 'my-lib');
      expect(filesOf(folder)).toEqual(expect.arrayContaining(['.gitignore', 'README.md', entity]));
      expect(unfilledIn(folder)).toEqual([]);
      expect(readFileSync(join(folder, 'README.md'), 'utf8')).toContain('There is no sandbox.');
    },
  );

  test('refuses a language that it has no project for, and makes nothing', async () => {
    const above = temporaryFolder();
    const { code, stderr } = await runSvc(['new', '--process', 'rust', 'shop'], { cwd: above });
    expect(code).toBe(2);
    expect(stderr).toMatch(/'typescript' or 'python'.*found 'rust'.*\[SVC_USAGE\]/);
    expect(readdirSync(above)).toEqual([]);
  });

  test('from a checkout links its packages, and takes the versions that svc is tested with', async () => {
    const folder = join(temporaryFolder(), 'my-lib');
    await runSvc(['new', folder]);
    const { name, scripts, devDependencies } = manifestOf(folder);
    expect(name).toBe('my-lib');
    expect(scripts['start']).toBe('svc run my-lib.wasm');
    expect(devDependencies['node']).toBe(rootManifest.dependencies.node);
    expect(devDependencies['vitest']).toBe(rootManifest.devDependencies.vitest);
    for (const room of ['cli', 'guest-sdk']) {
      const [, path] = /^file:(.*)$/.exec(devDependencies[`@svc/${room}`]!)!;
      expect(path).not.toMatch(/^\//);
      expect(resolve(folder, path!)).toBe(join(root, room));
    }
  });

  test('from a checkout links the SDKs of processes, and takes the versions that they are tested with', async () => {
    const above = temporaryFolder();
    const [inTypeScript, inPython] = [join(above, 'first'), join(above, 'second')];
    await runSvc(['new', '--process', 'typescript', inTypeScript]);
    await runSvc(['new', '--process', 'python', inPython]);
    const { dependencies, devDependencies } = manifestOf(inTypeScript);
    expect(dependencies!['typebox']).toBe(componentsManifest.dependencies.typebox);
    expect(devDependencies['node']).toBe(rootManifest.dependencies.node);
    expect(devDependencies['vitest']).toBe(rootManifest.devDependencies.vitest);
    const link = /^file:(.*)$/.exec(dependencies!['@svc/process']!)![1]!;
    expect(resolve(inTypeScript, link)).toBe(join(root, 'process-sdk', 'typescript'));
    const required = readFileSync(join(inPython, 'requirements.txt'), 'utf8').trim();
    expect(resolve(inPython, required)).toBe(join(root, 'process-sdk', 'python'));
  });

  test('makes a project in the empty folder that it is called in, also in a new repository', async () => {
    const folder = join(temporaryFolder(), 'shop');
    mkdirSync(join(folder, '.git'), { recursive: true });
    const { code, stderr } = await runSvc(['new', '.'], { cwd: folder });
    expect(code).toBe(0);
    expect(stderr).not.toContain('cd ');
    expect(manifestOf(folder).name).toBe('shop');
  });

  test('writes nothing into a folder that is not empty, and says what is there', async () => {
    const folder = join(temporaryFolder(), 'shop');
    mkdirSync(folder);
    for (const name of ['README.md', '\u001b[31m.txt']) writeFileSync(join(folder, name), 'mine');
    const { code, stderr } = await runSvc(['new', folder]);
    expect(code).toBe(1);
    expect(stderr).toContain(String.raw`it has '\u{1b}[31m.txt', 'README.md'. `);
    expect(stderr).toMatch(/\[SVC_NEW_FAILED\]\n$/);
    expect(readdirSync(folder)).toHaveLength(2);
    expect(readFileSync(join(folder, 'README.md'), 'utf8')).toBe('mine');
  });

  test.each([
    ['My Shop', 'my-shop'],
    ['-', 'my-service'],
    ['vitest', 'my-vitest'],
    ['typebox', 'my-typebox'],
    ['a_b', 'a-b'],
    ['2048', 'my-2048'],
    ['2nd Shop', 'my-2nd-shop'],
    ['x'.repeat(64), 'x'.repeat(50)],
  ])('refuses the name %j, makes nothing, and suggests %s', async (name, suggestion) => {
    const above = temporaryFolder();
    const { code, stderr } = await runSvc(['new', `./${name}`], { cwd: above });
    expect(code).toBe(2);
    expect(stderr).toContain(`Did you mean '${suggestion}'? [SVC_USAGE]`);
    expect(readdirSync(above)).toEqual([]);
  });

  // A folder in /proc is missing and cannot be created, which Node's recursive mkdir never notices.
  test.each(['file/shop', 'link', ...(existsSync('/proc/self') ? ['/proc/shop/of/mine'] : [])])(
    'says so when the folder cannot be made: %s',
    async (path) => {
      const above = temporaryFolder();
      writeFileSync(join(above, 'file'), '');
      symlinkSync('nowhere', join(above, 'link'));
      const { code, stderr } = await runSvc(['new', path], { cwd: above });
      expect(code).toBe(1);
      expect(stderr).toMatch(/cannot be written .*\[SVC_NEW_FAILED\]\n$/);
    },
  );

  test('follows a link to an empty folder', async () => {
    const above = temporaryFolder();
    mkdirSync(join(above, 'empty'));
    symlinkSync('empty', join(above, 'shop'));
    expect(await runSvc(['new', 'shop'], { cwd: above })).toMatchObject({ code: 0 });
    expect(manifestOf(join(above, 'empty')).name).toBe('shop');
  });
});

// The module is compiled twice.
describe('a new project', { timeout: 180_000 }, () => {
  test('passes its own tests, builds and serves what its README shows', async () => {
    const folder = join(temporaryFolder(), 'my-lib');
    await runSvc(['new', folder]);
    linkPackages(folder, '@svc', 'vitest');
    expect(await vitest(folder)).toBe(0);

    const [, ...args] = manifestOf(folder).scripts['build']!.split(' ');
    expect(await runSvc(args, { cwd: folder })).toMatchObject({ code: 0 });
    const [, ...runArgs] = manifestOf(folder).scripts['start']!.split(' ');
    const svc = new SvcProcess([...runArgs, '--port', '0'], { cwd: folder });
    const url = await svc.listening();
    await expectLent(folder, url);
    expect((await svc.end('SIGTERM')).code).toBe(0);
    expect(existsSync(join(folder, '.svc', 'my-lib', 'journal.sqlite'))).toBe(true);
    expect(await journalOf(folder)).toMatch(
      /^ +1 .* BookEvent .*\{"type":"lent","reader":"ada"\}\n$/,
    );
  });

  test('in TypeScript passes its own tests, and its process serves what its README shows', async () => {
    const folder = join(temporaryFolder(), 'my-lib');
    await runSvc(['new', '--process', 'typescript', folder]);
    linkPackages(folder, '@svc', 'typebox', 'vitest');
    expect(await vitest(folder)).toBe(0);
    expect(manifestOf(folder).scripts['start']).toBe(
      'svc run --process-command "node src/main.ts" --name my-lib',
    );
    await expectServed(folder, `'${process.execPath}' src/main.ts`);
  });

  test.skipIf(python === undefined)(
    'in Python passes its own tests, and its process serves what its README shows',
    async () => {
      const folder = join(temporaryFolder(), 'my-lib');
      await runSvc(['new', '--process', 'python', folder]);
      const env = { ...process.env, ...PYTHON_ENVIRONMENT };
      const tested = spawnSync(python!, ['-m', 'unittest'], { cwd: folder, env, encoding: 'utf8' });
      expect(tested).toMatchObject({ status: 0, stderr: expect.stringMatching(/^Ran 4 tests/m) });
      await expectServed(folder, `'${python!}' main.py`);
    },
  );
});

/** Links packages of the checkout, as npm install does it. */
function linkPackages(folder: string, ...names: readonly string[]): void {
  mkdirSync(join(folder, 'node_modules'));
  for (const name of names)
    symlinkSync(join(root, 'node_modules', name), join(folder, 'node_modules', name));
}

/** Runs the project's process, expects what its README shows, and expects the event in its journal. */
async function expectServed(folder: string, command: string): Promise<void> {
  const args = ['run', '--process-command', command, '--name', 'my-lib', '--port', '0'];
  const svc = new SvcProcess(args, { cwd: folder, env: PYTHON_ENVIRONMENT });
  onTestFinished(() => void svc.child.kill('SIGKILL'));
  await expectLent(folder, await svc.listening());
  expect((await svc.end('SIGTERM')).code).toBe(0);
  expect(await journalOf(folder)).toMatch(
    /^ +1 .* book-event .*\{"type":"lent","reader":"ada"\}\n$/,
  );
}

/** Expects that a book of the README is lent once. */
async function expectLent(folder: string, url: string): Promise<void> {
  const readme = readFileSync(join(folder, 'README.md'), 'utf8');
  const [, body, path] = /-d '([^']+)' http:\/\/127\.0\.0\.1:9000(\S+)/.exec(readme)!;
  const headers = { 'content-type': 'application/json' };
  const lend = () => fetch(url + path!, { method: 'POST', headers, body: body! });
  expect(await (await lend()).json()).toEqual({ reader: 'ada', count: 1 });
  expect((await lend()).status).toBe(409);
}

/** Returns the history that the command of the README prints. */
async function journalOf(folder: string): Promise<string> {
  const readme = readFileSync(join(folder, 'README.md'), 'utf8');
  const journal = /svc (journal .*?)`/.exec(readme)![1]!;
  return (await runSvc(journal.split(' '), { cwd: folder })).stdout;
}

async function vitest(folder: string): Promise<number | null> {
  const script = join(root, 'node_modules', 'vitest', 'vitest.mjs');
  const child = spawn(process.execPath, [script, 'run'], { cwd: folder, stdio: 'ignore' });
  const { promise, resolve: ended } = Promise.withResolvers<number | null>();
  child.on('exit', ended);
  return promise;
}
