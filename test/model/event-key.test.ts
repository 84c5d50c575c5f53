import { expect, test } from 'vitest';
import { idempotencyKeyProblem } from '../../host/engine/entity/idempotency.ts';
import { RequestKeys } from '../../host/http/requests/request-keys.ts';
import {
  eventKey,
  eventOfKey,
  isEventKey,
  roundSuffix,
  withoutRound,
} from '../../model/event-key.ts';

test.each(['o1', 'a b.c.4', '.', '漢 🎉', "'; --", '1 2 3'])(
  'the event of a call is read back from its key, for the entity %o',
  (id) => {
    const event = { consumer: 'ledger', entity: { component: 'order', id }, seq: 2 ** 40 };
    const key = new RequestKeys(eventKey(event)).next({ component: 'x', id: 'y' }, 'book');
    expect(isEventKey(key)).toBe(true);
    expect(eventOfKey(key)).toEqual(event);
    for (const round of [0, 1, 2 ** 40]) {
      const keys = new RequestKeys(eventKey(event), roundSuffix(round));
      const sent = keys.next({ component: 'x', id: 'y' }, 'book');
      expect(withoutRound(sent)).toEqual({ key, round });
    }
  },
);

test.each(['k', 'a.b 7', '', 'event/ledger/order/1/o.book.1'])(
  'a key that is not of an event has no round, such as %o',
  (key) => expect(withoutRound(key)).toEqual({ key, round: 0 }),
);

test('no key from outside is that of an event', () => {
  const key = eventKey({ consumer: 'c', entity: { component: 'e', id: 'i' }, seq: 1 });
  expect(idempotencyKeyProblem(`${key}.book.1`)).toBeDefined();
  expect(eventOfKey('event/ledger/order/1/o.book.1')).toBeUndefined();
});
