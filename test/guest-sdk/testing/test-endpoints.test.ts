// Tests of endpoints with the test kit, which uses the runtime's own routing, rules and answers.
import { inspect } from 'node:util';
import { describe, expect, test } from 'vitest';
import {
  TIME_DEFAULT,
  failed,
  refused,
  testEndpoints,
  testModule,
  timedOut,
  unavailable,
} from '../../../guest-sdk/testing/index.ts';
import { compileFixture } from '../../support/compile-fixture.ts';

const module = await testModule(await compileFixture('impure'));
const queried = await testModule(await compileFixture('query-parameters'));
const book = { title: 'A', copies: 2 };
const shelved = { type: 'shelved', ...book };

describe('with the real entities', () => {
  test('a route changes one, in a world that begins empty', async () => {
    const api = testEndpoints(module);
    const answer = await api.post<number>('/shelves/s1/books', book);
    expect(answer.status).toBe(200);
    expect(answer.headers['content-type']).toBe('application/json');
    expect(answer.json).toBe(1);
    expect(await api.events('shelf', 's1')).toEqual([shelved]);
    const other = await testEndpoints(module).get('/shelves/s1');
    expect(other.json).toMatchObject({ books: [] });
  });

  test('history is what the test gives', async () => {
    const api = testEndpoints(module);
    await api.given('shelf', 's1', [shelved, JSON.stringify(shelved)]);
    await api.given('shelf', 's1', [shelved]);
    expect((await api.post('/shelves/s1/books', book)).status).toBe(409);
    expect((await api.get('/shelves/s1/history')).json).toBe(3);
    expect((await api.delete('/shelves/s1')).status).toBe(204);
    expect(await api.events('shelf', 's1')).toEqual([]);
    expect((await api.get('/shelves/s1')).json).toMatchObject({ books: [] });
  });

  test('a refusal has its status and details, a fault an error id and what the log says', async () => {
    const api = testEndpoints(module);
    const refusal = await api.post('/shelves/s1/books', { title: 'A', copies: 0 });
    expect(refusal.status).toBe(400);
    expect(refusal.json).toEqual({ status: 400, error: 'copies: must be positive' });
    expect(refusal.failure).toBeUndefined();
    const fault = await api.post('/shelves/s1/boom');
    expect(fault.status).toBe(500);
    expect(fault.text).not.toContain('no shelf');
    expect(fault.failure).toMatch(/^abort: no shelf at index\.ts:\d+:\d+/);
  });

  test('requests may overlap', async () => {
    const api = testEndpoints(module);
    const answers = await Promise.all(
      ['a', 'b', 'c'].map((id) => api.post(`/shelves/${id}/books`, book)),
    );
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
  });
});

describe('the runtime', () => {
  test.each([
    ['GET', '/shelves', {}, 404],
    ['PUT', '/shelves/s1', {}, 405],
    ['POST', '/shelves/s1/books', {}, 400],
    ['POST', '/shelves/s1/books', { body: '{}' }, 415],
    [
      'POST',
      '/shelves/s1/books',
      { body: '{', headers: { 'Content-Type': 'application/json' } },
      400,
    ],
    ['POST', '/shelves/s1/books', { body: { title: 1 } }, 400],
    ['POST', '/shelves/s1/text', { body: 'x'.repeat(1024 * 1024 + 1) }, 413],
    ['OPTIONS', '/shelves/s1', {}, 204],
    ['HEAD', '/shelves/s1', {}, 200],
  ])('answers %s %s with %j by its own rules: %i', async (method, path, options, status) => {
    expect((await testEndpoints(module).request(method, path, options)).status).toBe(status);
  });

  test('reads text and bytes as they are, and decodes the path', async () => {
    const api = testEndpoints(module);
    expect((await api.post('/shelves/s1/text', 'Grüße')).text).toBe('Grüße');
    expect(inspect(await api.post('/shelves/s1/text', 'Grüße'))).toMatch(/text: 'Grüße'/);
    expect((await api.post('/shelves/s1/bytes', new Uint8Array(7))).json).toBe(7);
    await api.post('/shelves/a b ü/books', book);
    expect(await api.events('shelf', 'a b ü')).toEqual([shelved]);
  });

  test.each([
    ['internet', 403],
    ['local', 204],
    ['service orders', 204],
    ['service billing', 403],
    ['service finance/billing', 204],
    ['service finance/orders', 403],
  ] as const)('admits by the access rule: %s gets %i', async (caller, status) => {
    const answer = await testEndpoints(module, { caller }).get('/shelves/s1/for-services');
    expect(answer.status).toBe(status);
  });
});

describe('time, chance and callers', () => {
  test('stand still and are the same in every test, until one sets them', async () => {
    const api = testEndpoints(module);
    const ask = async () => (await api.get('/shelves/s1/caller')).text;
    expect(await ask()).toBe(`internet at ${TIME_DEFAULT}`);
    api.at('2030-01-01T00:00:00Z');
    expect(await ask()).toBe(`internet at ${Date.UTC(2030, 0, 1)}`);
    const set = testEndpoints(module, { nowMs: 5, caller: 'local' });
    expect((await set.get('/shelves/s1/caller')).text).toBe('local at 5');
    expect((await set.get('/shelves/s1/caller', { caller: 'internet' })).text).toBe(
      'internet at 5',
    );
  });

  test('decide error ids', async () => {
    const id = async (seed: number) =>
      (await testEndpoints(module, { seed }).post('/shelves/s1/boom')).json.errorId as string;
    expect(await id(7)).toBe(await id(7));
    expect(await id(7)).not.toBe(await id(8));
    const api = testEndpoints(module).seed(7);
    expect((await api.post('/shelves/s1/boom')).json.errorId).toBe(await id(7));
  });
});

describe('a fake component', () => {
  test('is asked with id, name, input and metadata, and replies', async () => {
    const calls: unknown[] = [];
    const trace = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
    // In that trace the request has its own span, and the call is its child.
    const traceparent = expect.stringMatching(/^00-0af7651916cd43dd8448eb211c80319c-(?!b7ad6b71)/);
    const api = testEndpoints(module, {
      components: {
        shelf: async (call) => {
          calls.push(call);
          return 7;
        },
      },
    });
    const answer = await api.post('/shelves/s1/books', book, { headers: { traceparent: trace } });
    expect(answer.json).toBe(7);
    expect(calls).toEqual([
      { id: 's1', name: 'put', input: { ...book }, metadata: { traceparent } },
    ]);
    expect(await api.events('shelf', 's1')).toEqual([]);
  });

  test('gets the idempotency key of each call of a request that has one', async () => {
    const keys: (string | undefined)[] = [];
    const api = testEndpoints(module, {
      components: { shelf: ({ idempotencyKey }) => keys.push(idempotencyKey) },
    });
    const headers = { 'idempotency-key': 'k' };
    for (let sent = 0; sent < 2; sent++) await api.post('/shelves/s1/books', book, { headers });
    await api.post('/shelves/s1/books', book);
    expect(keys).toEqual([expect.stringMatching(/^k\/[0-9a-f]{16}\.put\.1$/), keys[0], undefined]);
  });

  test('that answers nothing answers Done', async () => {
    const api = testEndpoints(module, { components: { shelf: () => undefined } });
    expect((await api.delete('/shelves/s1')).status).toBe(204);
  });

  test.each([
    ['refuses', refused('CONFLICT', 'no', { a: 1 }), 409, { error: 'no', details: { a: 1 } }],
    ["refuses in the module's words", refused('NO_SHELF', 'none'), 500, { error: 'none' }],
    ['is unavailable', unavailable(), 503, { status: 503 }],
    ['times out', timedOut(), 504, { status: 504 }],
    ['fails', failed(), 500, { errorId: expect.any(String) }],
  ])('that %s is answered as by the runtime', async (_, outcome, status, json) => {
    const api = testEndpoints(module, { components: { shelf: () => outcome } });
    const answer = await api.get('/shelves/s1');
    expect(answer.json).toMatchObject(json);
    expect(answer.status).toBe(status);
  });
});

describe('the query string', () => {
  const books = { text: 'the owl & you', tag: ['a', 'b'], sort: 'Title', call: 1, route: 2 };

  test('may stand in the path, as a client writes it', async () => {
    const api = testEndpoints(queried);
    const answer = await api.get('/books/search?text=the+owl+%26+you&tag=a&tag=b&call=1');
    expect(answer.json).toMatchObject({ text: 'the owl & you', tags: ['a', 'b'], limit: 51 });
  });

  test('may be given by names and values, which are encoded', async () => {
    const api = testEndpoints(queried);
    const since = new Date('2026-02-28T12:30:00Z');
    const answer = await api.get('/books/search', { query: { ...books, since } });
    expect(answer.json).toEqual({
      text: books.text,
      sort: 'Title',
      limit: 3,
      since: since.toISOString(),
      author: 'anybody',
      tags: books.tag,
    });
    const more = await api.get('/books/search?text=x', { query: { call: 10n, route: 0 } });
    expect(more.json).toMatchObject({ text: 'x', limit: 10 });
  });

  test('leaves out what is undefined', async () => {
    const api = testEndpoints(queried);
    const answer = await api.get('/books/search', { query: { text: undefined, sort: 'Title' } });
    expect([answer.status, answer.json]).toEqual([
      400,
      { status: 400, error: 'query.text: is missing' },
    ]);
  });

  test('goes with a body', async () => {
    const api = testEndpoints(queried);
    const answer = await api.post('/books/7', { title: 'Owls' }, { query: { notify: true } });
    expect(answer.json).toEqual({ what: '7 true 1 Owls' });
  });

  test('a body that may be null can be left out, any other cannot', async () => {
    const api = testEndpoints(queried);
    expect((await api.post('/books/maybe')).json).toEqual({ what: 'nothing' });
    expect((await api.put('/books/maybe')).json).toEqual({ what: 'nothing' });
    expect((await api.patch('/books/maybe')).json).toEqual({ what: 'nothing' });
    expect((await api.post('/books/import')).status).toBe(400);
  });
});
