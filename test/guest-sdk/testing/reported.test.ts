// The output of vitest for failing tests, from a real run, since editors display the same.
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, expect, test } from 'vitest';
import { compileFixture } from '../../support/compile-fixture.ts';

const folder = join(import.meta.dirname, 'failing');
const vitest = join(import.meta.dirname, '..', '..', '..', 'node_modules', 'vitest', 'vitest.mjs');
let output: string;

beforeAll(async () => {
  await compileFixture('impure');
  const args = [vitest, 'run', '--config', join(folder, 'vitest.config.ts'), '--no-color'];
  // The user may have requested colours for these tests.
  const env: NodeJS.ProcessEnv = { ...process.env, NO_COLOR: '1' };
  delete env['FORCE_COLOR'];
  const ended = await promisify(execFile)(process.execPath, args, { cwd: folder, env }).then(
    () => ({ stdout: 'it did not fail', stderr: '' }),
    (error: { readonly stdout: string; readonly stderr: string }) => error,
  );
  output = ended.stdout + ended.stderr;
}, 120_000);

test('each failure points at the line of the test that it is about', () => {
  const lines = readFileSync(join(folder, 'tests.failing.ts'), 'utf8').split('\n');
  const marked = lines.flatMap((line, index) => (line.endsWith('// mark') ? [index + 1] : []));
  const places = [...output.matchAll(/❯ (\S+):(\d+):\d+$/gm)];
  expect(places.map(([, file]) => file)).toEqual(marked.map(() => 'tests.failing.ts'));
  expect(places.map(([, , line]) => Number(line)).toSorted((a, b) => a - b)).toEqual(marked);
});

test('each is reported once, with what it is about', () => {
  expect(output.match(/^ FAIL /gm)).toHaveLength(6);
  expect(output).toContain(
    "shelf 's1' has another state when its events (numbered) are folded anew",
  );
  expect(output).toContain(
    "command 'read-by' of entity 's1' of component 'shelf' changed the state",
  );
  expect(output).toMatch(/- \[\]\n\+ \[\n\+ {3}\{\n\+ {5}"copies": 1,/);
});

test('beside a failed answer stands what the log would say', () => {
  expect(output).toMatch(
    /stdout .*an answer\nPOST \/shelves\/s1\/boom: abort: no shelf at index\.ts/,
  );
});
