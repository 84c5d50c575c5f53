// A member without a server: who may borrow, what a late book costs, and what a PATCH changes.
import { testEntity, testModule } from '@svc/guest-sdk/testing';
import { describe, expect, test } from 'vitest';
import { DUNE, EMMA, dayOf } from './support/samples.ts';

const module = await testModule('assembly/index.ts');
const member = () => testEntity(module, 'member', 'ada').at(dayOf(0));

const joined = (kind = 'Adult') => ({ type: 'joined', name: 'Ada', email: null, kind });
const requested = (number: number, isbn: string, due: number) => ({
  type: 'loan-requested',
  number,
  isbn,
  due: dayOf(due),
});
const started = (number: number) => ({ type: 'loan-started', number });
const charged = (amount: string) => ({
  type: 'fee-charged',
  amount,
  at: dayOf(0),
  reason: `${EMMA} was late`,
});
const renewed = (due: number) => ({ type: 'loan-renewed', number: 1, due: dayOf(due) });
const asking = () => member().given([joined(), requested(1, DUNE, 28)]);
const owing = () => member().given([joined(), charged('5.00')]);

describe('a member', () => {
  test('joins once, and is answered the same when it says so again', () => {
    const input = { name: 'Ada', email: 'ada@example.com', kind: 'Student' };
    member()
      .when('join', input)
      .thenEvents([{ type: 'joined', ...input }])
      .when('join', input)
      .thenNoEvents()
      .when('join', { ...input, name: 'Bob' })
      .thenRefused({ code: 'CONFLICT', message: 'there is such a member' });
  });

  test('is an adult without an address when it does not say', () => {
    member()
      .when('join', { name: 'Ada' })
      .thenReply(
        expect.objectContaining({ kind: 'Adult', email: null, loansMax: 10, owed: '0.00' }),
      );
  });

  const patches: [string, object, object][] = [
    ['nothing', {}, { name: 'Ada', email: 'ada@example.com', loansMax: 20 }],
    ['a name', { name: 'Ada L.' }, { name: 'Ada L.', email: 'ada@example.com', loansMax: 20 }],
    ['no address', { email: null }, { name: 'Ada', email: null, loansMax: 20 }],
    ['the usual loans', { loansMax: null }, { email: 'ada@example.com', loansMax: 10 }],
    ['no loans', { loansMax: 0 }, { email: 'ada@example.com', loansMax: 0 }],
  ];
  test.for(patches)('that is patched with %s has changed that alone', ([, patch, after]) => {
    member()
      .given([{ ...joined(), email: 'ada@example.com' }])
      .given([{ type: 'details-changed', patch: { loansMax: 20 } }])
      .when('change', patch)
      .thenEvents([{ type: 'details-changed', patch }])
      .thenReply(expect.objectContaining(after));
  });

  test('refuses what a patch must not say', () => {
    const senseless = [
      { name: '' },
      { name: null },
      { loansMax: 51 },
      { loansMax: -1 },
      { kind: 'Dog' },
    ];
    for (const patch of senseless)
      member().given([joined()]).when('change', patch).thenRefused('BAD_REQUEST');
    member().when('change', { name: 'Ada' }).thenRefused('NOT_FOUND');
  });

  test('that left leaves no number of a loan to its successor', () => {
    member()
      .given([joined(), requested(1, DUNE, 28), { type: 'loan-withdrawn', number: 1, reason: '' }])
      .when('leave')
      .thenEvents([{ type: 'left' }])
      .query('get')
      .thenRefused({ code: 'NOT_FOUND', message: 'there is no member ada' })
      .when('join', { name: 'Another Ada' })
      .when('request-loan', { isbn: DUNE })
      .thenEvents([requested(2, DUNE, 28)]);
  });

  test('that has a book or owes something does not leave', () => {
    member()
      .given([joined(), requested(1, DUNE, 28)])
      .when('leave')
      .thenRefused({ code: 'CONFLICT', message: 'there are books to return' });
    member()
      .given([joined(), charged('0.25')])
      .when('leave')
      .thenRefused({ code: 'CONFLICT', message: '0.25 is still owed' });
  });
});

describe('a loan', () => {
  test.for([
    ['Adult', 28],
    ['Student', 56],
    ['Child', 28],
  ] as const)('of a member of the kind %s is for %i days', ([kind, days]) => {
    member()
      .given([joined(kind)])
      .when('request-loan', { isbn: DUNE })
      .thenEvents([requested(1, DUNE, days)])
      .thenReply({
        number: 1,
        isbn: DUNE,
        status: 'Requested',
        due: dayOf(days),
        renewals: 0,
        receipt: null,
      });
  });

  test('that is requested again is the same one', () => {
    member()
      .given([joined(), requested(1, DUNE, 28)])
      .at(dayOf(3))
      .when('request-loan', { isbn: DUNE })
      .thenNoEvents()
      .thenReply(expect.objectContaining({ number: 1, due: dayOf(28) }));
  });

  test('is not for a member with too many books, for programs as well', () => {
    member()
      .given([joined(), { type: 'details-changed', patch: { loansMax: 1 } }])
      .given([requested(1, EMMA, 28)])
      .when('request-loan', { isbn: DUNE })
      .thenRefused({ code: 'CONFLICT', details: { reason: 'too-many', owed: '0.00', loans: 1 } });
  });

  test('is not for a member with an overdue book', () => {
    const withEmma = () => member().given([joined(), requested(1, EMMA, 28), started(1)]);
    withEmma()
      .at(dayOf(28))
      .when('request-loan', { isbn: DUNE })
      .thenEvents([requested(2, DUNE, 56)]);
    withEmma()
      .at(dayOf(29))
      .when('request-loan', { isbn: DUNE })
      .thenRefused({ code: 'CONFLICT', details: { reason: 'overdue', owed: '0.00', loans: 1 } });
  });

  test('is for a member that owes 10.00, and not for one that owes a cent more', () => {
    member()
      .given([joined(), charged('10.00')])
      .when('request-loan', { isbn: DUNE })
      .thenEvents([requested(1, DUNE, 28)]);
    member()
      .given([joined(), charged('10.01')])
      .when('request-loan', { isbn: DUNE })
      .thenRefused({ code: 'CONFLICT', details: { reason: 'fees-owed', owed: '10.01', loans: 0 } });
  });

  test('is renewed twice, from the day on which that is asked for', () => {
    member()
      .given([joined(), requested(1, DUNE, 28), started(1)])
      .at(dayOf(20))
      .when('renew-loan', { isbn: DUNE })
      .thenEvents([renewed(48)])
      .at(dayOf(40))
      .when('renew-loan', { isbn: DUNE })
      .thenEvents([renewed(68)])
      .when('renew-loan', { isbn: DUNE })
      .thenRefused({ code: 'CONFLICT', message: 'a loan is renewed 2 times at most' });
  });

  test('is not renewed before it has started, nor when the book is overdue', () => {
    asking().when('renew-loan', { isbn: DUNE }).thenRefused('CONFLICT');
    asking()
      .given([started(1)])
      .at(dayOf(29))
      .when('renew-loan', { isbn: DUNE })
      .thenRefused({ code: 'CONFLICT', message: 'the book is overdue' });
  });

  test('is undone once, and only before it has started', () => {
    const withdrawal = { number: 1, reason: 'there is no free copy' };
    member()
      .given([joined(), requested(1, DUNE, 28)])
      .when('withdraw-loan', withdrawal)
      .thenEvents([{ type: 'loan-withdrawn', ...withdrawal }])
      .when('withdraw-loan', withdrawal)
      .thenNoEvents();
    member()
      .given([joined(), requested(1, DUNE, 28), started(1)])
      .when('withdraw-loan', withdrawal)
      .thenNoEvents();
  });
});

describe('a book that is returned', () => {
  test.for([
    ['Adult', 28, '2026-01-29T00:00:00.000Z', 0, '0.00'],
    ['Adult', 28, '2026-01-29T00:00:00.001Z', 1, '0.25'],
    ['Adult', 28, '2026-02-05T00:00:00.000Z', 7, '1.75'],
    ['Student', 56, '2026-02-27T00:00:00.000Z', 1, '0.12'],
    ['Student', 56, '2026-03-01T00:00:00.000Z', 3, '0.38'],
    ['Child', 28, '2026-12-24T00:00:00.000Z', 329, '0.00'],
  ] as const)(
    'by a member of the kind %s after %i days, on %s, is %i days late and costs %s',
    ([kind, days, returned, daysLate, fee]) => {
      const receipt = { number: 1, isbn: DUNE, due: dayOf(days), returned, daysLate, fee };
      const reason = `${DUNE} was ${daysLate} days late`;
      const fees = [{ type: 'fee-charged', amount: fee, at: returned, reason }];
      member()
        .given([joined(kind), requested(1, DUNE, days), started(1)])
        .at(returned)
        .when('return-loan', { isbn: DUNE, feePerDay: '0.25' })
        .thenEvents([{ type: 'loan-returned', receipt }, ...(fee === '0.00' ? [] : fees)])
        .thenReply(receipt);
    },
  );

  test('has one receipt, however often and late that is asked for', () => {
    const returning = member().given([joined(), requested(1, DUNE, 28), started(1)]);
    const receipt = returning
      .at(dayOf(30))
      .when('return-loan', { isbn: DUNE, feePerDay: '0.25' })
      .reply();
    returning
      .at(dayOf(40))
      .when('return-loan', { isbn: DUNE, feePerDay: '0.25' })
      .thenNoEvents()
      .thenReply(receipt)
      .when('close-loan', { number: 1 })
      .thenEvents([{ type: 'loan-closed', number: 1 }])
      .when('close-loan', { number: 1 })
      .thenNoEvents()
      .when('return-loan', { isbn: DUNE, feePerDay: '0.25' })
      .thenRefused('NOT_FOUND');
  });

  test('was lent: one whose loan has not started cannot be', () => {
    member()
      .given([joined(), requested(1, DUNE, 28)])
      .when('return-loan', { isbn: DUNE, feePerDay: '0.25' })
      .thenRefused('CONFLICT');
  });
});

describe('fees', () => {
  test('are paid in parts, exactly, and never beyond what is owed', () => {
    member()
      .given([joined(), charged('0.30')])
      .when('pay', { amount: '0.1' })
      .thenEvents([{ type: 'fee-paid', amount: '0.1', at: dayOf(0) }])
      .thenReply(expect.objectContaining({ number: 2, kind: 'Paid', amount: '0.1', owed: '0.20' }))
      .when('pay', { amount: '0.21' })
      .thenRefused({ code: 'UNPROCESSABLE', message: 'amount: 0.20 is owed' })
      .when('pay', { amount: '0.20' })
      .thenReply(expect.objectContaining({ number: 3, owed: '0.00' }));
  });

  test('refuse amounts that are none', () => {
    for (const amount of ['0', '-1.00', '0.001'])
      owing().when('pay', { amount }).thenRefused('UNPROCESSABLE');
    for (const amount of ['1e1', '', 1]) owing().when('pay', { amount }).thenRefused('BAD_REQUEST');
  });

  test('are waived for a reason', () => {
    const waiver = { amount: '5.00', reason: 'The library was closed that week.' };
    member()
      .given([joined(), charged('5.00')])
      .when('waive', { ...waiver, reason: ' ' })
      .thenRefused({ code: 'BAD_REQUEST', message: 'reason: must not be empty' })
      .when('waive', waiver)
      .thenEvents([{ type: 'fee-waived', ...waiver, at: dayOf(0) }])
      .thenReply(expect.objectContaining({ kind: 'Waived', reason: waiver.reason, owed: '0.00' }));
  });

  test('are kept as the last fifty entries', () => {
    const cents = Array.from({ length: 60 }, () => charged('0.01'));
    const fees = member().given([joined(), ...cents]);
    const numbers = fees.query('fees', {}).reply<{ number: number }[]>();
    expect(numbers.map(({ number }) => number)).toEqual(
      Array.from({ length: 50 }, (_, at) => at + 11),
    );
    fees
      .query('fee', { number: 10 })
      .thenRefused('NOT_FOUND')
      .query('fee', { number: 11 })
      .thenReply(expect.objectContaining({ number: 11, owed: '0.11' }));
  });
});
