// A module that an older compiler built runs unchanged, and shares its journal with the same module built now.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { compileFixture } from '../support/compile-fixture.ts';
import { SvcProcess, runSvc } from '../support/host-process.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const BUILT_BEFORE = join(import.meta.dirname, '../../fixtures/built-before/shopping-cart.wasm');

async function serve(module: string, data: string): Promise<{ service: SvcProcess; url: string }> {
  const service = new SvcProcess(['run', module, '--port', '0', '--data', data]);
  onTestFinished(async () => void (await service.end('SIGKILL')));
  return { service, url: await service.listening() };
}

const addItem = async (url: string, sku: string) =>
  fetch(`${url}/carts/c/items`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ sku, quantity: 1 }),
  });

/** The optional members of routes and types that the descriptor got later. */
const LATER_MEMBERS = /"(?:query|answers|cors|aliases|alias|summary|default)":/;

test('a module of an older compiler is admitted, with a descriptor that has none of the later members', async () => {
  const { code, stdout } = await runSvc(['inspect', BUILT_BEFORE, '-o', 'json']);
  expect(code).toBe(0);
  const { descriptor } = JSON.parse(stdout) as { readonly descriptor: unknown };
  expect(JSON.stringify(descriptor)).not.toMatch(LATER_MEMBERS);
});

test('a module of an older compiler serves its routes, and the same module built now continues its journal', async () => {
  const folder = temporaryFolder();
  const data = join(folder, 'data');
  const before = await serve(BUILT_BEFORE, data);
  expect((await addItem(before.url, 'apple')).status).toBe(200);
  expect((await addItem(before.url, '')).status).toBe(400);
  await before.service.end('SIGKILL');

  const module = join(folder, 'cart.wasm');
  writeFileSync(module, await compileFixture('shopping-cart'));
  const checked = await runSvc(['upgrade-check', module, '--from', BUILT_BEFORE, '--data', data]);
  expect(checked.code).toBe(0);
  const now = await serve(module, data);
  expect((await addItem(now.url, 'pear')).status).toBe(200);
  await now.service.end('SIGKILL');

  const again = await serve(BUILT_BEFORE, data);
  expect(await (await fetch(`${again.url}/carts/c`)).json()).toEqual({
    id: 'c',
    items: [
      { sku: 'apple', quantity: 1 },
      { sku: 'pear', quantity: 1 },
    ],
    checkedOut: false,
  });
});
