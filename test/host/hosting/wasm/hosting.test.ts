// The wasm hosting keeps what every hosting has to keep.
import { createWasmGuest } from '../../../../host/hosting/wasm/wasm-guest.ts';
import { hostingSuite } from '../../../suites/hosting-suite.ts';
import { compileFixture } from '../../../support/compile-fixture.ts';

hostingSuite('wasm', async () => createWasmGuest(await compileFixture('shopping-cart')));
