// Views of a module that `svc run` serves: own writes, kill -9, and a fold that fails.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeAll, expect, test } from 'vitest';
import { SvcProcess } from '../support/host-process.ts';
import { temporaryFolderOfFile } from '../support/temporary-folder.ts';
import { viewModule } from '../support/view-module.ts';

const folder = temporaryFolderOfFile();
const running: SvcProcess[] = [];

beforeAll(async () => {
  writeFileSync(join(folder, 'v1.wasm'), await viewModule('1'));
});
afterEach(async () => {
  await Promise.all(running.splice(0).map((process) => process.end('SIGKILL')));
});

async function start(data: string, ...options: readonly string[]) {
  const file = join(folder, 'v1.wasm');
  const args = ['run', file, '--port', '0', '--data', join(folder, data), ...options];
  const process = new SvcProcess(args);
  running.push(process);
  return { process, url: await process.listening() };
}

const count = (url: string, id: string) => fetch(`${url}/counters/1/${id}`);
const rows = (url: string, token?: string) =>
  fetch(`${url}/counters/2`, token === undefined ? {} : { headers: { 'svc-after': token } });

test('a view has what each handler has stored, and goes on after kill -9', async () => {
  const data = 'own';
  const first = await start(data, '--shards', '2');
  for (let at = 1; at <= 30; at++) {
    const answer = await count(first.url, `${at}`);
    expect([answer.status, await answer.text()]).toEqual([200, `${at}`]);
  }
  const many = Array.from({ length: 30 }, (_, at) => count(first.url, `many-${at}`));
  const tokens = (await Promise.all(many)).map(({ headers }) => headers.get('svc-position')!);
  const last = tokens.toSorted((one, other) => one.length - other.length || (one < other ? -1 : 1));
  expect(await (await rows(first.url, last.at(-1))).text()).toBe('60');
  await first.process.end('SIGKILL');

  const again = await start(data, '--shards', '2');
  const found = await rows(again.url, last.at(-1));
  expect([found.status, await found.text()]).toEqual([200, '60']);
  expect(await (await count(again.url, 'next')).text()).toBe('61');
  expect(again.process.stderr).not.toContain('the view is built');
  expect((await rows(again.url, 'p1-100000')).status).toBe(400);
});

test('a view whose fold fails stops there, and the service goes on', async () => {
  const { process, url } = await start('stopped');
  expect(await (await count(url, '1')).text()).toBe('1');
  expect((await count(url, 'bad')).status).toBeGreaterThan(500);
  expect((await count(url, '2')).status).toBeGreaterThan(500);
  expect(await (await rows(url)).text()).toBe('1');
  const stops = process.stderr.split('\n').filter((line) => line.includes('SVC_VIEW_STOPPED'));
  expect(stops).toHaveLength(1);
  expect(stops[0]).toContain('bad');
});
