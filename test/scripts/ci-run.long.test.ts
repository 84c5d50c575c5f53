// .ci/run: the two npm runs that it starts, and its last line and exit code, whatever npm does.
import { spawnSync } from 'node:child_process';
import { chmodSync, cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { temporaryFolder } from '../support/temporary-folder.ts';

const root = join(import.meta.dirname, '..', '..');

interface Tier {
  /** The output of npm. */
  readonly text: string;
  readonly code: number;
}

/** Runs .ci/run with an npm that knows both tiers; returns its last line, its exit code and the npm commands. */
function run(main: Tier, long: Tier) {
  const folder = temporaryFolder();
  mkdirSync(join(folder, '.ci'));
  mkdirSync(join(folder, 'bin'));
  cpSync(join(root, '.ci/run'), join(folder, '.ci/run'));
  writeFileSync(join(folder, 'test'), main.text);
  writeFileSync(join(folder, 'run'), long.text);
  writeFileSync(
    join(folder, 'bin/npm'),
    `#!/bin/sh
echo "$*" >> asked
cat "$1"
[ "$1" = test ] && exit ${main.code}
exit ${long.code}
`,
  );
  chmodSync(join(folder, 'bin/npm'), 0o755);
  const { stdout, status } = spawnSync(join(folder, '.ci/run'), {
    encoding: 'utf8',
    env: { ...process.env, PATH: `${join(folder, 'bin')}:${process.env['PATH']}` },
  });
  const asked = readFileSync(join(folder, 'asked'), 'utf8').trimEnd().split('\n');
  return {
    lines: stdout.trimEnd().split('\n'),
    last: stdout.trimEnd().split('\n').at(-1),
    status,
    asked,
  };
}

const green = (passed: number): Tier => ({ text: `more\n${passed} passed, 0 failed\n`, code: 0 });

describe('.ci/run', () => {
  test('runs both tiers, and its last line is their sum', () => {
    expect(run(green(12), green(30))).toMatchObject({
      last: '42 passed, 0 failed',
      status: 0,
      asked: ['test --loglevel=error', 'run test:long --loglevel=error'],
    });
  });

  test.each([
    ['the main tier', { text: '12 passed, 1 failed\nnpm said more\n', code: 1 }, green(30)],
    ['the long tier', green(12), { text: '30 passed, 1 failed\n', code: 1 }],
  ])('fails when %s fails', (_name, main, long) => {
    expect(run(main, long)).toMatchObject({ last: '42 passed, 1 failed', status: 1 });
  });

  test.each([
    ['the main tier', { text: 'npm ci failed\n', code: 1 }, green(30), 30],
    ['the long tier', green(12), { text: '', code: 1 }, 12],
    ['the main tier, which npm takes for success,', { text: '', code: 0 }, green(30), 30],
    ['the long tier, which npm takes for success,', green(12), { text: '', code: 0 }, 12],
  ])('counts %s as one failure when it ends without its line', (_name, main, long, passed) => {
    expect(run(main, long)).toMatchObject({ last: `${passed} passed, 1 failed`, status: 1 });
  });

  test('fails when a tier says that nothing failed and npm says otherwise', () => {
    expect(run({ ...green(12), code: 3 }, green(30))).toMatchObject({
      last: '42 passed, 0 failed',
      status: 3,
    });
  });

  test('names the failed tests of both tiers at its end', () => {
    const main = { text: 'failed: a.test.ts > adds\n12 passed, 1 failed\n', code: 1 };
    const named = 'failed once, passed when it was repeated: b.test.ts > waits';
    const { lines } = run(main, { text: `${named}\n30 passed, 0 failed\n`, code: 0 });
    expect(lines.slice(-3)).toEqual(['failed: a.test.ts > adds', named, '42 passed, 1 failed']);
  });
});
