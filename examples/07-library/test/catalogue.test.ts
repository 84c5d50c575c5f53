// Shelves and titles over HTTP, without a server.
import { type FakeCall, testEndpoints, unavailable } from '@svc/guest-sdk/testing';
import { describe, expect, test } from 'vitest';
import { configuration, desk, library, module } from './support/library.ts';
import { DESCRIPTIONS, DUNE, EMMA, UNKNOWN } from './support/samples.ts';

const novels = '/shelves/novels/titles';
const newTitle = { isbn: DUNE, description: DESCRIPTIONS[DUNE], copies: 2 };

/** A shelf from which nothing can be taken. */
const keepsAll = ({ name }: FakeCall) => (name === 'unshelve' ? unavailable() : undefined);

describe('a new title', () => {
  test('is answered with 201 and where it is, also when it is repeated', async () => {
    const api = testEndpoints(module, { configuration });
    for (let time = 1; time <= 2; time++) {
      const added = await api.post(novels, newTitle);
      expect(added.status).toBe(201);
      expect(added.headers['location']).toBe(`/titles/${DUNE}`);
      expect((await api.get(`/titles/${DUNE}`)).json).toEqual(added.json);
    }
    expect((await api.get(novels)).json.total).toBe(1);
  });

  test('that stands on another shelf is taken from this one again', async () => {
    const api = await library();
    const added = await api.post('/shelves/crime/titles', newTitle);
    expect(added.json).toEqual({ status: 409, error: 'the title stands on the shelf novels' });
    expect((await api.get('/shelves/crime/titles')).json).toEqual({ items: [], total: 0 });
    expect((await api.get(novels)).json.total).toBe(2);
  });

  test('that could not be taken from the shelf again is no 409', async () => {
    const api = testEndpoints(module, { configuration, components: { shelf: keepsAll } });
    await api.post(novels, newTitle);
    expect((await api.post('/shelves/crime/titles', newTitle)).status).toBe(503);
  });

  test('that makes no sense is on no shelf', async () => {
    const api = await library();
    expect((await api.post('/shelves/crime/titles', { ...newTitle, isbn: '1' })).status).toBe(400);
    expect((await api.post('/shelves/crime/titles', { isbn: DUNE })).status).toBe(400);
    expect((await api.get('/shelves/crime/titles')).json.total).toBe(0);
  });
});

describe('a search', () => {
  test('takes its filters from the query string', async () => {
    const api = await library();
    const query = { text: 'JANE', genre: ['Crime', 'Fiction'], before: '1900-01-01T00:00:00Z' };
    const found = (await api.get(novels, { query })).json;
    expect(found).toEqual({
      items: [{ isbn: EMMA, description: DESCRIPTIONS[EMMA], version: 0 }],
      total: 1,
    });
    expect((await api.get(novels, { query: { offset: 1, limit: 1 } })).json.items).toHaveLength(1);
  });

  test.for([
    ['genre=Poetry', /^query\.genre\[0\]/],
    ['since=1900', /^query\.since/],
    ['limit=-1', /^query\.limit/],
  ] as const)('refuses %s by its name', async ([query, error]) => {
    const api = await library();
    const refused = await api.get(`${novels}?${query}`);
    expect(refused.status).toBe(400);
    expect(refused.json.error).toMatch(error);
  });

  test('may be sent by the page of another origin, and nothing that changes the shelf or a title', async () => {
    const origin = 'https://library.example.com';
    const api = await library({ cors: { origins: [origin] } });
    const allowed = async (method: 'GET' | 'POST' | 'PATCH', path: string) =>
      (
        await api.request('OPTIONS', path, {
          headers: { origin, 'access-control-request-method': method },
        })
      ).headers['access-control-allow-origin'];
    expect(await allowed('GET', novels)).toBe(origin);
    expect(await allowed('GET', `/titles/${DUNE}`)).toBe(origin);
    expect(await allowed('POST', novels)).toBeUndefined();
    expect(await allowed('PATCH', `/titles/${DUNE}`)).toBeUndefined();
    expect(await allowed('GET', '/members/ada')).toBeUndefined();
  });
});

describe('a title', () => {
  test('that is patched is found under its new name', async () => {
    const api = await library();
    const changed = await api.patch(`/titles/${DUNE}`, { name: 'Dune Messiah', published: null });
    expect(changed.json.description).toEqual({
      ...DESCRIPTIONS[DUNE],
      name: 'Dune Messiah',
      published: null,
    });
    const found = (await api.get(`${novels}?text=messiah`)).json.items;
    expect(found).toEqual([{ isbn: DUNE, description: changed.json.description, version: 1 }]);
  });

  test('that is patched with null where there must be a value is refused', async () => {
    const api = await library();
    const refused = await api.patch(`/titles/${DUNE}`, { genre: null });
    expect(refused.status).toBe(400);
    expect(refused.json.error).toMatch(/genre/);
  });

  test('that no shelf has is 404', async () => {
    const api = await library();
    expect((await api.get(`/titles/${UNKNOWN}`)).status).toBe(404);
    expect((await api.patch(`/titles/${UNKNOWN}`, { name: 'X' })).status).toBe(404);
    expect((await api.put(`/titles/${UNKNOWN}/copies`, { copies: 1 })).status).toBe(404);
  });

  test('says to librarians alone who has it and who waits for it', async () => {
    const api = await library();
    await api.put(`/members/ada/loans/${DUNE}`);
    await api.put(`/titles/${DUNE}/reservations/bob`);
    for (const what of ['lendings', 'reservations', 'history'])
      expect((await api.get(`/titles/${DUNE}/${what}`)).status).toBe(401);
    expect((await desk(api).get(`/titles/${DUNE}/lendings`)).json).toEqual([
      { member: 'ada', loan: 1 },
    ]);
    expect((await desk(api).get(`/titles/${DUNE}/reservations`)).json).toEqual([
      expect.objectContaining({ member: 'bob', place: 1, ready: false }),
    ]);
  });

  test('has a history, page by page', async () => {
    const api = await library();
    for (const copies of [2, 3, 4]) await api.put(`/titles/${DUNE}/copies`, { copies });
    const page = async (after: number) =>
      (await desk(api).get(`/titles/${DUNE}/history`, { query: { after, limit: 2 } })).json;
    expect(await page(0)).toMatchObject({
      entries: [{ event: { type: 'registered' } }, { event: { type: 'copies-counted' } }],
      next: 2,
    });
    expect(await page(2)).toMatchObject({
      entries: [
        { seq: 3, event: { copies: 3 } },
        { seq: 4, event: { copies: 4 } },
      ],
      next: 0,
    });
  });
});

describe('a reservation', () => {
  test('is for members, and is cancelled with 204', async () => {
    const api = await library();
    const place = `/titles/${DUNE}/reservations/bob`;
    expect((await api.put(`/titles/${DUNE}/reservations/nobody`)).status).toBe(404);
    expect((await api.put(place)).json).toMatchObject({ member: 'bob', place: 1, ready: true });
    expect((await api.get(place)).json.place).toBe(1);
    expect((await api.delete(place)).status).toBe(204);
    expect((await api.get(place)).status).toBe(404);
    expect((await api.delete(place)).status).toBe(404);
  });
});
