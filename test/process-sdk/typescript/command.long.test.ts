// A service whose process comes back with other code, and services that are refused, as whole programs.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runSvc, SvcProcess } from '../../support/host-process.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { added, programFolder, skus, startedCommand } from './support/started-command.ts';

test('a service begins again when its process comes back with other code', async () => {
  const { folder, file } = programFolder();
  const svc = startedCommand('run', folder);
  const url = await svc.listening();
  expect(await added(url, 'a')).toBe(200);
  writeFileSync(file('version.txt'), '2');
  process.kill(Number(readFileSync(file('main.pid'), 'utf8')), 'SIGKILL');
  await svc.logged(/the service begins again/);
  await expect.poll(() => added(url, 'b'), { timeout: 30_000 }).toBe(200);
  expect(await skus(url)).toEqual(['a', 'b']);
  expect(await svc.end('SIGTERM')).toMatchObject({ code: 0 });
}, 120_000);

test('a configuration that the process does not declare is refused', async () => {
  const folder = temporaryFolder();
  for (const name of ['fee', 'apiKey', 'other']) writeFileSync(join(folder, name), '1');
  const program = join(import.meta.dirname, 'support', 'members-program.ts');
  const command = ['--process-command', `'${process.execPath}' '${program}'`];
  const own = ['--name', 'members', '--port', '0', '--data', temporaryFolder()];
  const given = ['--configuration-folder', folder, '--development-tokens'];
  const env = { HOME: temporaryFolder() };
  const { code, stderr } = await runSvc(['run', ...command, ...own, ...given], { env });
  expect(code).not.toBe(0);
  expect(stderr).toContain('SVC_CONFIGURATION_INVALID');
}, 60_000);

test.each([
  ['--process-command=  ', /a program and its arguments/],
  ['--process-command=node --process=127.0.0.1:9010', /--process and --process-command/],
  ['--set=svc.process.watch=.', /add --process-command/],
])('run %s is refused with a sentence', async (given, words) => {
  const svc = new SvcProcess([
    'run',
    ...given.split(' --').map((one, i) => (i ? `--${one}` : one)),
  ]);
  const { code, stderr } = await svc.ended;
  expect(code).not.toBe(0);
  expect(stderr).toMatch(words);
});
