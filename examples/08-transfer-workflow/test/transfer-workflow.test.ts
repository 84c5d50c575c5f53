// Transfers without a server: each ends, whether it is accepted, forgotten, or cannot be booked; no money is lost.
import { testEndpoints, testModule, unavailable } from '@svc/guest-sdk/testing';
import { describe, expect, test } from 'vitest';

const module = await testModule('assembly/index.ts');
const order = { from: 'ada', to: 'bob', cents: 300 };
const DAY_MS = 86_400_000;

/** Ada has 1000, Bob nothing. */
async function bank() {
  const api = testEndpoints(module);
  await api.put('/accounts/ada', { cents: 1000 });
  await api.put('/accounts/bob', { cents: 0 });
  const centsOf = async (id: string): Promise<number> =>
    (await api.get(`/accounts/${id}`)).json.cents;
  return {
    api,
    balances: async () => [await centsOf('ada'), await centsOf('bob')],
    transfer: async () => (await api.get('/transfers/t1')).json,
  };
}

describe('a transfer', () => {
  test('leaves the first account, and reaches the second once it is accepted', async () => {
    const { api, balances, transfer } = await bank();
    expect((await api.put('/transfers/t1', order)).json).toMatchObject({ status: 'ordered' });
    expect(await balances()).toEqual([1000, 0]);
    await api.drain();
    expect(await transfer()).toEqual({ ...order, status: 'funded', reason: '' });
    expect(await balances()).toEqual([700, 0]);
    expect((await api.post('/transfers/t1/acceptance')).json).toMatchObject({ status: 'accepted' });
    await api.drain();
    expect(await transfer()).toMatchObject({ status: 'completed' });
    expect(await balances()).toEqual([700, 300]);
    // The timer was cancelled.
    expect(await api.advance(30 * DAY_MS)).toEqual([]);
  });

  test('that nobody accepts in time goes back', async () => {
    const { api, balances, transfer } = await bank();
    await api.put('/transfers/t1', order);
    await api.drain();
    const fired = await api.advance(7 * DAY_MS);
    expect(fired.map(({ name, id }) => [name, id])).toEqual([['expire', 't1']]);
    expect((await api.post('/transfers/t1/acceptance')).status).toBe(409);
    await api.drain();
    expect(await transfer()).toMatchObject({
      status: 'returned',
      reason: 'nobody has accepted it in time',
    });
    expect(await balances()).toEqual([1000, 0]);
  });

  test('to an account that there is not goes back', async () => {
    const { api, balances, transfer } = await bank();
    await api.put('/transfers/t1', { ...order, to: 'nobody' });
    await api.drain();
    await api.post('/transfers/t1/acceptance');
    await api.drain();
    expect(await transfer()).toMatchObject({
      status: 'returned',
      reason: 'there is no account nobody',
    });
    expect(await balances()).toEqual([1000, 0]);
  });

  test('of too much money is declined', async () => {
    const { api, balances, transfer } = await bank();
    await api.put('/transfers/t1', { ...order, cents: 1001 });
    await api.drain();
    expect(await transfer()).toMatchObject({
      status: 'declined',
      reason: 'account ada has too little money',
    });
    expect(await balances()).toEqual([1000, 0]);
  });

  test('is the same when it is ordered again, and another order has another id', async () => {
    const { api, balances } = await bank();
    await api.put('/transfers/t1', order);
    await api.drain();
    expect((await api.put('/transfers/t1', order)).json).toMatchObject({ status: 'funded' });
    expect((await api.put('/transfers/t1', { ...order, cents: 301 })).status).toBe(409);
    await api.drain();
    expect(await balances()).toEqual([700, 0]);
  });

  test.each([{ cents: 0 }, { to: 'ada' }])('with %o is refused', async (wrong) => {
    const { api } = await bank();
    expect((await api.put('/transfers/t1', { ...order, ...wrong })).status).toBe(400);
    expect((await api.get('/transfers/t1')).status).toBe(404);
  });
});

test('a step that gets no answer is tried again', async () => {
  const answers = [unavailable, unavailable, () => ({ declined: '' })];
  const api = testEndpoints(module, { components: { account: () => answers.shift()!() } });
  await api.put('/transfers/t1', order);
  expect(await api.drain()).toMatchObject([
    { seq: 1, outcome: 'done', attempts: 3 },
    { seq: 2, outcome: 'done', attempts: 1 },
  ]);
  expect((await api.get('/transfers/t1')).json).toMatchObject({ status: 'funded' });
});
