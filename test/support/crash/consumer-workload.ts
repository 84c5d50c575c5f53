// A process that orders transfers, whose events a consumer books with accounts. A FaultDisk writes down what it stores.
// Usage: node consumer-workload.ts FOLDER ORDERS
import assert from 'node:assert/strict';
import { ACCOUNTS, openBank, transfer, TRANSFERS } from './consumer-bank.ts';

const [dir, orders] = [process.argv[2]!, Number(process.argv[3])];
const service = await openBank(dir, () => {});
for (let n = 0; n < orders; n++) {
  const to = ACCOUNTS[n % ACCOUNTS.length]!;
  // oxlint-disable-next-line no-await-in-loop -- the consumer handles events between the orders
  const ordered = await service.call(transfer, TRANSFERS[n % TRANSFERS.length]!).order(to);
  assert(ordered.isOk);
}
await service.stop();
