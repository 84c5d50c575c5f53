// .ci/run: the line and the exit code that it ends with, whatever npm does.
import { spawnSync } from 'node:child_process';
import { chmodSync, cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { temporaryFolder } from '../support/temporary-folder.ts';

const root = join(import.meta.dirname, '..', '..');

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
