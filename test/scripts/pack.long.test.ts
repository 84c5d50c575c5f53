// The packages as a user installs them: packed, installed in an empty folder with an empty home, and then used with
// the commands of the README.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import rootManifest from '../../package.json' with { type: 'json' };
import { publishedPackages } from '../../scripts/published-package.ts';
import { stopForGood } from '../support/host-process.ts';
import { temporaryFolderOfFile } from '../support/temporary-folder.ts';
import { npmEnvironment, userEnvironment, whyNoRegistry } from './support/npm.ts';

const repository = join(import.meta.dirname, '..', '..');
const folder = temporaryFolderOfFile();
const packages = join(folder, 'packages');
const project = join(folder, 'project');
const noRegistry = whyNoRegistry();
const NAMES = publishedPackages(repository)
  .map(({ name }) => name)
  .toSorted();

function pack(out: string): void {
  const { status, stderr } = spawnSync(
    process.execPath,
    [join(repository, 'scripts', 'pack.ts'), '--out', out],
    { encoding: 'utf8' },
  );
  if (status !== 0) throw new Error(stderr);
}

function filesIn(tarball: string): string[] {
  const { stdout } = spawnSync('tar', ['tzf', join(packages, tarball)], { encoding: 'utf8' });
  return stdout.trim().split('\n');
}

/** The texts among the values of JSON, at any depth. */
function textsIn(json: unknown): string[] {
  if (typeof json === 'string') return [json];
  return typeof json === 'object' && json !== null ? Object.values(json).flatMap(textsIn) : [];
}

const tarballOf = (name: string) => `svc-${name}-0.1.0.tgz`;

// Five hundred megabytes are unpacked; the limits are for a busy machine.
vi.setConfig({ testTimeout: 180_000, hookTimeout: 400_000 });
beforeAll(() => pack(packages));

describe('the packages', () => {
  test('are those that users have today, and more', () => {
    expect(NAMES).toEqual(
      expect.arrayContaining(['cli', 'console', 'contract', 'guest-sdk', 'host', 'kit']),
    );
  });

  test('are one for each workspace that is not private, and the same bytes each time', () => {
    const names = readdirSync(packages).toSorted();
    expect(names.filter((name) => name.endsWith('.tgz'))).toEqual(
      NAMES.map((name) => tarballOf(name)),
    );
    const again = join(folder, 'again');
    pack(again);
    for (const name of names)
      expect(readFileSync(join(again, name)).equals(readFileSync(join(packages, name)))).toBe(true);
  });

  test.each(NAMES)(
    '@svc/%s brings its licence, a readme, and no source that Node would run',
    (name) => {
      const files = filesIn(tarballOf(name));
      for (const file of ['LICENSE', 'README.md', 'package.json'])
        expect(files).toContain(`package/${file}`);
      const odd = files.filter(
        (file) =>
          !/\.(js|d\.ts|json|md|wit|proto|sh)$|\/LICENSE$/.test(file) &&
          !/^package\/(assembly|template|public|images\/copy)\//.test(file),
      );
      expect(odd).toEqual([]);
      expect(files.filter((file) => /\.test\./.test(file) && !/\/template\//.test(file))).toEqual(
        [],
      );
    },
  );

  test.each(NAMES)(
    '@svc/%s names files that it has, is public, and depends on its own version',
    (name) => {
      const { stdout } = spawnSync(
        'tar',
        ['xzOf', join(packages, tarballOf(name)), 'package/package.json'],
        { encoding: 'utf8' },
      );
      const manifest = JSON.parse(stdout) as {
        readonly license: string;
        readonly publishConfig: unknown;
        readonly bin?: Readonly<Record<string, string>>;
        readonly exports: unknown;
        readonly dependencies?: Readonly<Record<string, string>>;
        readonly svc?: unknown;
      };
      expect(manifest).toMatchObject({
        license: 'Apache-2.0',
        publishConfig: { access: 'public' },
      });
      expect(manifest.svc).toBeUndefined();
      const named = textsIn([manifest.exports, manifest.bin ?? {}])
        .filter((path) => /^[\w./-]+\.(?:js|ts|json)$/.test(path))
        .map((path) => join('package', path));
      expect(named.length).toBeGreaterThan(0);
      const files = filesIn(tarballOf(name));
      expect(
        named.filter((file) => !file.endsWith('.schema.json') && !files.includes(file)),
      ).toEqual([]);
      for (const [dependency, version] of Object.entries(manifest.dependencies ?? {}))
        expect(version).toMatch(dependency.startsWith('@svc/') ? /^0\.1\.0$/ : /^\d+\.\d+\.\d+$/);
    },
  );

  test('bring what they read: the contract, the pages of the errors, the schema', () => {
    expect(filesIn(tarballOf('guest-sdk'))).toContain('package/wit/runtime.wit');
    expect(filesIn(tarballOf('guest-sdk'))).toContain('package/assembly/index.ts');
    expect(filesIn(tarballOf('cli'))).toContain('package/docs/errors/SVC_USAGE.md');
    expect(filesIn(tarballOf('contract'))).toContain(
      'package/generated/module-descriptor.schema.json',
    );
  });
});

describe.skipIf(noRegistry !== undefined)('installed in an empty folder', () => {
  const home = join(folder, 'home');
  const env = { ...userEnvironment(), HOME: home, ...npmEnvironment() };

  beforeAll(() => {
    mkdirSync(home);
    mkdirSync(project);
    writeFileSync(
      join(project, 'package.json'),
      JSON.stringify({ private: true, type: 'module', allowScripts: { node: true } }),
    );
    const tarballs = NAMES.map((name) => join(packages, tarballOf(name)));
    run('npm', ['install', ...tarballs, `vitest@${rootManifest.devDependencies.vitest}`]);
    cpSync(join(repository, 'fixtures', 'counter', 'assembly'), join(project, 'assembly'), {
      recursive: true,
    });
  });

  /** Runs a command; throws if it fails. */
  function run(command: string, args: readonly string[]): { stdout: string; stderr: string } {
    const { status, stdout, stderr } = spawnSync(command, args, {
      cwd: project,
      encoding: 'utf8',
      env,
    });
    if (status !== 0) throw new Error(`${command} ${args.join(' ')}\n${stdout}${stderr}`);
    return { stdout, stderr };
  }

  test('svc says its version', () => {
    expect(run('npx', ['svc', '--version']).stdout).toBe('0.1.0\n');
  });

  test('svc makes a project that asks for its own version, and whose tests pass', () => {
    run('npx', ['svc', 'new', 'my-lib']);
    const made = readdirSync(join(project, 'my-lib')).toSorted();
    expect(made).toEqual(['.gitignore', 'README.md', 'assembly', 'package.json', 'test']);
    const manifest = JSON.parse(readFileSync(join(project, 'my-lib', 'package.json'), 'utf8')) as {
      readonly devDependencies: object;
    };
    expect(manifest.devDependencies).toMatchObject({
      '@svc/cli': '0.1.0',
      '@svc/guest-sdk': '0.1.0',
    });
    expect(run('npx', ['vitest', 'run']).stdout).toMatch(/Tests .*4 passed/);
  });

  test('svc builds a component with the SDK that it brings, and inspects it', () => {
    const built = run('npx', ['svc', 'build', 'assembly/index.ts', '-o', 'counter.wasm']);
    expect(built.stderr).toContain('counter.wasm: ');
    const inspected = run('npx', ['svc', 'inspect', 'counter.wasm']);
    expect(inspected.stdout).toMatch(/^admitted\n/);
    expect(inspected.stdout).toContain('@svc/guest-sdk 0.1.0');
  });

  test('svc serves it, and ends in good order when npx is told to stop', async () => {
    const svc = spawn('npx', ['svc', 'run', 'counter.wasm', '--port', '0'], {
      cwd: project,
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let said = '';
    svc.stderr.setEncoding('utf8').on('data', (chunk: string) => (said += chunk));
    const ended = once(svc, 'close');
    const [first] = (await Promise.race([
      once(svc.stdout, 'data'),
      ended.then(async () => Promise.reject(new Error(said))),
    ])) as [Buffer];
    const url = String(first).trim();
    const data = join(project, '.svc', 'counter');
    const owner = readFileSync(join(data, 'owner.json'), 'utf8');
    const { pid } = JSON.parse(owner) as { pid: number };
    onTestFinished(() => stopForGood(pid));
    const added = await fetch(`${url}/counters/a`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"amount":5}',
    });
    expect(added.status).toBe(200);
    expect(await (await fetch(`${url}/counters/a`)).json()).toEqual({ value: 5 });
    // npx passes the signal to the shell that it started svc with, and the shell does not pass it on: svc notices the
    // end of its parent. The pipe that all of them write to closes at the end.
    svc.kill('SIGTERM');
    await ended;
    expect(said).toContain('"stopped"');
    expect(existsSync(join(data, 'journal.sqlite'))).toBe(true);
    expect(existsSync(join(data, 'owner.json'))).toBe(false);
  });

  test('the declarations fit what a program imports', () => {
    writeFileSync(
      join(project, 'program.ts'),
      `import { parseModuleDescriptor, type ModuleDescriptor } from '@svc/contract';
import { buildComponent } from '@svc/guest-sdk/compiler';
import { inspectModule } from '@svc/host/tools';
import type { testModule } from '@svc/guest-sdk/testing';
const { component, descriptor } = await buildComponent({ entryFile: 'assembly/index.ts' });
const checked: ModuleDescriptor = descriptor;
console.log(checked.protocol, inspectModule(component).refusal);
// A package without declarations would accept any type.
export const wrong = () => [
  // @ts-expect-error
  parseModuleDescriptor(),
  // @ts-expect-error
  buildComponent(42),
  // @ts-expect-error
  inspectModule(42),
];
// @ts-expect-error
export const wrongModule: Awaited<ReturnType<typeof testModule>> = 42;
`,
    );
    const options = ['--noEmit', '--strict', '--skipLibCheck', '--module', 'nodenext'];
    const types = ['--types', 'node', '--typeRoots', join(repository, 'node_modules', '@types')];
    const compiler = join(repository, 'node_modules', '.bin', 'tsc');
    const checked = spawnSync(compiler, [...options, ...types, 'program.ts'], {
      cwd: project,
      encoding: 'utf8',
    });
    expect(checked.stdout).toBe('');
    expect(checked.status).toBe(0);
    const node = join(project, 'node_modules', '.bin', 'node');
    expect(run(node, ['program.ts']).stdout).toBe('0.2.0 undefined\n');
  });
});
