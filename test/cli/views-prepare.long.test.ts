// svc views prepare, on data folders that a service uses and that none uses.
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { VIEW_LIMITS_DEFAULT } from '../../model/view-limits.ts';
import { FileViews } from '../../host/storage/views/file-views.ts';
import { admitModule } from '../../host/hosting/wasm/admission/admission.ts';
import { declaredViews } from '../../host/views/view-definitions.ts';
import { append } from '../suites/journal-suite.ts';
import { runCommand } from '../support/command-line.ts';
import { SvcProcess, runSvc } from '../support/host-process.ts';
import { temporaryFolder, temporaryFolderOfFile } from '../support/temporary-folder.ts';
import { viewModule } from '../support/view-module.ts';
import { withJournal } from '../support/with-journal.ts';

const SOON = { timeout: 30_000, interval: 200 };

const folder = temporaryFolderOfFile();
const fileOf = (definition: string) => join(folder, `v${definition}.wasm`);

beforeAll(async () => {
  for (const definition of ['1', '2'])
    writeFileSync(fileOf(definition), await viewModule(definition));
});

async function served(data: string, definition: string) {
  const args = ['run', fileOf(definition), '--port', '0', '--data', data];
  const process = new SvcProcess(args);
  onTestFinished(async () => void (await process.end('SIGKILL')));
  return { process, url: await process.listening() };
}
const prepare = (data: string, definition = '2') =>
  runCommand(['views', 'prepare', fileOf(definition), '--data', data]);
const count = async (url: string, id: string) => (await fetch(`${url}/counters/1/${id}`)).text();
const viewFiles = (data: string) =>
  readdirSync(join(data, 'views')).filter((name) => name.endsWith('.sqlite'));

async function storedView() {
  const { descriptor, fingerprint } = admitModule(await viewModule('2'));
  return declaredViews(descriptor, fingerprint)[0]!.folded.stored;
}

describe('svc views prepare', () => {
  test('builds the rows beside a service, so that the next one does not', async () => {
    const data = temporaryFolder();
    const first = await served(data, '1');
    for (const id of ['1', '2', '3333']) await count(first.url, id);
    const words = ['views', 'prepare', fileOf('2'), '--data', data];
    expect(await runSvc(words)).toMatchObject({ code: 0, stdout: 'counters: built, 3 rows\n' });
    // The service has noticed nothing, and its own rows are kept up to date by itself.
    expect(await count(first.url, '4444')).toBe('4');
    expect(await prepare(data, '1')).toMatchObject({
      code: 0,
      stdout: 'counters: a running service keeps it up to date\n',
    });
    expect(await prepare(data)).toMatchObject({
      code: 0,
      stdout: 'counters: brought up to date, 4 rows\n',
    });
    await count(first.url, '5555');
    await first.process.end('SIGTERM');
    expect(viewFiles(data)).toHaveLength(2);

    const next = await served(data, '2');
    // On a busy machine the view's thread may start later than a query waits.
    await vi.waitFor(async () => expect(await count(next.url, '6666')).toBe('6'), SOON);
    expect(next.process.stderr).not.toContain('the view is built');
  });

  test('prepares several views together, and those that it can if one of them fails', async () => {
    const data = temporaryFolder();
    await withJournal(data, async (journal) => {
      const event = { manifest: 'counted', json: '{"type":"counted"}' };
      await append(
        journal,
        { component: 'counter', id: 'many' },
        { kind: 'event', seq: 1, timeMs: 1, event },
      );
    });
    const module = await viewModule('3', ['a', 'b', 'c']);
    writeFileSync(fileOf('3'), module);
    const { descriptor, fingerprint } = admitModule(module);
    const { stored } = declaredViews(descriptor, fingerprint)[1]!.folded;
    const writer = new FileViews(data, VIEW_LIMITS_DEFAULT).openWriter(stored);
    const refused = await prepare(data, '3');
    expect([refused.code, refused.stdout]).toEqual([1, 'a: built, 1 row\nc: built, 1 row\n']);
    expect(refused.stderr).toContain('SVC_VIEW_IN_USE');
    writer.close();
    expect((await prepare(data, '3')).stdout).toContain('b: built, 1 row\n');
  });

  test('says so when another one builds the same rows', async () => {
    const data = temporaryFolder();
    await withJournal(data, async (journal) => {
      const event = { manifest: 'counted', json: '{"type":"counted"}' };
      await append(
        journal,
        { component: 'counter', id: 'many' },
        { kind: 'event', seq: 1, timeMs: 1, event },
      );
    });
    // A writer in this process stands for the other preparation.
    const writer = new FileViews(data, VIEW_LIMITS_DEFAULT).openWriter(await storedView());
    const refused = await prepare(data);
    expect([refused.code, refused.stdout]).toEqual([1, '']);
    expect(refused.stderr).toContain('SVC_VIEW_IN_USE');
    writer.close();
    expect(await prepare(data)).toMatchObject({ code: 0, stdout: 'counters: built, 1 row\n' });
  });

  test('names the event at which the view would stop', async () => {
    const data = temporaryFolder();
    await withJournal(data, async (journal) => {
      const event = { manifest: 'counted', json: '{"type":"counted"}' };
      for (const id of ['good', 'bad'])
        await append(
          journal,
          { component: 'counter', id },
          { kind: 'event', seq: 1, timeMs: 1, event },
        );
    });
    const stopped = await prepare(data);
    expect([stopped.code, stopped.stdout]).toEqual([1, '']);
    expect(stopped.stderr).toContain('SVC_VIEW_STOPPED');
    expect(stopped.stderr).toContain('event 1 of counter/bad');
  });

  test('refuses a folder without a journal, and wrong use', async () => {
    const missing = await prepare(join(temporaryFolder(), 'none'));
    expect([missing.code, missing.stderr]).toEqual([
      1,
      expect.stringContaining('SVC_JOURNAL_MISSING'),
    ]);
    const without = await runCommand(['views', 'prepare', fileOf('2')]);
    expect([without.code, without.stderr]).toEqual([2, expect.stringContaining('--data DIR')]);
  });
});
