import { type SpawnSyncReturns, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { missingKubernetes } from '../support/kubernetes/kubernetes-programs.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const SCRIPT = join(import.meta.dirname, '../../scripts/kubernetes-server.sh');

/** A cache of its own, and an apt-get that does what a test says. */
function machine(aptGet: string) {
  const folder = temporaryFolder();
  const programs = join(folder, 'bin');
  mkdirSync(programs);
  writeFileSync(join(programs, 'apt-get'), `#!/bin/sh\n${aptGet}\n`, { mode: 0o755 });
  const env = {
    ...process.env,
    XDG_CACHE_HOME: folder,
    PATH: `${programs}:${process.env['PATH']}`,
  };
  const cache = join(folder, 'svc-test');
  return {
    folder,
    env,
    cache,
    entries: () => (existsSync(cache) ? readdirSync(cache) : []),
    run: (): SpawnSyncReturns<string> => spawnSync(SCRIPT, { env, encoding: 'utf8' }),
  };
}

test('a build that fails leaves its reason for the tests, and nothing else', () => {
  const { folder, cache, entries, run } = machine('echo "no network" >&2; exit 1');
  vi.stubEnv('XDG_CACHE_HOME', folder);
  expect(missingKubernetes()).toContain('scripts/kubernetes-server.sh builds one');
  const { status, stderr } = run();
  expect(status).toBe(1);
  expect(stderr).toContain('cannot build a Kubernetes API server: apt cannot download');
  expect(stderr).toContain('no network');
  expect(entries()).toEqual([expect.stringMatching(/^kubernetes-[0-9a-f]{16}\.failure$/)]);
  expect(missingKubernetes()).toBe(readFileSync(join(cache, entries()[0]!), 'utf8').trim());
  vi.unstubAllEnvs();
});

test('a build that was killed leaves nothing that looks complete, and the next one removes it', async () => {
  const { folder, env, entries, run } = machine(
    '[ ! -e "$XDG_CACHE_HOME/wait" ] || exec sleep 60; exit 1',
  );
  writeFileSync(join(folder, 'wait'), '');
  const build = spawn(SCRIPT, { env, stdio: 'ignore', detached: true });
  await expect.poll(entries).toHaveLength(1);
  const ended = once(build, 'exit');
  // The whole group: the script and the program that it waits for.
  process.kill(-build.pid!, 'SIGKILL');
  await ended;
  expect(entries()).toEqual([expect.stringMatching(/^kubernetes-[0-9a-f]{16}\.building-\d+$/)]);
  rmSync(join(folder, 'wait'));
  expect(run().status).toBe(1);
  expect(entries()).toEqual([expect.stringMatching(/\.failure$/)]);
});

test('a folder that was built is printed, and nothing is built', () => {
  const { cache, entries, run } = machine('exit 1');
  run();
  const [failure] = entries();
  const folder = join(cache, failure!.replace('.failure', ''));
  mkdirSync(folder);
  const { status, stdout } = run();
  expect({ status, stdout }).toEqual({ status: 0, stdout: `${folder}\n` });
});
