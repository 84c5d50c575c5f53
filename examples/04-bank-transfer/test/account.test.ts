// An account without a server: it decides on each transfer once.
import { testEntity, testModule } from '@svc/guest-sdk/testing';
import { describe, test } from 'vitest';

const module = await testModule('assembly/index.ts');
const account = (cents: number) =>
  testEntity(module, 'account', 'ada').given([{ type: 'opened', cents }]);
const t1 = { transfer: 't1', cents: 300 };

describe('an account', () => {
  test.for([
    ['withdraw', { type: 'withdrawn', ...t1 }, { cents: -300, declined: '' }, 700],
    ['deposit', { type: 'deposited', ...t1 }, { cents: 300, declined: '' }, 1300],
  ] as const)('does a %s once', ([command, event, decision, cents]) => {
    account(1000)
      .when(command, t1)
      .thenEvents([event])
      .thenReply(decision)
      .when(command, t1)
      .thenNoEvents()
      .thenReply(decision)
      .query('get')
      .thenReply({ id: 'ada', cents });
  });

  test('remembers that it declined', () => {
    const reason = 'account ada has too little money';
    account(299)
      .when('withdraw', t1)
      .thenEvents([{ type: 'declined', transfer: 't1', reason }])
      .when('deposit', { transfer: 't2', cents: 1 })
      .when('withdraw', t1)
      .thenNoEvents()
      .thenReply({ cents: 0, declined: reason });
  });

  test('takes a withdrawal back once, and declines it from then on', () => {
    account(1000)
      .given([{ type: 'withdrawn', ...t1 }])
      .when('refund', { transfer: 't1', reason: 'bob has gone' })
      .thenEvents([{ type: 'refunded', transfer: 't1', reason: 'bob has gone' }])
      .when('refund', { transfer: 't1', reason: 'bob has gone' })
      .thenNoEvents()
      .when('withdraw', t1)
      .thenReply({ cents: 0, declined: 'bob has gone' })
      .query('get')
      .thenReply({ id: 'ada', cents: 1000 });
  });

  test('takes back nothing but withdrawals', () => {
    account(1000)
      .given([{ type: 'deposited', ...t1 }])
      .when('refund', { transfer: 't1', reason: 'why not' })
      .thenNoEvents()
      .when('refund', { transfer: 't2', reason: 'why not' })
      .thenNoEvents();
  });

  test('that nobody opened declines, and is opened once', () => {
    testEntity(module, 'account', 'eve')
      .when('deposit', t1)
      .thenReply({ cents: 0, declined: 'there is no account eve' })
      .query('get')
      .thenRefused('NOT_FOUND')
      .when('open', { cents: 5 })
      .thenReply({ id: 'eve', cents: 5 })
      .when('open', { cents: 5 })
      .thenRefused('CONFLICT')
      .when('deposit', t1)
      .thenReply({ cents: 0, declined: 'there is no account eve' });
  });
});
