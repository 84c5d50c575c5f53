// The lists over HTTP, without a server: one walk through all routes, and what is refused.
import { testEndpoints, testModule } from '@svc/guest-sdk/testing';
import { describe, expect, test } from 'vitest';

const module = await testModule('assembly/index.ts');
const items = '/lists/home/items';

describe('the endpoint', () => {
  test('adds, shows, changes and removes items, and throws the list away', async () => {
    const lists = testEndpoints(module);
    const added = await lists.post(items, { title: 'Milk' });
    expect(added.status).toBe(201);
    expect(added.headers['location']).toBe(`${items}/1`);
    await lists.post(items, { title: 'Bread' });

    const changed = await lists.put(`${items}/1`, { title: 'Oat milk', done: true });
    expect(changed.json).toEqual({ number: 1, title: 'Oat milk', done: true });
    expect((await lists.get(`${items}/1`)).json).toEqual(changed.json);

    expect((await lists.delete(`${items}/2`)).status).toBe(204);
    expect((await lists.get(items)).json).toEqual([changed.json]);

    expect((await lists.delete('/lists/home')).status).toBe(204);
    expect((await lists.get(items)).json).toEqual([]);
    expect((await lists.post(items, { title: 'Milk' })).json.number).toBe(1);
  });

  test('keeps lists apart', async () => {
    const lists = testEndpoints(module);
    await lists.post(items, { title: 'Milk' });
    expect((await lists.get('/lists/work/items')).json).toEqual([]);
  });

  test('encodes the name of a list in the location of an item', async () => {
    const lists = testEndpoints(module);
    const added = await lists.post('/lists/caf%C3%A9%2F1/items', { title: 'Milk' });
    expect(added.headers['location']).toBe('/lists/caf%C3%A9%2F1/items/1');
    expect((await lists.get(added.headers['location']!)).status).toBe(200);
  });

  test('takes an item for not done when it does not say', async () => {
    const lists = testEndpoints(module);
    await lists.post(items, { title: 'Milk' });
    expect((await lists.put(`${items}/1`, { title: 'Milk' })).json.done).toBe(false);
  });

  test('refuses what is not there, and what does not fit', async () => {
    const lists = testEndpoints(module);
    expect((await lists.get(`${items}/1`)).status).toBe(404);
    expect((await lists.put(`${items}/1`, { title: 'Milk' })).status).toBe(404);
    expect((await lists.delete(`${items}/1`)).status).toBe(404);
    expect((await lists.get(`${items}/one`)).status).toBe(400);
    expect((await lists.post(items, { title: 7 })).status).toBe(400);
    expect((await lists.post(items, { title: '' })).json).toEqual({
      status: 400,
      error: 'title: must have 1 to 200 characters',
    });
  });
});
