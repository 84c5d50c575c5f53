// A title without a server: it never gives more copies than there are, and who came first is served first.
import { testEntity, testModule } from '@svc/guest-sdk/testing';
import { describe, expect, test } from 'vitest';
import { DESCRIPTIONS, DUNE, dayOf } from './support/samples.ts';

const module = await testModule('assembly/index.ts');
const title = () => testEntity(module, 'title', DUNE).at(dayOf(0));
const registered = (copies: number) => ({
  type: 'registered',
  shelf: 'novels',
  description: DESCRIPTIONS[DUNE],
  copies,
});
const lent = (member: string, loan = 1) => ({ type: 'lent', member, loan });
const reserved = (member: string, until = 90) => ({
  type: 'reserved',
  member,
  until: dayOf(until),
});
const noCopy = (copies: number, waiting: number) => ({
  code: 'CONFLICT',
  message: 'there is no free copy',
  details: { reason: 'no-copy', copies, waiting },
});

describe('a title', () => {
  test('is registered once; every other registration is answered with what there is', () => {
    const other = { shelf: 'crime', description: DESCRIPTIONS[DUNE], copies: 7 };
    const shown = {
      isbn: DUNE,
      shelf: 'novels',
      description: DESCRIPTIONS[DUNE],
      version: 0,
      copies: 2,
      lent: 0,
      waiting: 0,
    };
    title()
      .when('register', { ...other, shelf: 'novels', copies: 2 })
      .thenEvents([registered(2)])
      .thenReply(shown)
      .when('register', other)
      .thenNoEvents()
      .thenReply(shown);
  });

  test.for([
    ['a name', { name: 'Dune Messiah' }, { name: 'Dune Messiah' }],
    ['a genre', { genre: 'Science' }, { genre: 'Science' }],
    ['no date', { published: null }, { published: null }],
  ] as const)('that is patched with %s has changed that alone', ([, patch, change]) => {
    title()
      .given([registered(1)])
      .when('change', patch)
      .thenEvents([{ type: 'description-changed', patch }])
      .thenReply(
        expect.objectContaining({ description: { ...DESCRIPTIONS[DUNE], ...change }, version: 1 }),
      );
  });

  test('that is patched with what it says already has not changed', () => {
    for (const patch of [{}, { name: 'Dune' }, { published: DESCRIPTIONS[DUNE].published }])
      title()
        .given([registered(1)])
        .when('change', patch)
        .thenNoEvents();
  });

  test('has no fewer copies than are lent', () => {
    title()
      .given([registered(2), lent('ada'), lent('bob')])
      .when('count-copies', { copies: 1 })
      .thenRefused({ code: 'CONFLICT', message: '2 copies are lent' })
      .when('count-copies', { copies: 3 })
      .thenEvents([{ type: 'copies-counted', copies: 3 }])
      .when('count-copies', { copies: 3 })
      .thenNoEvents()
      .when('count-copies', { copies: 101 })
      .thenRefused('BAD_REQUEST');
  });
});

describe('a copy', () => {
  test('is lent once for a loan, and not beyond the last one', () => {
    title()
      .given([registered(1)])
      .when('lend', { member: 'ada', loan: 1 })
      .thenEvents([lent('ada')])
      .when('lend', { member: 'ada', loan: 1 })
      .thenNoEvents()
      .thenReply(null)
      .when('lend', { member: 'ada', loan: 2 })
      .thenRefused({ code: 'CONFLICT', message: 'the member has a copy already' })
      .when('lend', { member: 'bob', loan: 1 })
      .thenRefused(noCopy(1, 0));
  });

  test('is taken back from the loan that has it, and from no other', () => {
    title()
      .given([registered(1), lent('ada', 3)])
      .when('take-back', { member: 'ada', loan: 2 })
      .thenNoEvents()
      .when('take-back', { member: 'ada', loan: 3 })
      .thenEvents([{ type: 'taken-back', member: 'ada' }])
      .when('take-back', { member: 'ada', loan: 3 })
      .thenNoEvents()
      .when('lend', { member: 'bob', loan: 1 })
      .thenReply(null);
  });

  test('that is free belongs to whoever came first', () => {
    title()
      .given([registered(1), reserved('cyd'), reserved('bob')])
      .when('lend', { member: 'ada', loan: 1 })
      .thenRefused(noCopy(1, 2))
      .when('lend', { member: 'bob', loan: 1 })
      .thenRefused(noCopy(1, 1))
      .when('lend', { member: 'cyd', loan: 1 })
      .thenEvents([lent('cyd')])
      .query('reservations')
      .thenReply([{ member: 'bob', place: 1, until: dayOf(90), ready: false }]);
  });
});

describe('a reservation', () => {
  test('is for ninety days, and keeps its place when it is made again', () => {
    title()
      .given([registered(1), lent('ada'), reserved('cyd')])
      .when('reserve', { member: 'bob' })
      .thenEvents([reserved('bob')])
      .thenReply({ member: 'bob', place: 2, until: dayOf(90), ready: false })
      .at(dayOf(10))
      .when('reserve', { member: 'bob' })
      .thenNoEvents()
      .thenReply({ member: 'bob', place: 2, until: dayOf(90), ready: false });
  });

  test('is ready when there is a copy for it', () => {
    title()
      .given([registered(2), lent('ada'), reserved('bob'), reserved('cyd')])
      .query('reservation', { member: 'bob' })
      .thenReply(expect.objectContaining({ place: 1, ready: true }))
      .query('reservation', { member: 'cyd' })
      .thenReply(expect.objectContaining({ place: 2, ready: false }));
  });

  test('counts for nothing when its time has passed, and the next one clears it away', () => {
    const waiting = () => title().given([registered(1), reserved('bob', 90), reserved('cyd', 95)]);
    waiting()
      .at(dayOf(90))
      .when('lend', { member: 'cyd', loan: 1 })
      .thenEvents([lent('cyd')]);
    waiting().at(dayOf(95)).query('reservation', { member: 'cyd' }).thenRefused('NOT_FOUND');
    waiting()
      .at(dayOf(95))
      .when('reserve', { member: 'cyd' })
      .thenEvents([
        { type: 'reservation-ended', member: 'bob', lapsed: true },
        { type: 'reservation-ended', member: 'cyd', lapsed: true },
        reserved('cyd', 185),
      ])
      .thenReply({ member: 'cyd', place: 1, until: dayOf(185), ready: true });
  });

  test('is not for who has a copy, and not for the fifty-first', () => {
    title()
      .given([registered(1), lent('ada')])
      .when('reserve', { member: 'ada' })
      .thenRefused({ code: 'CONFLICT', message: 'the member has a copy' });
    const queue = Array.from({ length: 50 }, (_, at) => reserved(`reader ${at}`));
    title()
      .given([registered(1), ...queue])
      .when('reserve', { member: 'ada' })
      .thenRefused({ code: 'CONFLICT', message: '50 members wait for it' });
  });

  test('keeps others from renewing', () => {
    title()
      .given([registered(1), lent('ada')])
      .when('allow-renewal', { member: 'ada' })
      .thenReply(null);
    title()
      .given([registered(1), lent('ada'), reserved('bob')])
      .when('allow-renewal', { member: 'ada' })
      .thenRefused({ code: 'CONFLICT', message: 'somebody waits for the book' });
  });

  test('is cancelled once', () => {
    title()
      .given([registered(1), lent('ada'), reserved('bob')])
      .when('cancel-reservation', { member: 'bob' })
      .thenEvents([{ type: 'reservation-ended', member: 'bob', lapsed: false }])
      .when('cancel-reservation', { member: 'bob' })
      .thenRefused({ code: 'NOT_FOUND', message: 'bob has no reservation' });
  });
});
