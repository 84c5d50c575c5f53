// The configuration of a module in its tests, and the example of docs/how-to/configuration.md.
import { expect, test } from 'vitest';
import { type FakeService, testEndpoints, testEntity, testModule } from '@svc/guest-sdk/testing';

const module = await testModule('fixtures/library-fees/assembly/index.ts');
const configuration = { feePerDay: '0.50', paymentKey: 'a key of the test' };

test('a late book costs the fee of the configuration', async () => {
  const api = testEndpoints(module, { configuration: { ...configuration, daysFree: 7 } });
  expect((await api.post('/loans/l1/return?daysOut=9')).status).toBe(204);
  expect((await api.get('/loans/l1')).json).toEqual({ owed: '1.00' });
});

test('an entity is given the fee with its command', () => {
  testEntity(module, 'loan', 'l1')
    .when('return-late', { days: 3, feePerDay: '0.20' })
    .thenEvents([{ type: 'late', days: 3, feePerDay: '0.20' }]);
});

test('values that are left out are those of the source', async () => {
  const api = testEndpoints(module, { configuration });
  const { json } = await api.get('/loans/terms');
  expect(json).toEqual({ currency: 'EUR', daysFree: 14, branches: [] });
});

test('a handler and a consumer send the secret to another service', async () => {
  const keys: unknown[] = [];
  const service: FakeService = ({ headers }) => {
    keys.push(headers['authorization']);
    return {};
  };
  const services = { payments: service, bookkeeping: service };
  const api = testEndpoints(module, { configuration, services });
  await api.post('/loans/l1/return?daysOut=20');
  await api.post('/loans/l1/payment');
  await api.drain();
  expect(keys).toEqual(['Bearer a key of the test', 'Bearer a key of the test']);
});

test('values that an operator could not give fail the test, with all problems', () => {
  const wrong = { feePerDay: 0.5, paymentKey: 'short', fee: 1 };
  expect(() => testEndpoints(module, { configuration: wrong })).toThrow(
    `The configuration of fixtures/library-fees/assembly/index.ts: "fee" is not declared; ` +
      `'feePerDay' is not a decimal: write it in quotes; the secret 'paymentKey' has fewer than 8 characters.`,
  );
});

test('a handler that reads values which the test does not give faults, and says which', async () => {
  const api = testEndpoints(module);
  const answer = await api.get('/loans/terms');
  expect(answer.status).toBe(500);
  expect(api.faults[0]).toContain('the configuration does not decode: feePerDay: is missing');
});
