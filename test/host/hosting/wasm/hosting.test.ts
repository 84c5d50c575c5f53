// The wasm hosting passes the suite of all hostings.
import { createWasmGuest } from '../../../../host/hosting/wasm/wasm-guest.ts';
import { hostingSuite } from '../../../suites/hosting-suite.ts';
import { compileFixture } from '../../../support/compile-fixture.ts';

hostingSuite('wasm', async () => createWasmGuest(await compileFixture('shopping-cart')));
