// Consumers in the test kit: drain delivers events, and says which entities are parked.
import { describe, expect, test } from 'vitest';
import { refused, testEndpoints, testModule, unavailable } from '@svc/guest-sdk/testing';
import { laterFailureOf } from './failure.ts';

const module = await testModule('fixtures/order-bookkeeping/assembly/index.ts');

const handled = (id: string, seq: number, outcome = 'done', more: object = {}) => ({
  consumer: 'bookkeeping',
  component: 'order',
  id,
  seq,
  outcome,
  attempts: 1,
  ...more,
});

describe('drain', () => {
  test('delivers what was stored, once', async () => {
    const api = testEndpoints(module);
    await api.given('order', 'o2', [{ type: 'placed', cents: 5 }]);
    await api.put('/orders/o1');
    await api.post('/orders/o1/payment');
    expect(await api.drain()).toEqual([handled('o2', 1), handled('o1', 1), handled('o1', 2)]);
    expect(await api.drain()).toEqual([]);
    expect(await api.events('account', 'main')).toEqual([{ type: 'booked', order: 'o1' }]);
    await api.post('/orders/o2/payment');
    expect(await api.drain()).toEqual([handled('o2', 2)]);
    expect(await api.events('account', 'main')).toHaveLength(2);
  });

  test('waits for a running request', async () => {
    const api = testEndpoints(module);
    const placed = api.put('/orders/o1');
    expect(await api.drain()).toEqual([handled('o1', 1)]);
    await placed;
  });

  test('tries again while the time of the test passes, and parks after the last attempt', async () => {
    const api = testEndpoints(module, { nowMs: 0 });
    await api.put('/account/closed', undefined, { query: { isClosed: true } });
    await api.put('/orders/o1');
    await api.post('/orders/o1/payment');
    await api.post('/orders/o1/reminders', undefined, { query: { text: 'x' } });
    await api.put('/orders/o2');
    const parked = handled('o1', 2, 'parked', { attempts: 10, reason: 'the account is closed' });
    expect(await api.drain()).toEqual([handled('o1', 1), handled('o2', 1), parked]);
    expect(api.faults).toEqual([
      "consumer 'bookkeeping', event 2 of order 'o1': the account is closed",
    ]);
    // Nine pauses of five seconds; the event behind the parked one waits.
    const answer = await api.put('/orders/o3');
    expect(answer.status).toBe(204);
    expect(await api.drain()).toEqual([handled('o3', 1)]);
  });

  test('makes a refused call again after a retry', async () => {
    const api = testEndpoints(module);
    await api.put('/account/closed', undefined, { query: { isClosed: true } });
    await api.given('order', 'o1', [{ type: 'placed', cents: 5 }, { type: 'paid' }]);
    await api.post('/orders/o2/reminders', undefined, { query: { text: 'open the account' } });
    expect(await api.drain()).toEqual([
      handled('o1', 1),
      handled('o2', 1),
      handled('o1', 2, 'done', { attempts: 2 }),
    ]);
    expect((await api.get('/account')).json).toMatchObject({ orders: ['o1'] });
  });

  test('lets timers fire that become due meanwhile, and skips and parks with the reason', async () => {
    const api = testEndpoints(module);
    await api.post('/orders/o1/reminders', undefined, { query: { text: 'x' } });
    await api.delete('/orders/o2');
    await api.given('order', 'o3', ['{"type":"exploded"}']);
    const [first, second, third] = await api.drain();
    expect([first, second]).toEqual([
      handled('o1', 1, 'skipped', { reason: "reminder 'x'" }),
      handled('o2', 1, 'parked', { reason: 'CONFLICT: no order expires here' }),
    ]);
    expect(third).toMatchObject({ id: 'o3', outcome: 'parked' });
    expect(third!.reason).toContain('exploded');
  });

  test('calls fakes, and repeats the calls of an attempt', async () => {
    const calls: unknown[] = [];
    const answers = [unavailable, () => refused('CONFLICT', 'not yet'), () => undefined];
    const api = testEndpoints(module, {
      components: {
        account: ({ name, input }) => {
          calls.push([name, input]);
          return answers.shift()!();
        },
      },
    });
    await api.given('order', 'o1', [{ type: 'placed', cents: 5 }, { type: 'paid' }]);
    expect(await api.drain()).toEqual([
      handled('o1', 1),
      handled('o1', 2, 'done', { attempts: 3 }),
    ]);
    expect(calls).toEqual(Array.from({ length: 3 }, () => ['book', { order: 'o1' }]));
  });

  test('fails with the error of a fake', async () => {
    const api = testEndpoints(module, {
      components: {
        account: () => {
          throw new Error('mistyped');
        },
      },
    });
    await api.given('order', 'o1', [{ type: 'placed', cents: 5 }, { type: 'paid' }]);
    await expect(api.drain()).rejects.toThrow('mistyped');
  });

  test('of a module without consumers fails', async () => {
    const cart = await testModule('fixtures/shopping-cart/assembly/index.ts');
    const api = testEndpoints(cart);
    expect((await laterFailureOf(() => api.drain())).message).toMatch(/has no consumers\.$/);
  });
});
