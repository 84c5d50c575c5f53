// Consumers of a module that runs as a service of two shards, which is stopped, killed and started again, with other modules too.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { changedSources } from '../support/changed-sources.ts';
import { compileFixture, compileSources, sourcesOf } from '../support/compile-fixture.ts';
import {
  account,
  ACCOUNTS,
  bookings,
  orderTransfer,
  serveTransfers,
  TRANSFERS,
} from '../support/consumers/transfer-service.ts';
import { startDeployed } from '../support/deployed-service.ts';
import { runSvc } from '../support/host-process.ts';
import { temporaryFolder, temporaryFolderOfFile } from '../support/temporary-folder.ts';

const FIXTURE = 'booked-transfers';
const folder = temporaryFolderOfFile();
const module = join(folder, 'transfers.wasm');
const fromNow = join(folder, 'from-now.wasm');
const without = join(folder, 'without.wasm');

beforeAll(async () => {
  const sources = await sourcesOf(FIXTURE);
  const changed = (find: string, replace: string) =>
    compileSources(FIXTURE, changedSources(sources, [[find, replace]]));
  writeFileSync(module, await compileFixture(FIXTURE));
  writeFileSync(fromNow, await changed('Start.beginning', 'Start.now'));
  writeFileSync(without, await changed('register<Ledger>();', ''));
});

const metrics = async (at: string) => (await fetch(`${at}/svc/metrics`)).text();
const SOON = { timeout: 30_000 };

test('a service that is killed again and again handles each event once in effect', async () => {
  const data = join(temporaryFolder(), 'data');
  let ordered = 0;
  for (let life = 0; life < 4; life++) {
    const { url, service } = await serveTransfers(module, data);
    for (const to of ACCOUNTS)
      await Promise.all(TRANSFERS.map((id) => orderTransfer(url, `${id}-${life}`, to)));
    ordered += ACCOUNTS.length * TRANSFERS.length;
    await service.end('SIGKILL');
  }
  const { url } = await serveTransfers(module, data);
  await expect.poll(() => bookings(url, 'fees'), SOON).toBe(ordered);
  for (const to of ACCOUNTS) expect(await bookings(url, to)).toBe(4 * TRANSFERS.length);
  // An event that is ordered later is handled, so what would be handled twice has been by now.
  await orderTransfer(url, 'later', 'last');
  await expect.poll(() => bookings(url, 'last'), SOON).toBe(1);
  expect(await bookings(url, 'fees')).toBe(ordered + 1);
});

test('an event that faults holds up its entity only, and is counted as parked, also after a restart', async () => {
  const data = join(temporaryFolder(), 'data');
  const { svc, management } = await startDeployed(module, data);
  const url = await svc.listening();
  await orderTransfer(url, 'poison', 'a');
  await orderTransfer(url, 'poison', 'a');
  await orderTransfer(url, 'good', 'b');
  await expect.poll(() => bookings(url, 'b'), SOON).toBe(1);
  expect(await bookings(url, 'a')).toBe(0);
  const parked = '\nsvc_consumer_lanes{consumer="ledger",state="parked"} 1\n';
  await expect.poll(() => metrics(management), SOON).toContain(parked);
  await expect
    .poll(() => metrics(management), SOON)
    .toContain('\nsvc_consumer_lag_records{consumer="ledger"} 0\n');
  await svc.end('SIGTERM');
  const again = await startDeployed(module, data);
  await again.svc.listening();
  await expect.poll(() => metrics(again.management), SOON).toContain(parked);
});

test("an event that refusals have parked is handled after an operator's retry, once its cause is gone", async () => {
  const data = join(temporaryFolder(), 'data');
  const { url } = await serveTransfers(module, data, 2);
  await orderTransfer(url, 'debt', 'poor', -5);
  const lanes = async () => {
    const { stdout } = await runSvc(['consumers', data, 'ledger', '--state', 'parked']);
    return stdout;
  };
  await expect.poll(lanes, SOON).toContain('no debts');
  await orderTransfer(url, 'income', 'poor', 10);
  await expect.poll(async () => (await account(url, 'poor')).cents, SOON).toBe(10);
  const retried = await runSvc(['consumers', 'retry', data, 'ledger', 'transfer/debt']);
  expect(retried.code).toBe(0);
  await expect.poll(() => account(url, 'poor'), SOON).toEqual({ cents: 5, bookings: 2 });
  await expect.poll(lanes, SOON).not.toContain('no debts');
  expect(await bookings(url, 'fees')).toBe(2);
});

test("a consumer that starts 'now' gets no event of before, and one that comes back continues", async () => {
  const data = join(temporaryFolder(), 'data');
  const first = await serveTransfers(without, data);
  await orderTransfer(first.url, 't', 'a');
  await first.service.end('SIGTERM');
  const second = await serveTransfers(fromNow, data);
  await orderTransfer(second.url, 't', 'a');
  await expect.poll(() => bookings(second.url, 'a'), SOON).toBe(1);
  await second.service.end('SIGTERM');
  const third = await serveTransfers(without, data);
  await orderTransfer(third.url, 't', 'a');
  await third.service.end('SIGTERM');
  const fourth = await serveTransfers(module, data);
  await expect.poll(() => bookings(fourth.url, 'a'), SOON).toBe(2);
});
