// The hosting in a process passes the suites of all hostings, with components in Python.
import { join } from 'node:path';
import { afterAll, describe } from 'vitest';
import type { Guest } from '../../../model/guest.ts';
import { hostingConsumerSuite } from '../../suites/hosting-consumer-suite.ts';
import { hostingSuite } from '../../suites/hosting-suite.ts';
import { hostingTimerSuite } from '../../suites/hosting-timer-suite.ts';
import { hostingViewSuite } from '../../suites/hosting-view-suite.ts';
import { python, startPython } from '../../support/python.ts';
import { connectionTo, guestAt } from '../typescript/support/served-guest.ts';

/** One process of a program serves all tests of this file: each has a guest of its own. */
function servedOnce(program: string): () => Promise<Guest> {
  let started: ReturnType<typeof startPython> | undefined;
  afterAll(async () => void (await started)?.program.child.kill('SIGKILL'));
  return async () => {
    started ??= startPython(join(import.meta.dirname, 'support', program));
    return guestAt(connectionTo((await started).address));
  };
}

describe.skipIf(python === undefined)('components in Python', () => {
  const openCart = servedOnce('cart_program.py');
  const openOrders = servedOnce('orders_program.py');
  hostingSuite('process', openCart);
  hostingTimerSuite('process', openOrders);
  hostingViewSuite('process', openOrders);
  hostingConsumerSuite('process', openOrders);
});
