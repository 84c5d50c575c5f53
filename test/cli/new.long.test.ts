// svc new: its files, and that they build, pass their own tests and are never refused.
import { spawn } from 'node:child_process';
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
import { describe, expect, test } from 'vitest';
import rootManifest from '../../package.json' with { type: 'json' };
import { runSvc, SvcProcess } from '../support/host-process.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const root = join(import.meta.dirname, '..', '..');

interface Manifest {
  readonly name: string;
  readonly scripts: Readonly<Record<string, string>>;
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
    const unfilled = filesOf(folder).filter((file) =>
      readFileSync(join(folder, file), 'utf8').includes('{{'),
    );
    expect(unfilled).toEqual([]);
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
    // The packages are linked, as npm install does it.
    mkdirSync(join(folder, 'node_modules'));
    for (const name of ['@svc', 'vitest'])
      symlinkSync(join(root, 'node_modules', name), join(folder, 'node_modules', name));
    expect(await vitest(folder)).toBe(0);

    const [, ...args] = manifestOf(folder).scripts['build']!.split(' ');
    expect(await runSvc(args, { cwd: folder })).toMatchObject({ code: 0 });
    const [, ...runArgs] = manifestOf(folder).scripts['start']!.split(' ');
    const svc = new SvcProcess([...runArgs, '--port', '0'], { cwd: folder });
    const url = await svc.listening();
    const readme = readFileSync(join(folder, 'README.md'), 'utf8');
    const [, body, path] = /-d '([^']+)' http:\/\/127\.0\.0\.1:9000(\S+)/.exec(readme)!;
    const lend = () =>
      fetch(url + path!, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: body!,
      });
    expect(await (await lend()).json()).toEqual({ reader: 'ada', count: 1 });
    expect((await lend()).status).toBe(409);
    expect((await svc.end('SIGTERM')).code).toBe(0);
    expect(existsSync(join(folder, '.svc', 'my-lib', 'journal.sqlite'))).toBe(true);
    const journal = /npx svc (journal .*?)`/.exec(readme)![1]!;
    const { stdout } = await runSvc(journal.split(' '), { cwd: folder });
    expect(stdout).toMatch(/^ +1 .* BookEvent .*\{"type":"lent","reader":"ada"\}\n$/);
  });
});

async function vitest(folder: string): Promise<number | null> {
  const script = join(root, 'node_modules', 'vitest', 'vitest.mjs');
  const child = spawn(process.execPath, [script, 'run'], { cwd: folder, stdio: 'ignore' });
  const { promise, resolve: ended } = Promise.withResolvers<number | null>();
  child.on('exit', ended);
  return promise;
}
