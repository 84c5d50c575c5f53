// Failures of tests of endpoints, whatever the handler did with the failure.
import { describe, expect, test } from 'vitest';
import { testEndpoints, testModule } from '../../../guest-sdk/testing/index.ts';
import { compileFixture } from '../../support/compile-fixture.ts';
import { failureOf, laterFailureOf } from './failure.ts';

const module = await testModule(await compileFixture('impure'));
const declaring = await testModule(await compileFixture('declared-answers'));
const shelved = (title: string) => ({ type: 'shelved', title, copies: 1 });

describe('a request', () => {
  test.each([
    ['POST', '/shelves/s1/books/in-place', { title: 'C', copies: 5 }, "command 'put-in-place'"],
    ['POST', '/shelves/s1/read-by', { name: 'bob' }, "command 'read-by'"],
    ['GET', '/shelves/s1/sorted', undefined, "query 'sorted'"],
  ])('%s %s whose handler changes the state it was given', async (method, path, body, name) => {
    const api = testEndpoints(module);
    await api.given('shelf', 's1', [shelved('B'), shelved('A')]);
    const { message } = await laterFailureOf(() => api.request(method, path, { body }));
    expect(message).toContain(
      `${method} ${path}\n${name} of entity 's1' of component 'shelf' changed`,
    );
    expect(message).toContain('[SVC_STATE_CHANGED]');
  });

  test('whose fake throws fails with what it throws', async () => {
    const own = new Error('of the test');
    const api = testEndpoints(module, {
      components: {
        shelf() {
          throw own;
        },
      },
    });
    await expect(api.get('/shelves/s1')).rejects.toBe(own);
  });

  test('whose handler reads the events of a fake', async () => {
    const api = testEndpoints(module, { components: { shelf: () => 1 } });
    const read = api.get('/shelves/s1/history');
    await expect(read).rejects.toThrow("read the events of shelf 's1', and a fake has none");
  });

  test('whose handler answers with a status that its route does not declare', async () => {
    const api = testEndpoints(declaring);
    const { message } = await laterFailureOf(() => api.post('/declared/either/202'));
    expect(message).toContain(
      'POST /declared/either/202\nThe handler answered 202, and its route declares 201, 200, 409. ' +
        'Write @answers(201, 200, 409, 202), or answer with another status.',
    );
  });

  test('on events that cannot be read', async () => {
    const api = testEndpoints(module);
    await api.given('shelf', 's1', [{ type: 'shelved', title: 1 }]);
    const { message } = await laterFailureOf(() => api.get('/shelves/s1'));
    expect(message).toMatch(
      /cannot read event 1 of .*title: must be a string.*\[SVC_EVENT_UNREADABLE\]/,
    );
  });
});

describe('a test that is wrong itself', () => {
  test('gives a path without its slash', () => {
    const api = testEndpoints(module);
    expect(failureOf(() => api.get('shelves/s1')).message).toBe(
      'GET shelves/s1: a path begins with a slash.',
    );
  });

  test('forgets to wait for its module', () => {
    const early = testModule('nothing.ts') as unknown as typeof module;
    (early as unknown as Promise<unknown>).catch(() => {});
    expect(failureOf(() => testEndpoints(early)).message).toBe(
      "The module is still being made: write `const module = await testModule('…');`, and give it to " +
        'testEndpoints.',
    );
  });
});

test('what is not HTTP is answered as a server answers it', async () => {
  const api = testEndpoints(module);
  const long = { headers: { cookie: 'x'.repeat(100_000) } };
  expect((await api.get('/shelves/s1', long)).status).toBe(431);
  const twice = { body: 'x', headers: { 'content-length': '1', 'transfer-encoding': 'chunked' } };
  expect((await api.request('POST', '/shelves/s1', twice)).status).toBe(400);
  const chunked = { body: 'x', headers: { 'transfer-encoding': 'chunked' } };
  expect((await api.request('POST', '/nothing', chunked)).status).toBe(404);
});

test('a body that is not JSON, asked for as JSON, is shown', async () => {
  const api = testEndpoints(module);
  const answer = await api.get('/shelves/s1/caller');
  expect(failureOf(() => answer.json).message).toBe(
    "GET /shelves/s1/caller answered 200 with a body that is not JSON: 'internet at 1767225600000'",
  );
});

test('a fake, given or asked component that there is not is named', async () => {
  const words = "the module has no component 'shelv'. Did you mean 'shelf'?";
  const components = { shelv: () => 1 };
  expect(failureOf(() => testEndpoints(module, { components })).message).toContain(words);
  const api = testEndpoints(module);
  await expect(api.given('shelv', 's1', [])).rejects.toThrow(words);
  await expect(api.events('shelv', 's1')).rejects.toThrow(words);
  await expect(api.given('shelf', 's1', [{}])).rejects.toThrow('event 1 of 1 has no type: {}');
});
