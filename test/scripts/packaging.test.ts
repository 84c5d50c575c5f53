// What builds and judges svc from outside: the image's recipe, and the line that CI reads.
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  readFileSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { temporaryFolder } from '../support/temporary-folder.ts';

const root = join(import.meta.dirname, '..', '..');

describe('the Dockerfile', () => {
  const lines = readFileSync(join(root, 'Dockerfile'), 'utf8').split('\n');
  const copies = lines
    .filter((line) => line.startsWith('COPY ') && !line.includes('--from='))
    .map((line) => line.split(' ').slice(1));

  test('copies only what exists', () => {
    const sources = copies.flatMap((words) => words.slice(0, -1));
    expect(sources).toContain('host');
    expect(sources.filter((source) => !existsSync(join(root, source)))).toEqual([]);
  });

  test("copies every workspace's package.json before it installs", () => {
    const { workspaces } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
      workspaces: string[];
    };
    const sources = copies.flatMap((words) => words.slice(0, -1));
    for (const workspace of workspaces) expect(sources).toContain(`${workspace}/package.json`);
  });

  test('copies every folder that the running host imports from', () => {
    const sources = new Set(copies.flatMap((words) => words.slice(0, -1)));
    const imported = globSync('{host,contract}/**/*.ts', { cwd: root }).flatMap((file) =>
      [...readFileSync(join(root, file), 'utf8').matchAll(/from '(\.\.?\/[^']+)'/g)].map(
        (match) => join(file, '..', match[1]!).split('/')[0]!,
      ),
    );
    expect([...new Set(imported)].filter((folder) => !sources.has(folder))).toEqual([]);
  });
});

/** The last line and exit code of .ci/run, when npm prints a text and exits with a code. */
function run(text: string, code: number): { last: string | undefined; status: number | null } {
  const folder = temporaryFolder();
  mkdirSync(join(folder, '.ci'));
  mkdirSync(join(folder, 'bin'));
  cpSync(join(root, '.ci/run'), join(folder, '.ci/run'));
  writeFileSync(join(folder, 'out'), text);
  writeFileSync(join(folder, 'bin/npm'), `#!/bin/sh\ncat out\nexit ${code}\n`);
  chmodSync(join(folder, 'bin/npm'), 0o755);
  const { stdout, status } = spawnSync(join(folder, '.ci/run'), {
    encoding: 'utf8',
    env: { ...process.env, PATH: `${join(folder, 'bin')}:${process.env['PATH']}` },
  });
  return { last: stdout.trimEnd().split('\n').at(-1), status };
}

describe('.ci/run', () => {
  test('ends with the line of npm test, and with its exit code', () => {
    expect(run('checks\n12 passed, 0 failed\n', 0)).toEqual({
      last: '12 passed, 0 failed',
      status: 0,
    });
    expect(run('12 passed, 1 failed\nnpm said more\n', 1)).toEqual({
      last: '12 passed, 1 failed',
      status: 1,
    });
  });

  test('counts a run that broke before it could count as one failure', () => {
    expect(run('npm ci failed\n', 1)).toEqual({ last: '0 passed, 1 failed', status: 1 });
  });

  test('does not take silence for success', () => {
    expect(run('', 0)).toEqual({ last: '0 passed, 1 failed', status: 1 });
  });
});
