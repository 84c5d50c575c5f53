// The shop without a server: functions answer in place of the site.
import { answered, type FakeService, testEndpoints, testModule } from '@svc/guest-sdk/testing';
import { describe, expect, test } from 'vitest';

const module = await testModule('assembly/index.ts');

const site: FakeService = ({ path }) =>
  path === '/prices/lamp'
    ? { article: 'lamp', cents: 4900 }
    : answered(404, { error: 'nobody sells it' });

describe('an offer', () => {
  test('has the price of the site', async () => {
    const api = testEndpoints(module, { services: { site } });
    expect((await api.get('/offers/lamp')).json).toEqual({ article: 'lamp', cents: 4900 });
    expect((await api.get('/offers/lamp/text')).text).toBe('4900 cents');
  });

  test('that the site does not have is 404, or a text', async () => {
    const api = testEndpoints(module, { services: { site } });
    expect((await api.get('/offers/table')).status).toBe(404);
    expect((await api.get('/offers/table/text')).text).toBe('not for sale');
  });

  test('is unavailable while the site is', async () => {
    const api = testEndpoints(module, { services: { site: () => answered(503) } });
    expect((await api.get('/offers/lamp')).status).toBe(500);
    const text = await api.get('/offers/lamp/text');
    expect([text.status, text.headers['retry-after']]).toEqual([503, '5']);
    // Without a function there is no site.
    const alone = testEndpoints(module);
    expect((await alone.get('/offers/lamp/text')).status).toBe(503);
  });

  test('encodes what a caller sends', async () => {
    const paths: string[] = [];
    const api = testEndpoints(module, {
      services: { site: ({ path }) => (paths.push(path), answered(404)) },
    });
    await api.get('/offers/..%2Freceipts%3Fx');
    expect(paths).toEqual(['/prices/..%2Freceipts%3Fx']);
  });
});

test('an order has the price of its time, and one receipt however often it is mailed', async () => {
  const keys: unknown[] = [];
  let isAway = true;
  const services = {
    site: ({ path, headers, body }: Parameters<FakeService>[0]) => {
      if (path !== '/receipts') return { article: 'lamp', cents: 4900 };
      keys.push(headers['idempotency-key'], body);
      isAway = !isAway;
      return isAway ? undefined : answered(503);
    },
  };
  const api = testEndpoints(module, { services });
  expect((await api.put('/orders/o1/lamp')).json).toEqual({ article: 'lamp', cents: 4900 });
  expect((await api.put('/orders/o1/lamp')).status).toBe(409);
  expect(await api.drain()).toMatchObject([{ consumer: 'receipts', outcome: 'done', attempts: 2 }]);
  const receipt = { type: 'placed', article: 'lamp', cents: 4900 };
  expect(keys).toEqual(['receipt-o1-1', receipt, 'receipt-o1-1', receipt]);
});
