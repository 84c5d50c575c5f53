// Who calls, in a test of endpoints: the test says it, and the rules of the runtime decide.
import { beforeAll, expect, test } from 'vitest';
import {
  type ModuleUnderTest,
  testEndpoints,
  testModule,
} from '../../../guest-sdk/testing/index.ts';
import { compileFixture } from '../../support/compile-fixture.ts';

let module: ModuleUnderTest;
beforeAll(async () => {
  module = await testModule(await compileFixture('bearer'));
});

test('a principal has its roles, and nobody else', async () => {
  const books = testEndpoints(module);
  const ada = books.as({ subject: 'ada', roles: ['librarian'] });
  expect((await ada.get('/books/shelves')).json.subject).toBe('ada');
  expect((await books.get('/books/shelves')).status).toBe(401);

  const bob = books.as({ subject: 'bob', roles: ['reader'] });
  expect((await bob.get('/books/shelves')).status).toBe(403);
});

test('a handler is told all that the test says of the principal', async () => {
  const ada = testEndpoints(module).as({
    subject: 'ada',
    issuer: 'https://id.test',
    name: 'Ada',
    email: 'ada@example.com',
    scopes: ['books:read'],
    claims: { tenant: 'acme' },
  });
  const { json } = await ada.get('/books/forwarded');
  expect(json).toMatchObject({
    subject: 'ada',
    issuer: 'https://id.test',
    name: 'Ada',
    email: 'ada@example.com',
    roles: [],
    scopes: ['books:read'],
  });
  expect(JSON.parse(json.claims)).toEqual({ iss: 'https://id.test', sub: 'ada', tenant: 'acme' });
});

test('a token that the test does not know is refused with what to do', async () => {
  const answer = await testEndpoints(module).get('/books/me', {
    headers: { authorization: 'Bearer abc' },
  });
  expect([answer.status, answer.json.error]).toEqual([
    401,
    expect.stringContaining('.as({ subject })'),
  ]);
});
