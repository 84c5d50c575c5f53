// `svc registry` as a process: its start, the token of the orchestrator, its refusals, and how it stops.
import { chmodSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { SvcProcess } from '../support/host-process.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

function start(cwd: string, ...args: readonly string[]): SvcProcess {
  const words = ['--control-plane', 'http://127.0.0.1:1', '--port=0', '--data', 'images'];
  const svc = new SvcProcess(['registry', ...words, ...args], { cwd });
  onTestFinished(async () => void (await svc.end('SIGKILL')));
  return svc;
}

test('it serves, makes the token of the orchestrator once, and stops in order', async () => {
  const folder = temporaryFolder();
  const svc = start(folder);
  const url = await svc.listening();
  const file = join(folder, 'images', 'pull-token');
  expect(statSync(file).mode & 0o777).toBe(0o600);
  const token = readFileSync(file, 'utf8');
  const authorization = `Bearer ${token.trim()}`;
  expect((await fetch(`${url}/v2/`, { headers: { authorization } })).status).toBe(200);
  expect((await fetch(`${url}/v2/`)).status).toBe(401);
  const second = await start(folder).ended;
  expect(second.code).toBe(1);
  expect(second.stderr).toContain('SVC_DATA_IN_USE');
  const { code, stdout } = await svc.end('SIGTERM');
  expect({ code, stdout }).toEqual({ code: 0, stdout: `${url}\n` });
  const again = start(folder);
  await again.listening();
  expect(readFileSync(file, 'utf8')).toBe(token);
});

test('it does not start with a token that others can read', async () => {
  const folder = temporaryFolder();
  const svc = start(folder);
  await svc.listening();
  await svc.end('SIGTERM');
  chmodSync(join(folder, 'images', 'pull-token'), 0o644);
  const { code, stderr } = await start(folder).ended;
  expect(code).toBe(1);
  expect(stderr).toContain('SVC_DATA_UNUSABLE');
});

test.each([
  ['an address that others reach', '--host=0.0.0.0'],
  ['a control plane without encryption elsewhere', '--control-plane=http://api.example.com'],
])('it does not start with %s', async (_what, argument) => {
  const { code, stderr } = await start(temporaryFolder(), argument).ended;
  expect(code).toBe(1);
  expect(stderr).toContain('SVC_SETTING_INVALID');
});
