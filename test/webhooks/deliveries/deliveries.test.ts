// From the report of a dataset to the answer of a receiver.
import { expect, test } from 'vitest';
import { reported } from '../reported-dataset.ts';
import { DeliveriesUnderTest, TENANT, VIEWS_BEHIND_MS } from './deliveries-under-test.ts';

test('an event goes to each subscription that matches, with the body that the log shows', async () => {
  const deliveries = new DeliveriesUnderTest();
  deliveries.subscriptions.add('one');
  deliveries.subscriptions.add('two');
  deliveries.subscriptions.add('other', undefined, { events: ['dataset.failed'] });
  await deliveries.start();
  const answer = await deliveries.report('d1');
  expect(answer).toMatchObject({
    isOk: true,
    value: { eventId: expect.stringMatching(/^evt_[a-z2-7]{26}$/) },
  });
  await deliveries.clock.until(() => deliveries.sent.length === 2);
  const [first, second] = deliveries.sent;
  expect(new Set([first!.url, second!.url])).toEqual(
    new Set(['http://one.example/hook', 'http://two.example/hook']),
  );
  const body = JSON.parse(String(first!.body)) as unknown;
  expect(body).toEqual({
    id: answer.isOk && answer.value.eventId,
    type: 'dataset.completed',
    occurredAt: '2030-01-01T00:00:00.000Z',
    tenant: TENANT,
    data: { id: 'd1', ...reported() },
  });
  await deliveries.clock.advance(VIEWS_BEHIND_MS);
  const log = await deliveries.now.log.list(TENANT, { limit: 10 });
  if (!log.isOk) throw new Error(log.message);
  expect(log.value.entries).toHaveLength(2);
  expect(log.value.entries[0]).toMatchObject({
    outcome: 'delivered',
    attempts: [{ run: 1, number: 1, status: 200 }],
  });
  const entry = await deliveries.now.log.entry(TENANT, first!.deliveryId);
  expect(entry).toMatchObject({ isOk: true, value: { body: String(first!.body) } });
});
