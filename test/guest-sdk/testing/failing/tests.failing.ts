// Each test fails on the line with the mark.
/* oxlint-disable vitest/expect-expect -- the kit's own */
import { expect, test } from 'vitest';
import { testEndpoints, testEntity, testModule } from '../../../../guest-sdk/testing/index.ts';
import { compileFixture } from '../../../support/compile-fixture.ts';

const module = await testModule(await compileFixture('impure'));

test('a replay at the end', () => {
  const it = testEntity(module, 'shelf', 's1'); // mark
  it.when('number').thenReply(null);
});

test('a replay at the end, of endpoints', async () => {
  const api = testEndpoints(module); // mark
  expect((await api.post('/shelves/s1/number')).status).toBe(204);
});

test('an expectation', () => {
  testEntity(module, 'shelf', 's1').when('put', { title: 'A', copies: 1 }).thenEvents([]); // mark
});

test('an expectation, with a replay that would fail as well', () => {
  testEntity(module, 'shelf', 's1').when('number').thenReply(1); // mark
});

test('a request', async () => {
  const api = testEndpoints(module);
  await api.post('/shelves/s1/read-by', { name: 'bob' }); // mark
});

test('an answer', async () => {
  const answer = await testEndpoints(module).post('/shelves/s1/boom');
  expect(answer.status).toBe(204); // mark
});
