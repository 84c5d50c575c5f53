// The entities and views of a program that runs in a thread of its own keep what those of every hosting have to keep.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import { guestStarter } from '../../../../host/hosting/start-guest.ts';
import { readProgram } from '../../../../host/hosting/program/program-source.ts';
import { WASM_LIMITS_DEFAULT } from '../../../../host/hosting/wasm/wasm-limits.ts';
import { entitySuite } from '../../../suites/hosting-suite.ts';
import { hostingViewSuite } from '../../../suites/hosting-view-suite.ts';
import { temporaryFolderOfFile } from '../../../support/temporary-folder.ts';
import { cartGuest } from '../../../components/support/cart.ts';

const cart = pathToFileURL(join(import.meta.dirname, '../../../components/support/cart.ts')).href;
const file = join(temporaryFolderOfFile(), 'components.mts');
writeFileSync(
  file,
  `import { cart, cartEndpoint } from '${cart}';
   export const components = { entities: [cart], endpoints: [cartEndpoint] };`,
);
const source = readProgram(file);
const orders = readProgram(join(import.meta.dirname, '../../../components/support/order-list.ts'));
const SETTINGS = { wasm: WASM_LIMITS_DEFAULT };
const start = await guestStarter(source, SETTINGS);
const startOrders = await guestStarter(orders, SETTINGS);

entitySuite('program', async () => start(() => {}));
hostingViewSuite('program', async () => startOrders(() => {}));

test('a program is described as where it is embedded', () => {
  expect(source).toMatchObject({ kind: 'program', file });
  expect(source.descriptor).toEqual(cartGuest().descriptor);
});

test('a program serves no requests to tools', () => {
  const { endpoints } = start(() => {});
  const context = { nowMs: 1, seed: 1n, metadata: [] };
  expect(() => endpoints.handle(context, {} as never, {} as never)).toThrow(/serves no requests/);
});
