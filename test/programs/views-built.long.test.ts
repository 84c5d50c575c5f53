// Views of a module that `svc run` serves and that have to be built: with other definitions, torn files, and a large journal.
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeAll, expect, test } from 'vitest';
import type { JournalRecord } from '../../model/entity.ts';
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

async function start(data: string, definition = '1') {
  const file = join(folder, `v${definition}.wasm`);
  const args = ['run', file, '--port', '0', '--data', join(folder, data)];
  const process = new SvcProcess(args);
  running.push(process);
  return { process, url: await process.listening() };
}

const count = (url: string, id: string) => fetch(`${url}/counters/1/${id}`);
const rows = (url: string, token?: string) =>
  fetch(`${url}/counters/2`, token === undefined ? {} : { headers: { 'svc-after': token } });
const viewFiles = (data: string) =>
  readdirSync(join(folder, data, 'views')).filter((name) => name.endsWith('.sqlite'));

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
