// Node's permission model is no sandbox, and svc does not count on it: what is granted nothing outside of
// one folder reaches files outside of it all the same. docs/decisions/0012-a-thread-that-can-be-ended.md
// says so; when a test here fails, Node has become better, and that page is to be rewritten.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../support/temporary-folder.ts';

/** Runs a program that may read one folder, and be told of another. */
function confined(program: string, grants: readonly string[] = []) {
  const folder = temporaryFolder();
  const [inside, outside] = [join(folder, 'inside'), join(folder, 'outside')];
  mkdirSync(inside);
  mkdirSync(outside);
  writeFileSync(join(outside, 'secret.txt'), 'the secret');
  writeFileSync(join(inside, 'program.mjs'), program);
  const words = ['--permission', `--allow-fs-read=${inside}`, ...grants];
  const { stdout, stderr } = spawnSync(
    process.execPath,
    [...words, join(inside, 'program.mjs'), outside],
    { encoding: 'utf8', cwd: inside },
  );
  return { outside, stdout, stderr };
}

test('it keeps a file outside of its grants from being read, as it should', () => {
  const { stdout } = confined(`
    import { readFileSync } from 'node:fs';
    try {
      console.log(readFileSync(process.argv[2] + '/secret.txt', 'utf8'));
    } catch (error) {
      console.log(error.code);
    }`);
  expect(stdout).toBe('ERR_ACCESS_DENIED\n');
});

test.each([
  ['opens', `new DatabaseSync(process.argv[2] + '/made.sqlite').exec('CREATE TABLE t (a)');`],
  [
    'attaches',
    `new DatabaseSync(':memory:').exec(
       \`ATTACH '\${process.argv[2]}/made.sqlite' AS other; CREATE TABLE other.t (a)\`);`,
  ],
])(
  'it lets node:sqlite write a file outside of its grants that a program %s',
  (_how, statement) => {
    const { outside, stderr } = confined(
      `import { DatabaseSync } from 'node:sqlite'; ${statement}`,
    );
    expect(stderr).not.toContain('ERR_ACCESS_DENIED');
    expect(existsSync(join(outside, 'made.sqlite'))).toBe(true);
  },
);

test('where threads are allowed, it lets a new one read what its maker may not', () => {
  const { stdout } = confined(
    `import { Worker } from 'node:worker_threads';
     new Worker(
       \`const { readFileSync } = require('node:fs');
        const { workerData } = require('node:worker_threads');
        console.log(readFileSync(workerData + '/secret.txt', 'utf8'));\`,
       { eval: true, execArgv: [], workerData: process.argv[2] },
     );`,
    ['--allow-worker'],
  );
  expect(stdout).toBe('the secret\n');
});
