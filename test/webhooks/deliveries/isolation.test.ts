// Receivers that do not answer, and those of others beside them.
import { expect, test, vi } from 'vitest';
import { DeliveriesUnderTest } from './deliveries-under-test.ts';

test('W4: receivers that accept and stall do not delay one that answers', async () => {
  const deliveries = new DeliveriesUnderTest();
  for (let index = 0; index < 60; index++) deliveries.subscriptions.add(`dead${index}`);
  deliveries.subscriptions.add('healthy');
  deliveries.answer = ({ url }) =>
    url.includes('healthy') ? { status: 200, afterMs: 5 } : { error: 'timeout', afterMs: 5_000 };
  await deliveries.start();
  for (let index = 0; index < 6; index++) {
    await deliveries.report(`d${index}`);
    await deliveries.clock.advance(700);
  }
  const delays = deliveries.sent
    .filter(({ url }) => url.includes('healthy'))
    .map(({ atMs, body }) => {
      const { occurredAt } = JSON.parse(String(body)) as { occurredAt: string };
      return atMs - Date.parse(occurredAt);
    });
  expect(delays).toHaveLength(6);
  for (const delay of delays) expect(delay).toBeLessThan(100);
});

test('a receiver that answers slowly has as few attempts as one that does not answer', async () => {
  const deliveries = new DeliveriesUnderTest();
  deliveries.subscriptions.add('slow');
  deliveries.answer = () => ({ status: 200, afterMs: 4_000 });
  await deliveries.start();
  await deliveries.report('d0');
  await deliveries.clock.advance(5_000);
  for (let index = 1; index < 10; index++) await deliveries.report(`d${index}`);
  await deliveries.clock.advance(1_000);
  expect(deliveries.now.counts().underWay).toBe(2);
});

test('a subscription with a backlog is read from the journal in parts, and every delivery is made', async () => {
  const deliveries = new DeliveriesUnderTest({ idsMax: 10 });
  deliveries.subscriptions.add('one');
  let isAway = true;
  deliveries.answer = () =>
    isAway ? { error: 'timeout', afterMs: 5_000 } : { status: 200, afterMs: 1 };
  await deliveries.start();
  for (let index = 0; index < 40; index++) await deliveries.report(`d${index}`);
  await deliveries.clock.advance(1_000);
  expect(deliveries.now.counts().inMemory).toBe(10);
  isAway = false;
  await deliveries.clock.advance(40_000);
  const delivered = new Set(deliveries.sent.map(({ deliveryId }) => deliveryId));
  expect(delivered.size).toBe(40);
  expect(deliveries.now.counts()).toMatchObject({ underWay: 0, waiting: 0, inMemory: 0 });
});

test('beyond its backlog a subscription gets deliveries that are exhausted at once, and can be retried', async () => {
  const deliveries = new DeliveriesUnderTest({ backlogMax: 2 });
  deliveries.subscriptions.add('one');
  deliveries.answer = () => ({ status: 500 });
  await deliveries.start();
  for (const id of ['d1', 'd2', 'd3']) await deliveries.report(id);
  await deliveries.clock.advance(1_000);
  const page = await deliveries.now.log.list('acme', { limit: 10, outcome: 'exhausted' });
  if (!page.isOk) throw new Error(page.message);
  expect(page.value.entries).toMatchObject([
    { datasetId: 'd3', error: 'backlog_full', attempts: [] },
  ]);
  const [{ id }] = page.value.entries as unknown as [{ id: string }];
  expect(await deliveries.now.log.retry('acme', id)).toMatchObject({ isOk: true });
});

test('a tenant that reports more than its budget is refused, and another one is not', async () => {
  const deliveries = new DeliveriesUnderTest({ deliveriesPerSecondMax: 1, deliveriesBurstMax: 3 });
  deliveries.subscriptions.add('one');
  await deliveries.start();
  const codes: unknown[] = [];
  for (let index = 0; index < 5; index++) {
    const answer = await deliveries.report(`d${index}`);
    codes.push(answer.isOk || answer.code);
  }
  expect(codes).toEqual([true, true, true, 'TOO_MANY_REQUESTS', 'TOO_MANY_REQUESTS']);
  expect(await deliveries.report('d9', { status: 'SOLVING_ACTIVE' })).toMatchObject({ isOk: true });
  // A repeat and a report without a change cause no event.
  expect(await deliveries.report('d0')).toMatchObject({ isOk: true });
  expect(await deliveries.report('d0', { seq: 2 })).toMatchObject({ value: { eventId: null } });
  expect(await deliveries.report('d8')).toMatchObject({ details: { retryAfterS: 1 } });
  await deliveries.clock.advance(1_000);
  expect(await deliveries.report('d3')).toMatchObject({ isOk: true });
});

test('W16: searches and events that go to nobody take from the budget of their tenant, and beyond it nothing is searched', async () => {
  const deliveries = new DeliveriesUnderTest({ deliveriesPerSecondMax: 1, deliveriesBurstMax: 3 });
  const { subscriptions } = deliveries;
  const matching = vi.spyOn(subscriptions, 'matching');
  await deliveries.start();
  const codeOf = async (id: string): Promise<unknown> => {
    const answer = await deliveries.report(id);
    return answer.isOk || answer.code;
  };
  expect([await codeOf('a'), await codeOf('b'), await codeOf('c')]).toEqual([true, true, true]);
  expect(await codeOf('d')).toBe('TOO_MANY_REQUESTS');
  await deliveries.clock.advance(3_000);
  // As much as two deliveries, and one for the event.
  subscriptions.steps = 4_000;
  expect(await codeOf('e')).toBe(true);
  await deliveries.clock.advance(1_000);
  matching.mockClear();
  expect(await codeOf('f')).toBe('TOO_MANY_REQUESTS');
  expect(matching).not.toHaveBeenCalled();
});

test('W16: an event whose searches take more than a budget waits for a full one', async () => {
  const deliveries = new DeliveriesUnderTest({ deliveriesPerSecondMax: 1, deliveriesBurstMax: 3 });
  deliveries.subscriptions.add('one');
  deliveries.subscriptions.steps = 1_000_000;
  await deliveries.start();
  expect(await deliveries.report('a')).toMatchObject({ isOk: true });
  await deliveries.clock.advance(2_000);
  expect(await deliveries.report('b')).toMatchObject({ code: 'TOO_MANY_REQUESTS' });
  await deliveries.clock.advance(1_000);
  expect(await deliveries.report('b')).toMatchObject({ isOk: true });
  // Searches and deliveries that are more than a budget only together.
  deliveries.subscriptions.steps = 6_000;
  await deliveries.clock.advance(3_000);
  expect(await deliveries.report('c')).toMatchObject({ isOk: true });
});
