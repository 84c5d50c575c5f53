// The launcher in a folder of its own, with an npm that only records its calls: the tests check when it installs, not
// what.
import { spawn, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { once } from 'node:events';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { temporaryFolder } from '../support/temporary-folder.ts';

const launcher = join(import.meta.dirname, '..', '..', 'scripts', 'with-node.mjs');
let folder: string;

beforeEach(() => {
  folder = temporaryFolder();
  mkdirSync(join(folder, 'scripts'));
  cpSync(launcher, join(folder, 'scripts', 'with-node.mjs'));
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ workspaces: [], type: 'module' }));
  writeFileSync(join(folder, 'package-lock.json'), '{}');
  writeFileSync(
    join(folder, 'program.ts'),
    'const n: number = 7; console.log(process.argv.slice(2).join(), n); process.exitCode = n;',
  );
  writeNpm(`require('node:fs').mkdirSync('node_modules/node/bin', { recursive: true });
    require('node:fs').symlinkSync(${JSON.stringify(process.execPath)}, 'node_modules/node/bin/node');`);
});

/** An npm that records each call and then calls `install`. */
function writeNpm(install: string): void {
  writeFileSync(
    join(folder, 'npm.cjs'),
    `require('node:fs').appendFileSync('calls', process.argv.slice(2).join(' ') + '\\n');
     require('node:fs').rmSync('node_modules', { recursive: true, force: true });
     require('node:fs').mkdirSync('node_modules');
     ${install}`,
  );
}

function launch(...args: string[]) {
  return spawnSync(process.execPath, ['scripts/with-node.mjs', 'program.ts', ...args], {
    cwd: folder,
    encoding: 'utf8',
    env: { ...process.env, npm_execpath: join(folder, 'npm.cjs') },
  });
}

const calls = () =>
  existsSync(join(folder, 'calls'))
    ? readFileSync(join(folder, 'calls'), 'utf8').trim().split('\n').length
    : 0;

test('the first run installs, then runs the file with its arguments and exits with its code', () => {
  const result = launch('a', 'b');
  expect(result.stdout).toBe('a,b 7\n');
  expect(result.status).toBe(7);
  expect(calls()).toBe(1);
});

test('a second run installs nothing', () => {
  launch();
  const result = launch();
  expect(result.stderr).toBe('');
  expect(calls()).toBe(1);
});

test('a changed lock file installs again', () => {
  launch();
  writeFileSync(join(folder, 'package-lock.json'), '{"changed":true}');
  launch();
  expect(calls()).toBe(2);
});

test('another dependency in package.json installs again; another script does not', () => {
  launch();
  const manifest = { workspaces: [], type: 'module', scripts: { hello: 'echo hello' } };
  writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest));
  launch();
  expect(calls()).toBe(1);
  const dependencies = { fastify: '5' };
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ ...manifest, dependencies }));
  launch();
  expect(calls()).toBe(2);
});

test('removed packages are installed again', () => {
  launch();
  rmSync(join(folder, 'node_modules'), { recursive: true });
  launch();
  expect(calls()).toBe(2);
});

test('when install scripts are switched off and Node did not arrive, it says so and what to do', () => {
  writeNpm('');
  const result = launch();
  expect(result.status).toBe(1);
  expect(result.stderr).toContain('install scripts seem to be switched off');
  expect(result.stderr).toContain('npm rebuild node --ignore-scripts=false');
  launch();
  expect(calls()).toBe(2);
});

test('when npm fails, its exit code is passed on', () => {
  writeNpm('process.exit(3);');
  expect(launch().status).toBe(3);
});

test('npm, told to stop, ends the shell between without a word: the program is told all the same', async () => {
  launch();
  writeFileSync(
    join(folder, 'program.ts'),
    `process.on('SIGTERM', () => { console.log('told'); process.exit(); });
     setInterval(() => {}, 1000);
     console.log('up');`,
  );
  const shell = spawn(
    'sh',
    ['-c', `"${process.execPath}" scripts/with-node.mjs program.ts; true`],
    {
      cwd: folder,
      env: { ...process.env, npm_lifecycle_event: 'start' },
    },
  );
  let said = '';
  shell.stdout.on('data', (chunk: Buffer) => {
    said += String(chunk);
    if (said === 'up\n') shell.kill('SIGTERM');
  });
  await once(shell, 'close');
  expect(said).toBe('up\ntold\n');
});
