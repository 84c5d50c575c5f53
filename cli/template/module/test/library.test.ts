// Tests the module in the runtime's own sandbox, in this process, without a server and without a disk.
import { expect, test } from 'vitest';
import { testEndpoints, testEntity, testModule } from '@svc/guest-sdk/testing';

const module = await testModule('assembly/index.ts');

test('a book that is there is lent', () => {
  testEntity(module, 'book', 'dune')
    .when('lend', { reader: 'ada' })
    .thenEvents([{ type: 'lent', reader: 'ada' }])
    .thenReply({ reader: 'ada', count: 1 });
});

test('a book that somebody has is not lent', () => {
  testEntity(module, 'book', 'dune')
    .given([{ type: 'lent', reader: 'ada' }])
    .when('lend', { reader: 'bob' })
    .thenRefused({ code: 'CONFLICT', message: /ada has it/ });
});

test('a book that came back is lent again', () => {
  testEntity(module, 'book', 'dune')
    .given([{ type: 'lent', reader: 'ada' }, { type: 'returned' }])
    .query('get')
    .thenReply({ reader: '', count: 1 });
});

test('the library lends over HTTP, and says no with a status', async () => {
  const api = testEndpoints(module);
  const lent = await api.post('/books/dune/loan', { reader: 'ada' });
  expect(lent.json).toEqual({ reader: 'ada', count: 1 });
  expect((await api.post('/books/dune/loan', { reader: 'bob' })).status).toBe(409);
  expect((await api.delete('/books/dune/loan')).status).toBe(204);
  expect((await api.get('/books/dune')).json).toEqual({ reader: '', count: 1 });
});
