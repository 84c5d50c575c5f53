// A crash at the writes of a service with a consumer. `npm run crash -- --followers` looks at all of them.
import { beforeEach, expect, test } from 'vitest';
import { consumerCrashes } from '../support/crash/consumer-crashes.ts';
import { faultDiskProblem } from '../support/crash/fault-disk.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const ORDERS = 24;

const problem = faultDiskProblem();
beforeEach((context) => context.skip(problem !== undefined, problem));

test('at any write, sync or rename, no event is skipped, and none is booked twice', async () => {
  const found = await consumerCrashes({
    scratch: temporaryFolder(),
    seed: 1,
    orders: ORDERS,
    oneOf: 8,
  });
  expect(found.length).toBeGreaterThan(40);
  // There were crashes at the beginning, in between and at the end.
  expect(Math.min(...found)).toBe(0);
  expect(new Set(found).size).toBeGreaterThan(ORDERS / 4);
  expect(Math.max(...found)).toBe(ORDERS);
}, 600_000);
