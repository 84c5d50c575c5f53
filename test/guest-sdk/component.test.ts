// The component as a whole: its descriptor and its imports.
import { expect, test } from 'vitest';
import { parseModuleDescriptor } from '@svc/contract';
import { compileFixture, compileFixtureCore } from '../support/compile-fixture.ts';
import { descriptorText } from '../support/descriptor-text.ts';

const FIXTURES = ['shopping-cart', 'routes', 'faulty', 'codec'];

test.each(FIXTURES)('the descriptor of %s parses', async (name) => {
  const parsed = parseModuleDescriptor(descriptorText(await compileFixture(name)));
  expect(parsed).toMatchObject({
    ok: true,
    descriptor: { protocol: '0.2.0', sdk: { name: '@svc/guest-sdk' } },
  });
});

test.each(FIXTURES)('%s imports what the contract has, and nothing else', async (name) => {
  const module = new WebAssembly.Module(await compileFixtureCore(name));
  const imports = WebAssembly.Module.imports(module).map(
    (one) => `${one.module} ${one.name} ${one.kind}`,
  );
  const allowed = new Set([
    '[export]svc:runtime/entity@0.2.0 [resource-new]instance function',
    'svc:runtime/clock@0.2.0 now-ms function',
    'svc:runtime/journal@0.2.0 read function',
    'svc:runtime/routing@0.2.0 call function',
  ]);
  expect(imports.filter((one) => !allowed.has(one))).toEqual([]);
});

test('the descriptor of the cart names its commands, queries, types and routes', async () => {
  const parsed = parseModuleDescriptor(descriptorText(await compileFixture('shopping-cart')));
  if (!parsed.ok) throw new Error(parsed.problems.join('\n'));
  const { descriptor } = parsed;
  const [cart] = descriptor.entities;
  expect(cart).toMatchObject({
    component: 'shopping-cart',
    state: { manifest: 'cart-state', schema: { $ref: '#/types/CartState' } },
    event: { manifest: 'cart-event', schema: { $ref: '#/types/CartEvent' } },
  });
  expect(cart?.commands.map((handler) => handler.name)).toEqual([
    'add-item',
    'remove-item',
    'check-out',
    'remove',
  ]);
  expect(cart?.queries.map((handler) => handler.name)).toEqual(['get', 'item']);
  expect(descriptor.types['ItemAdded']).toEqual({
    type: 'object',
    properties: {
      type: { const: 'item-added' },
      sku: { type: 'string' },
      quantity: { type: 'integer', minimum: -2_147_483_648, maximum: 2_147_483_647 },
    },
    required: ['type', 'sku', 'quantity'],
  });
  expect(descriptor.types['AddItem']).toMatchObject({ required: ['sku', 'quantity'] });
  expect(
    descriptor.endpoints[0]?.routes.map(
      (route) => `${route.method} ${route.path} ${route.handler}`,
    ),
  ).toEqual([
    'GET /{id} get',
    'POST /{id}/items addItem',
    'GET /{id}/items/{sku} item',
    'DELETE /{id}/items/{sku} removeItem',
    'POST /{id}/check-out checkOut',
    'DELETE /{id} remove',
  ]);
});
