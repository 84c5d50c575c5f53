// Members and their fees over HTTP, without a server.
import { describe, expect, test } from 'vitest';
import { desk, library, PAYMENT_KEY, withKey } from './support/library.ts';
import { signed } from './support/signed.ts';
import { DUNE, dayOf } from './support/samples.ts';

/** A member that returned a book two days late. */
async function owing() {
  const api = await library();
  await api.given('member', 'eve', [
    { type: 'joined', name: 'Eve', email: null, kind: 'Adult' },
    { type: 'fee-charged', amount: '0.50', at: dayOf(0), reason: `${DUNE} was 2 days late` },
  ]);
  return api;
}

describe('a member', () => {
  test('joins with 201, changes what it says, and leaves with 204', async () => {
    const api = await library();
    const joined = await api.put('/members/cyd', { name: 'Cyd', email: 'cyd@example.com' });
    expect(joined.status).toBe(201);
    expect(joined.headers['location']).toBe('/members/cyd');
    const changed = await api.patch('/members/cyd', { email: null, kind: 'Student' });
    expect(changed.json).toEqual({ ...joined.json, email: null, kind: 'Student' });
    expect((await api.get('/members/cyd')).json).toEqual(changed.json);
    expect((await api.delete('/members/cyd')).status).toBe(204);
    expect((await api.get('/members/cyd')).status).toBe(404);
    expect((await api.delete('/members/cyd')).status).toBe(404);
  });

  test('has a history that a librarian reads, page by page', async () => {
    const api = await library();
    await api.patch('/members/ada', { name: 'Ada L.' });
    await api.patch('/members/ada', { email: null });
    expect((await api.get('/members/ada/history')).status).toBe(401);
    const reader = api.as({ subject: 'bob', roles: ['reader'] });
    expect((await reader.get('/members/ada/history')).status).toBe(403);
    const page = (await desk(api).get('/members/ada/history', { query: { after: 1, limit: 1 } }))
      .json;
    expect(page).toEqual({
      entries: [
        {
          seq: 2,
          at: expect.any(String),
          event: { type: 'details-changed', patch: { name: 'Ada L.' } },
        },
      ],
      next: 2,
    });
  });
});

describe('a fee', () => {
  test('is paid once for each key, and found where the answer says', async () => {
    const api = await owing();
    const pay = async (options: object) =>
      api.request('POST', '/members/eve/payments', { body: { amount: '0.20' }, ...options });
    expect((await pay({})).json).toEqual({
      status: 400,
      error: 'Idempotency-Key: is missing, and repeating the request would do it twice',
    });
    const key = withKey();
    const paid = await pay(key);
    expect(paid.status).toBe(201);
    expect(paid.headers['location']).toBe('/members/eve/fees/2');
    expect(paid.json).toMatchObject({ kind: 'Paid', amount: '0.20', owed: '0.30' });
    expect((await pay(key)).json).toEqual(paid.json);
    expect((await api.get('/members/eve/fees/2')).json).toEqual(paid.json);
    expect((await api.get('/members/eve')).json.owed).toBe('0.30');
    const other = await pay({ ...key, body: { amount: '0.10' } });
    expect(other.status).toBe(422);
    expect((await pay({ ...withKey(), body: { amount: '0.31' } })).json.error).toBe(
      'amount: 0.30 is owed',
    );
  });

  test('is waived by librarians alone', async () => {
    const api = await owing();
    const body = { amount: '0.50', reason: 'The library was closed.' };
    const waive = async (caller: Pick<typeof api, 'post'>) =>
      caller.post('/members/eve/waivers', body, withKey());
    expect((await waive(api)).status).toBe(401);
    expect((await waive(api.as({ subject: 'eve' }))).status).toBe(403);
    expect((await waive(desk(api))).json).toMatchObject({ kind: 'Waived', owed: '0.00' });
  });

  test('is paid by a signed report, once for each delivery', async () => {
    const api = await owing();
    const text = JSON.stringify({ member: 'eve', amount: '0.20' });
    const report = async (delivery: string, key = PAYMENT_KEY) =>
      api.post('/payment-reports', Buffer.from(text), {
        headers: { 'x-hook-delivery': delivery, ...signed(text, key) },
      });
    expect((await report('d1', 'another key')).status).toBe(401);
    expect((await report('d1')).json).toMatchObject({ kind: 'Paid', owed: '0.30' });
    expect((await report('d1')).json).toMatchObject({ owed: '0.30' });
    expect((await report('d2')).json).toMatchObject({ owed: '0.10' });
  });

  test('is found by its time', async () => {
    const api = await owing();
    const count = async (query: Record<string, string>): Promise<number> =>
      (await api.get('/members/eve/fees', { query })).json.length;
    expect(await count({})).toBe(1);
    expect(await count({ since: dayOf(0), before: dayOf(1) })).toBe(1);
    expect(await count({ since: dayOf(1) })).toBe(0);
    expect(await count({ before: dayOf(0) })).toBe(0);
  });
});
