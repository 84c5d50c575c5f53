// Limits of requests in a test of endpoints: they count by the time of the test.
import { beforeAll, expect, test } from 'vitest';
import {
  type ModuleUnderTest,
  testEndpoints,
  testModule,
} from '../../../guest-sdk/testing/index.ts';
import { compileFixture } from '../../support/compile-fixture.ts';

let module: ModuleUnderTest;
beforeAll(async () => {
  module = await testModule(await compileFixture('limited'));
});

test('a caller has its limit, and another caller has another one', async () => {
  const endpoints = testEndpoints(module);
  const ada = endpoints.as({ subject: 'ada' });
  for (let count = 0; count < 5; count++) await ada.post('/orders', 'a book');
  expect((await ada.post('/orders', 'a book')).status).toBe(429);

  await endpoints.advance(12_000);
  expect((await ada.post('/orders', 'a book')).status).toBe(200);

  const bob = endpoints.as({ subject: 'bob' });
  expect((await bob.post('/orders', 'a book')).status).toBe(200);
});

test('an address is what the gateway says', async () => {
  const endpoints = testEndpoints(module);
  const from = (address: string) =>
    endpoints.get('/quotes/1', { headers: { 'x-forwarded-for': address } });
  for (let count = 0; count < 60; count++) await from('203.0.113.9');
  expect((await from('203.0.113.9')).status).toBe(429);
  expect((await from('203.0.113.10')).status).toBe(200);
});

test('a refused request says when to come again', async () => {
  const endpoints = testEndpoints(module);
  for (let count = 0; count < 3; count++) await endpoints.post('/quotes', 'a book');
  const refused = await endpoints.post('/quotes', 'a book');
  expect([refused.status, refused.headers['retry-after']]).toEqual([429, '1200']);
});

test('each test begins with full buckets', async () => {
  const { status } = await testEndpoints(module).post('/quotes', 'a book');
  expect(status).toBe(200);
});
