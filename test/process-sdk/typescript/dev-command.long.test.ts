// `svc dev` of code in a process: the command is started again when a file changes, and other code is judged as at the start.
import { writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { added, programFolder, skus, startedCommand } from './support/started-command.ts';

test('svc dev starts the process again when a file changes, and waits for code that works', async () => {
  const { folder, file } = programFolder();
  writeFileSync(file('version.txt'), 'broken');
  const svc = startedCommand('dev', folder, folder);
  await svc.logged(/it is broken/);
  writeFileSync(file('version.txt'), '1');
  const url = await svc.listening();
  expect(await added(url, 'a')).toBe(200);
  writeFileSync(file('version.txt'), '2');
  await svc.logged(/the service begins again/);
  await expect.poll(() => added(url, 'b'), { timeout: 30_000 }).toBe(200);
  expect(await skus(url)).toEqual(['a', 'b']);
  expect(await svc.end('SIGTERM')).toMatchObject({ code: 0 });
}, 120_000);

test('svc dev waits when the code does not read what is stored, and serves code that comes while it still fails', async () => {
  const { folder, file } = programFolder();
  const svc = startedCommand('dev', folder, folder);
  const url = await svc.listening();
  expect(await added(url, 'a')).toBe(200);
  writeFileSync(file('version.txt'), 'empty');
  await svc.logged(/Waiting for a change/);
  expect(svc.stderr).toContain('SVC_MANIFEST_UNREADABLE');

  writeFileSync(file('version.txt'), '2');
  await expect.poll(() => added(url, 'b'), { timeout: 30_000 }).toBe(200);
  expect(await skus(url)).toEqual(['a', 'b']);

  writeFileSync(file('version.txt'), 'empty');
  await svc.logged(/(begins again[^]*){2}/);
  writeFileSync(file('version.txt'), '3');
  await expect.poll(() => added(url, 'c'), { timeout: 30_000 }).toBe(200);
  expect(await svc.end('SIGTERM')).toMatchObject({ code: 0 });
}, 180_000);
