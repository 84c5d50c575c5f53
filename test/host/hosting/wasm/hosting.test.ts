// The wasm hosting passes the suites of all hostings.
import { createWasmGuest } from '../../../../host/hosting/wasm/wasm-guest.ts';
import { hostingConsumerSuite } from '../../../suites/hosting-consumer-suite.ts';
import { hostingSuite } from '../../../suites/hosting-suite.ts';
import { hostingTimerSuite } from '../../../suites/hosting-timer-suite.ts';
import { hostingViewSuite } from '../../../suites/hosting-view-suite.ts';
import { compileFixture } from '../../../support/compile-fixture.ts';

hostingSuite('wasm', async () => createWasmGuest(await compileFixture('shopping-cart')));
hostingTimerSuite('wasm', async () => createWasmGuest(await compileFixture('expiring-order')));
hostingViewSuite('wasm', async () => createWasmGuest(await compileFixture('order-list')));
hostingConsumerSuite('wasm', async () =>
  createWasmGuest(await compileFixture('order-bookkeeping')),
);
