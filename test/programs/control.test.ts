// The control socket of `svc run`: commands that change timers of a running service.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { openTimerReader } from '../../host/storage/sqlite/timer-reader.ts';
import { journalPath } from '../../host/storage/sqlite/journal-file.ts';
import { compileFixture } from '../support/compile-fixture.ts';
import { runCommand } from '../support/command-line.ts';
import { runSvc, SvcProcess } from '../support/host-process.ts';
import { temporaryFolder, temporaryFolderOfFile } from '../support/temporary-folder.ts';
import { end } from '../support/timer-writes.ts';
import { withJournal } from '../support/with-journal.ts';

const folder = temporaryFolderOfFile();
const module = join(folder, 'order.wasm');
const order = { component: 'order', id: 'o1' };

beforeAll(async () => {
  writeFileSync(module, await compileFixture('expiring-order'));
});

async function serve(data: string) {
  const words = ['run', module, '--port', '0', '--data', data, '--shards', '1'];
  const service = new SvcProcess(words);
  onTestFinished(async () => void (await service.end('SIGKILL')));
  return { url: await service.listening(), service };
}

async function place(url: string): Promise<void> {
  const body = '{"cents":100}';
  const headers = { 'content-type': 'application/json' };
  expect((await fetch(`${url}/orders/o1`, { method: 'PUT', headers, body })).status).toBe(204);
}

const status = async (url: string) =>
  ((await (await fetch(`${url}/orders/o1`)).json()) as { status: string }).status;
const timersOf = async (data: string) =>
  (JSON.parse((await runCommand(['timers', data, '-o', 'json'])).stdout) as { timers: object[] })
    .timers;

test('a running service retries and cancels timers, and logs that', async () => {
  const data = join(temporaryFolder(), 'data');
  const first = await serve(data);
  await place(first.url);
  await first.service.end('SIGTERM');
  await withJournal(data, async (journal) => {
    const reader = openTimerReader(journalPath(data));
    const [expire] = reader.list({}, 0, 1).timers;
    reader.close();
    const fault = { kind: 'dead', fault: 'it trapped' } as const;
    expect(await end(journal, order, expire!, fault)).toBeUndefined();
  });

  const { url, service } = await serve(data);
  expect(await timersOf(data)).toMatchObject([{ state: 'dead', fault: 'it trapped' }]);
  const retried = await runSvc(['timers', 'retry', data, 'order/o1', 'expire']);
  expect(retried).toMatchObject({ code: 0, stderr: "Due at once: timer 'expire' of order/o1.\n" });
  await expect.poll(() => status(url), { timeout: 20_000 }).toBe('Expired');
  expect(await timersOf(data)).toEqual([]);
  expect(service.stderr).toMatch(/an operator has asked for a change/);

  const remind = { method: 'PUT', headers: { 'content-type': 'application/json' } };
  await fetch(`${url}/orders/o1/reminders`, { ...remind, body: '{"text":"now"}' });
  expect(await timersOf(data)).toMatchObject([{ name: 'remind' }]);
  const cancelled = await runCommand(['timers', 'cancel', data, 'order/o1', 'remind']);
  expect(cancelled).toMatchObject({ code: 0, stderr: "Cancelled timer 'remind' of order/o1.\n" });
  expect(await timersOf(data)).toEqual([]);
  const again = await runCommand(['timers', 'cancel', data, 'order/o1', 'remind']);
  expect(again.stderr).toMatch(/no timer 'remind' of order\/o1.*\[SVC_NOT_IN_JOURNAL\]\n$/);
});
