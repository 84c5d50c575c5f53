// The example of docs/how-to/views.md in AssemblyScript, and the tests that this page and docs/how-to/consumers.md show.
import { expect, test } from 'vitest';
import { testEndpoints, testModule } from '@svc/guest-sdk/testing';

const module = await testModule('fixtures/customer-orders/assembly/index.ts');
const transfers = await testModule('examples/08-transfer-workflow/assembly/index.ts');

test('a customer has a list of orders', async () => {
  const api = testEndpoints(module);
  await api.put('/customers/ada/orders/o1?cents=500');
  await api.at('2026-02-01T00:00:00Z').put('/customers/ada/orders/o2?cents=700');
  const { rows } = await api.find('orders', 'of-customer', {
    customer: 'ada',
    since: '2026-01-15T00:00:00Z',
  });
  const placedAt = '2026-02-01T00:00:00.000Z';
  expect(rows).toEqual([{ id: 'o2', customer: 'ada', cents: 700, placedAt }]);
  const page = await api.get('/customers/ada/orders');
  expect(page.json.rows).toHaveLength(2);
});

test('an order that is cancelled is not in the list', async () => {
  const api = testEndpoints(module);
  await api.put('/customers/ada/orders/o1?cents=500');
  await api.delete('/customers/ada/orders/o1');
  expect((await api.get('/customers/ada/orders')).json).toEqual({
    rows: [],
    cursor: null,
    asOf: null,
  });
});

test('a transfer is funded after it was ordered', async () => {
  const api = testEndpoints(transfers);
  await api.put('/accounts/ada', { cents: 1000 });
  await api.put('/transfers/t1', { from: 'ada', to: 'bob', cents: 300 });
  const handled = await api.drain();
  expect(handled.map(({ seq, outcome }) => [seq, outcome])).toEqual([
    [1, 'done'],
    [2, 'done'],
  ]);
  expect((await api.get('/transfers/t1')).json).toMatchObject({ status: 'funded' });
});
