// The examples of docs/how-to/testing.md.
import { expect, test } from 'vitest';
import { unavailable } from '@svc/guest-sdk/testing';
import { testEndpoints, testEntity, testModule } from '@svc/guest-sdk/testing';

const module = await testModule('fixtures/impure/assembly/index.ts');

test('a book is put beside the others', () => {
  testEntity(module, 'shelf', 's1')
    .given([{ type: 'shelved', title: 'Emma', copies: 1 }])
    .when('put', { title: 'Middlemarch', copies: 2 })
    .thenEvents([{ type: 'shelved', title: 'Middlemarch', copies: 2 }])
    .thenReply(2);
});

test('a full shelf takes no more', () => {
  const book = { type: 'shelved', title: 'Emma', copies: 1 };
  testEntity(module, 'shelf', 's1')
    .given([book, book, book])
    .when('put', { title: 'Middlemarch', copies: 2 })
    .thenRefused({ code: 'CONFLICT', message: /full/, details: { books: 3 } })
    .thenNoEvents();
});

test('the same seed draws the same numbers', () => {
  const [first, second] = [1, 2].map(() =>
    testEntity(module, 'shelf', 's1').at('2030-06-01T12:00:00Z').seed(7).query('ambient').reply(),
  );
  expect(first).toEqual(second);
});

test('a route puts a book', async () => {
  const api = testEndpoints(module);
  await api.given('shelf', 's1', [{ type: 'shelved', title: 'Emma', copies: 1 }]);
  const answer = await api.post('/shelves/s1/books', { title: 'Middlemarch', copies: 2 });
  expect(answer.status).toBe(200);
  expect(answer.json).toBe(2);
  expect(await api.events('shelf', 's1')).toHaveLength(2);
});

test('only two services are admitted', async () => {
  const api = testEndpoints(module, { caller: 'service finance/billing' });
  expect((await api.get('/shelves/s1/for-services')).status).toBe(204);
  const anybody = await api.get('/shelves/s1/for-services', { caller: 'internet' });
  expect(anybody.status).toBe(403);
});

test('a shelf that is out of reach is 503', async () => {
  const api = testEndpoints(module, { components: { shelf: () => unavailable() } });
  expect((await api.get('/shelves/s1')).status).toBe(503);
});
