import { expect, onTestFinished, test } from 'vitest';
import type { Journal } from '../../../../../host/engine/needs/journal.ts';
import { ConsumerSettlements } from '../../../../../host/storage/postgres/consumers/consumer-settlements.ts';
import { unsettledKeys } from '../../../../../host/storage/postgres/consumers/unsettled-events.ts';
import type { ConsumerSettlement } from '../../../../../host/engine/needs/consumers.ts';
import type { EntityRef } from '../../../../../model/entity.ts';
import { eventKey } from '../../../../../model/event-key.ts';
import { append, recordOf } from '../../../../suites/journal-suite.ts';
import { StoredSlices } from '../stored-slices.ts';

const LEDGER = { id: 'ledger', start: 'beginning' } as const;
const cart: EntityRef = { component: 'Cart', id: 'my cart/1 %' };
const key = (seq: number, consumer = 'ledger', entity = cart) =>
  `${eventKey({ consumer, entity, seq })}.book.1`;

/** A journal with three records of the cart, of which the consumer has settled one. */
async function opened() {
  const stored = await StoredSlices.open();
  const writer = new ConsumerSettlements(stored.session(), async () => {});
  const session = await stored.connect();
  onTestFinished(async () => {
    await writer.close();
    await session.close();
    await stored.discard();
  });
  const store = (...seqs: readonly number[]) =>
    append(stored as unknown as Journal, cart, ...seqs.map((seq) => recordOf(seq)));
  expect(await store(1)).toBeUndefined();
  const position = stored.positions.end();
  expect(await store(2, 3)).toBeUndefined();
  const settle = (settlement: Partial<ConsumerSettlement>) =>
    writer.settleConsumer(LEDGER, { position, lanes: [], rejoined: [], ...settlement });
  const unsettled = async (...keys: readonly string[]) => [...(await unsettledKeys(session, keys))];
  return { stored, settle, unsettled };
}

test('an event after the position of its consumer is not settled', async () => {
  const { settle, unsettled, stored } = await opened();
  await settle({});
  expect(await unsettled(key(1), key(2), key(3))).toEqual([key(2), key(3)]);
  await settle({ position: stored.positions.start });
  expect(await unsettled(key(1))).toEqual([key(1)]);
  await settle({ position: stored.positions.end() });
  expect(await unsettled(key(1), key(2), key(3))).toEqual([]);
});

test('an event that waits in a lane is not settled, nor are those after it', async () => {
  const { settle, unsettled, stored } = await opened();
  const lane = {
    entity: cart,
    seq: 2,
    attempts: 1,
    round: 0,
    nextMs: undefined,
    reason: undefined,
  };
  await settle({ position: stored.positions.end(), lanes: [lane] });
  expect(await unsettled(key(1), key(2), key(3))).toEqual([key(2), key(3)]);
  await settle({ position: stored.positions.end(), rejoined: [cart] });
  expect(await unsettled(key(1), key(2), key(3))).toEqual([]);
});

test('nobody waits for the event of a consumer that does not exist, or that is not stored', async () => {
  const { settle, unsettled } = await opened();
  expect(await unsettled(key(2))).toEqual([]);
  await settle({});
  expect(
    await unsettled(key(2, 'mailer'), key(9), key(1, 'ledger', { ...cart, id: 'other' })),
  ).toEqual([]);
});

test('keys that are of no event are settled, whatever they are', async () => {
  const { settle, unsettled } = await opened();
  await settle({});
  const odd = `event ledger Cart ${'9'.repeat(30)} my cart/1 %.book.1`;
  expect(await unsettled('k', '', 'event ', odd, key(2), "'; --")).toEqual([key(2)]);
  expect(await unsettled()).toEqual([]);
});
