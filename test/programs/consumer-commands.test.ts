// svc consumers with a running service: parked events are listed with their reason, delivered again, and skipped.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { compileFixture } from '../support/compile-fixture.ts';
import { runCommand } from '../support/command-line.ts';
import { runSvc, SvcProcess } from '../support/host-process.ts';
import { temporaryFolderOfFile } from '../support/temporary-folder.ts';

const folder = temporaryFolderOfFile();
const module = join(folder, 'bookkeeping.wasm');

beforeAll(async () => {
  writeFileSync(module, await compileFixture('order-bookkeeping'));
});

test('a running service delivers parked events again, and skips them', async () => {
  const data = join(folder, 'data');
  const service = new SvcProcess(['run', module, '--port', '0', '--data', data, '--shards', '2']);
  onTestFinished(async () => void (await service.end('SIGKILL')));
  const url = await service.listening();
  const send = async (method: string, path: string) =>
    expect((await fetch(url + path, { method })).ok).toBe(true);
  const lanes = async () => {
    const { stdout } = await runCommand(['consumers', data, 'bookkeeping', '-o', 'json']);
    return (JSON.parse(stdout) as { lanes: object[] }).lanes;
  };
  const booked = async () =>
    ((await (await fetch(`${url}/account`)).json()) as { orders: string[] }).orders;

  await send('PUT', '/orders/o1');
  await send('DELETE', '/orders/o1');
  const parked = { entity: { component: 'order', id: 'o1' }, event: 2, state: 'parked' };
  await expect
    .poll(lanes, { timeout: 20_000 })
    .toMatchObject([
      { ...parked, reason: expect.stringContaining('no order expires here') as string },
    ]);
  const retried = await runSvc(['consumers', 'retry', data, 'bookkeeping', 'order/o1']);
  expect(retried.code).toBe(0);
  // It is refused again.
  await expect.poll(lanes, { timeout: 20_000 }).toMatchObject([parked]);

  const skip = (event: string) =>
    runCommand([
      'consumers',
      'skip',
      data,
      'bookkeeping',
      'order/o1',
      event,
      '--reason',
      'by hand',
    ]);
  expect((await skip('1')).stderr).toContain('SVC_NOT_IN_JOURNAL');
  expect(await skip('2')).toMatchObject({ code: 0 });
  await expect.poll(lanes, { timeout: 20_000 }).toEqual([]);
  expect(await booked()).toEqual([]);
  const { stdout } = await runCommand(['consumers', data]);
  expect(stdout).toMatch(/\nbookkeeping +beginning +\d+ +0 +0\n/);
});
