// The bank without a server: what a transfer leaves behind however it ends, and what happens when a
// step gets no answer.
import {
  type FakeCall,
  testEndpoints,
  testModule,
  timedOut,
  unavailable,
} from '@svc/guest-sdk/testing';
import { describe, expect, test } from 'vitest';

const module = await testModule('assembly/index.ts');
const order = { from: 'ada', to: 'bob', cents: 300 };
const booked = { cents: 0, declined: '' };

/** Ada has 1000, Bob nothing. */
async function bank() {
  const api = testEndpoints(module);
  await api.put('/accounts/ada', { cents: 1000 });
  await api.put('/accounts/bob', { cents: 0 });
  const centsOf = async (id: string): Promise<number> =>
    (await api.get(`/accounts/${id}`)).json.cents;
  return { api, balances: async () => [await centsOf('ada'), await centsOf('bob')] };
}

describe('a transfer', () => {
  test('moves money once, however often it is asked for', async () => {
    const { api, balances } = await bank();
    for (let time = 1; time <= 3; time++) {
      const answer = await api.put('/transfers/t1', order);
      expect(answer.status).toBe(200);
      expect(answer.json).toEqual({ ...order, status: 'done', reason: '' });
      expect(await balances()).toEqual([700, 300]);
    }
  });

  test('asked for by many at a time, happens once', async () => {
    const { api, balances } = await bank();
    const answers = await Promise.all(
      Array.from({ length: 8 }, async () => api.put('/transfers/t1', order)),
    );
    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 8 }, () => 200));
    expect(await balances()).toEqual([700, 300]);
  });

  test('without enough money is declined for good, also when money comes in', async () => {
    const { api, balances } = await bank();
    const back = { from: 'bob', to: 'ada', cents: 1 };
    const declined = { status: 409, error: 'account bob has too little money' };
    expect((await api.put('/transfers/back', back)).json).toEqual(declined);
    await api.put('/transfers/t1', order);
    expect((await api.put('/transfers/back', back)).json).toEqual(declined);
    expect(await balances()).toEqual([700, 300]);
  });

  test('to an account that does not exist is refunded', async () => {
    const { api, balances } = await bank();
    const lost = { ...order, to: 'nobody' };
    expect((await api.put('/transfers/t1', lost)).status).toBe(409);
    expect(await balances()).toEqual([1000, 0]);
    expect((await api.get('/transfers/t1')).json).toEqual({
      ...lost,
      status: 'declined',
      reason: 'there is no account nobody',
    });
    expect(await api.events('account', 'ada')).toEqual([
      { type: 'opened', cents: 1000 },
      { type: 'withdrawn', transfer: 't1', cents: 300 },
      { type: 'refunded', transfer: 't1', reason: 'there is no account nobody' },
    ]);
  });

  test('keeps to its first order', async () => {
    const { api, balances } = await bank();
    await api.put('/transfers/t1', order);
    for (const change of [{ cents: 301 }, { to: 'eve' }, { from: 'bob', to: 'ada' }])
      expect((await api.put('/transfers/t1', { ...order, ...change })).status).toBe(409);
    expect(await balances()).toEqual([700, 300]);
  });

  test('of nothing, or to the same account, makes no sense', async () => {
    const { api } = await bank();
    expect((await api.put('/transfers/t1', { ...order, cents: 0 })).status).toBe(400);
    expect((await api.put('/transfers/t1', { ...order, to: 'ada' })).status).toBe(400);
    expect((await api.get('/transfers/t1')).status).toBe(404);
  });
});

describe('a transfer that was cut', () => {
  test.for([
    ['withdraw', unavailable(), 503, ['withdraw', 'withdraw', 'deposit']],
    ['withdraw', timedOut(), 504, ['withdraw', 'withdraw', 'deposit']],
    ['deposit', unavailable(), 503, ['withdraw', 'deposit', 'withdraw', 'deposit']],
    ['deposit', timedOut(), 504, ['withdraw', 'deposit', 'withdraw', 'deposit']],
  ] as const)(
    'at its %s goes on when it is asked for again',
    async ([step, failure, status, steps]) => {
      const calls: FakeCall[] = [];
      let cut = false;
      const account = (call: FakeCall) => {
        calls.push(call);
        if (call.name !== step || cut) return booked;
        cut = true;
        return failure;
      };
      const api = testEndpoints(module, { components: { account } });
      expect((await api.put('/transfers/t1', order)).status).toBe(status);
      expect((await api.get('/transfers/t1')).json.status).toBe('running');

      expect((await api.put('/transfers/t1', order)).json.status).toBe('done');
      expect(calls.map(({ name }) => name)).toEqual(steps);
      // The same words again: that is how an account knows a step that it has done.
      for (const { name, id, input } of calls) {
        expect(id).toBe(name === 'withdraw' ? 'ada' : 'bob');
        expect(input).toEqual({ transfer: 't1', cents: 300 });
      }
    },
  );

  test('at its refund is refunded when it is asked for again', async () => {
    const reason = 'there is no account bob';
    const names: string[] = [];
    const account = ({ name }: FakeCall) => {
      names.push(name);
      if (name === 'deposit') return { cents: 0, declined: reason };
      if (name === 'refund')
        return names.filter((one) => one === 'refund').length === 1 ? timedOut() : null;
      return booked;
    };
    const api = testEndpoints(module, { components: { account } });
    expect((await api.put('/transfers/t1', order)).status).toBe(504);
    expect((await api.get('/transfers/t1')).json.status).toBe('running');
    expect((await api.put('/transfers/t1', order)).json).toEqual({ status: 409, error: reason });
    expect(names.filter((name) => name === 'refund')).toHaveLength(2);
  });
});
