// Views of a module that `svc run` serves: own writes, kill -9, other definitions, a large journal, and a fold that fails.
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { JournalRecord } from '../../host/model/entity.ts';
import { append } from '../suites/journal-suite.ts';
import { SvcProcess } from '../support/host-process.ts';
import { temporaryFolderOfFile } from '../support/temporary-folder.ts';
import { viewModule } from '../support/view-module.ts';
import { withJournal } from '../support/with-journal.ts';

const folder = temporaryFolderOfFile();
const running: SvcProcess[] = [];

beforeAll(async () => {
  for (const definition of ['1', '2'])
    writeFileSync(join(folder, `v${definition}.wasm`), await viewModule(definition));
});
afterEach(async () => {
  await Promise.all(running.splice(0).map((process) => process.end('SIGKILL')));
});

async function start(data: string, definition = '1', ...options: readonly string[]) {
  const file = join(folder, `v${definition}.wasm`);
  const args = ['run', file, '--port', '0', '--data', join(folder, data), ...options];
  const process = new SvcProcess(args);
  running.push(process);
  return { process, url: await process.listening() };
}

const count = (url: string, id: string) => fetch(`${url}/counters/1/${id}`);
const rows = (url: string, token?: string) =>
  fetch(`${url}/counters/2`, token === undefined ? {} : { headers: { 'svc-after': token } });
const viewFiles = (data: string) =>
  readdirSync(join(folder, data, 'views')).filter((name) => name.endsWith('.sqlite'));

describe.each(['1', '2'])('with %s shards, a view', (shards) => {
  test('has what each handler has stored, and goes on after kill -9', async () => {
    const data = `own-${shards}`;
    const first = await start(data, '1', '--shards', shards);
    for (let at = 1; at <= 30; at++) {
      const answer = await count(first.url, `${at}`);
      expect([answer.status, await answer.text()]).toEqual([200, `${at}`]);
    }
    const many = Array.from({ length: 30 }, (_, at) => count(first.url, `many-${at}`));
    const tokens = (await Promise.all(many)).map(({ headers }) => headers.get('svc-position')!);
    const last = tokens.toSorted(
      (one, other) => one.length - other.length || (one < other ? -1 : 1),
    );
    expect(await (await rows(first.url, last.at(-1))).text()).toBe('60');
    await first.process.end('SIGKILL');

    const again = await start(data, '1', '--shards', shards);
    const found = await rows(again.url, last.at(-1));
    expect([found.status, await found.text()]).toEqual([200, '60']);
    expect(await (await count(again.url, 'next')).text()).toBe('61');
    expect(again.process.stderr).not.toContain('the view is built');
    expect((await rows(again.url, 'p1-100000')).status).toBe(400);
  });
});

test('a view is built again when its definition has changed', async () => {
  const first = await start('definitions');
  for (const id of ['1', '2', '3333']) await count(first.url, id);
  const [file] = viewFiles('definitions');
  await first.process.end('SIGTERM');
  const next = await start('definitions', '2');
  expect(await (await rows(next.url)).text()).toBe('3');
  await next.process.end('SIGTERM');
  expect(viewFiles('definitions')).toHaveLength(2);
  // Going back finds the rows that are there.
  const former = await start('definitions');
  expect(await (await rows(former.url)).text()).toBe('3');
  expect(former.process.stderr).not.toContain('the view is built');
  writeFileSync(join(folder, 'definitions', 'views', file!), 'torn'.repeat(5_000));
  await former.process.end('SIGKILL');
  const torn = await start('definitions');
  expect(await (await rows(torn.url)).text()).toBe('3');
  await torn.process.logged(/the rows of the view are built again/);
});

test('a view of a large journal is built beside the service, which goes on', async () => {
  const event = { manifest: 'counted', json: '{"type":"counted"}' };
  await withJournal(join(folder, 'large'), async (journal) => {
    for (let entity = 0; entity < 100; entity++) {
      const records = Array.from({ length: 200 }, (_, at): JournalRecord => ({
        kind: 'event',
        seq: at + 1,
        timeMs: 1,
        event,
      }));
      await append(journal, { component: 'counter', id: `many-${entity}` }, ...records);
    }
  });
  const { process, url } = await start('large');
  await process.logged(/the rows of a view are being built.*view=counters|"view":"counters"/);
  // The command is executed, whatever the view does.
  expect((await count(url, 'next')).headers.get('svc-position')).toBe('p1-20001');
  await process.logged(/the view is built/);
  expect(await (await rows(url, 'p1-20001')).text()).toBe('101');
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
