// The examples of docs/how-to/timers.md, and timers in the test kit.
import { describe, expect, test } from 'vitest';
import { testEndpoints, testEntity, testModule } from '@svc/guest-sdk/testing';
import { failureOf } from './failure.ts';

const module = await testModule('fixtures/expiring-order/assembly/index.ts');

test('a placed order gets a deadline', () => {
  testEntity(module, 'order', 'o1')
    .when('place', { cents: 1250 })
    .thenTimers([{ set: 'expire', afterMs: 900_000, command: 'expire' }]);
});

test('a paid order has no deadline', () => {
  testEntity(module, 'order', 'o1')
    .given([{ type: 'placed', cents: 1250 }])
    .when('pay')
    .thenTimers([{ cancel: 'expire' }, { cancel: 'remind' }]);
});

test('an order that is not paid expires', () => {
  testEntity(module, 'order', 'o1')
    .when('place', { cents: 1250 })
    .advance(900_000)
    .thenFired(['expire'])
    .thenEvents([{ type: 'expired' }]);
});

test('a reminder comes every morning', async () => {
  const api = testEndpoints(module);
  await api.put('/orders/o1/reminders', { text: 'Please pay.' });
  const fired = await api.advance(3 * 86_400_000);
  expect(fired.map(({ name, outcome }) => [name, outcome])).toEqual([
    ['remind', 'replied'],
    ['remind', 'replied'],
    ['remind', 'replied'],
  ]);
  expect(await api.events('order', 'o1')).toHaveLength(3);
});

test('reminders end when they are cancelled', async () => {
  const api = testEndpoints(module);
  await api.put('/orders/o1/reminders', { text: 'Please pay.' });
  await api.delete('/orders/o1/reminders');
  expect(await api.advance(86_400_000)).toEqual([]);
});

const placed = () => testEntity(module, 'order', 'o1').given([{ type: 'placed', cents: 1250 }]);

describe('thenTimers', () => {
  test('compares every field that it is given', () => {
    testEntity(module, 'order', 'o1')
      .when('place', { cents: 1250 })
      .thenTimers([
        {
          set: 'expire',
          afterMs: 900_000,
          command: 'expire',
          input: null,
          component: 'order',
          id: 'o1',
        },
      ]);
    const until = new Date('2026-01-02T00:00:00Z');
    for (const at of [until, until.getTime(), '2026-01-02T01:00:00+01:00'])
      placed()
        .when('extend', until)
        .thenTimers([{ set: 'expire', at }])
        .thenNoEvents();
  });

  test('of a command that changes none is an empty list', () => {
    placed().when('remind', { text: 'pay' }).thenTimers([]);
  });

  test.each([
    ['another time', { set: 'expire', afterMs: 900 }, { set: 'expire', afterMs: 900_000 }],
    ['another kind of time', { set: 'expire', everyMs: 900_000 }, { set: 'expire' }],
    ['another command', { set: 'expire', command: 'pay' }, { set: 'expire', command: 'expire' }],
    [
      'another name',
      { set: 'remind', command: 'expire' },
      {
        set: 'expire',
        afterMs: 900_000,
        command: 'expire',
        input: null,
        component: 'order',
        id: 'o1',
      },
    ],
  ])('shows %s', (_, change, actual) => {
    const it = testEntity(module, 'order', 'o1').when('place', { cents: 1250 });
    expect(failureOf(() => it.thenTimers([change]))).toMatchObject({
      message: expect.stringContaining('The command changed other timers than expected.'),
      actual: [actual],
      expected: [change],
    });
  });

  test('shows changes that are missing or too many', () => {
    const it = placed().when('pay');
    expect(failureOf(() => it.thenTimers([{ cancel: 'expire' }])).actual).toEqual([
      { cancel: 'expire' },
      { cancel: 'remind' },
    ]);
    failureOf(() => it.thenTimers([]));
    failureOf(() => it.thenTimers([{ cancel: 'remind' }, { cancel: 'expire' }]));
  });

  test('fails after a refusal and after a query', () => {
    const it = placed().when('place', { cents: 1 });
    expect(failureOf(() => it.thenTimers([])).message).toContain('was refused: CONFLICT');
    it.query('get');
    expect(failureOf(() => it.thenTimers([])).message).toContain(
      'The query changes no timers: expect its reply.',
    );
  });
});
