// Consumers of a module that runs as a service of two shards: each event is handled in the shard of its entity, and what a
// consumer asks of other entities is done once.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { compileFixture } from '../support/compile-fixture.ts';
import {
  account,
  ACCOUNTS,
  bookings,
  orderTransfer,
  serveTransfers,
  TRANSFERS,
} from '../support/consumers/transfer-service.ts';
import { temporaryFolder, temporaryFolderOfFile } from '../support/temporary-folder.ts';

const module = join(temporaryFolderOfFile(), 'transfers.wasm');
beforeAll(async () => writeFileSync(module, await compileFixture('booked-transfers')));

const SOON = { timeout: 30_000 };

test('each event is handled once in effect, in whichever shards its entity and the called ones are', async () => {
  const { url, service } = await serveTransfers(module, join(temporaryFolder(), 'data'));
  for (const to of ACCOUNTS) for (const id of TRANSFERS) await orderTransfer(url, id, to, 2);
  const all = ACCOUNTS.length * TRANSFERS.length;
  await expect.poll(() => bookings(url, 'fees'), SOON).toBe(all);
  for (const to of ACCOUNTS)
    expect(await account(url, to)).toEqual({ cents: 2 * TRANSFERS.length, bookings: 12 });
  const { code } = await service.end('SIGTERM');
  expect(code).toBe(0);
});

test('a retry makes the call again that was refused, and no call that was answered', async () => {
  const { url } = await serveTransfers(module, join(temporaryFolder(), 'data'));
  // It is refused until there is enough money, while its fee is booked once.
  await orderTransfer(url, 'debt', 'poor', -5);
  await expect.poll(() => bookings(url, 'fees'), SOON).toBe(1);
  await orderTransfer(url, 'income', 'poor', 10);
  await expect.poll(() => account(url, 'poor'), SOON).toEqual({ cents: 5, bookings: 2 });
  expect(await bookings(url, 'fees')).toBe(2);
});
