// The log: its filters, cursors, and the deliveries that it does not show.
import { expect, test } from 'vitest';
import type { LogQuery } from '../../../webhooks/log/delivery-log.ts';
import { DeliveriesUnderTest, TENANT } from './deliveries-under-test.ts';

async function found(deliveries: DeliveriesUnderTest, query: Partial<LogQuery>): Promise<string[]> {
  const page = await deliveries.now.log.list(TENANT, { limit: 50, ...query });
  if (!page.isOk) throw new Error(page.message);
  return page.value.entries.map(
    ({ datasetId, subscriptionId, outcome }) => `${datasetId} ${subscriptionId} ${outcome}`,
  );
}

test('each filter finds its deliveries, the newest first', async () => {
  const deliveries = new DeliveriesUnderTest();
  for (const id of ['good', 'bad']) deliveries.subscriptions.add(id);
  deliveries.answer = ({ url }) => ({ status: url.includes('good') ? 200 : 500 });
  await deliveries.start();
  const first = await deliveries.report('d1');
  await deliveries.clock.advance(300_000);
  await deliveries.report('d2');
  await deliveries.clock.advance(1_000);
  const sorted = async (query: Partial<LogQuery>) => (await found(deliveries, query)).toSorted();
  expect(await sorted({})).toEqual([
    'd1 bad exhausted',
    'd1 good delivered',
    'd2 bad pending',
    'd2 good delivered',
  ]);
  expect(await found(deliveries, { outcome: 'delivered' })).toEqual([
    'd2 good delivered',
    'd1 good delivered',
  ]);
  expect(await found(deliveries, { outcome: 'pending' })).toEqual(['d2 bad pending']);
  expect(await found(deliveries, { subscription: 'bad' })).toEqual([
    'd2 bad pending',
    'd1 bad exhausted',
  ]);
  expect(await found(deliveries, { subscription: 'bad', outcome: 'exhausted' })).toEqual([
    'd1 bad exhausted',
  ]);
  expect(await sorted({ dataset: 'd2' })).toEqual(['d2 bad pending', 'd2 good delivered']);
  const eventId = first.isOk ? first.value.eventId! : '';
  expect(await sorted({ eventId })).toEqual(['d1 bad exhausted', 'd1 good delivered']);
  expect(await found(deliveries, { dataset: 'none' })).toEqual([]);
});

async function withThree(): Promise<DeliveriesUnderTest> {
  const deliveries = new DeliveriesUnderTest();
  deliveries.subscriptions.add('one');
  await deliveries.start();
  for (const id of ['d1', 'd2', 'd3']) await deliveries.report(id);
  await deliveries.clock.advance(1_000);
  return deliveries;
}

test('a cursor that no page had is refused, whatever it is', async () => {
  const deliveries = await withThree();
  const page = await deliveries.now.log.list(TENANT, { limit: 1 });
  const cursor = page.isOk ? page.value.cursor! : '';
  const [segment, since] = Buffer.from(cursor, 'base64url').toString().split(' ');
  const parts = `${segment} ${since}`;
  const wrong = ['x', '', '5', '1 2', `${segment} x`, '99999999 1 x'];
  const ahead = Number(since) + 1;
  const longAgo = [`${segment} 0 `, `${segment} ${ahead} `, `${Number(segment) + 1} ${since} `];
  const forged = wrong.concat(longAgo, `0${parts} `, `${parts} x`, `${parts} ${'A'.repeat(5_000)}`);
  for (const text of forged) {
    const given = Buffer.from(text).toString('base64url');
    const refused = await deliveries.now.log.list(TENANT, { limit: 1, cursor: given });
    expect([text, refused.isOk || refused.code]).toEqual([text, 'BAD_REQUEST']);
  }
  const other = { limit: 1, cursor, outcome: 'delivered' as const };
  expect(await deliveries.now.log.list(TENANT, other)).toMatchObject({ code: 'BAD_REQUEST' });
});

test('W22: another tenant sees nothing of a delivery', async () => {
  const deliveries = await withThree();
  const [{ deliveryId }] = deliveries.sent as unknown as [{ deliveryId: string }];
  expect(await deliveries.now.log.list('other', { limit: 50 })).toMatchObject({
    value: { entries: [] },
  });
  const refused = { isOk: false, code: 'NOT_FOUND', message: 'there is no such delivery' };
  expect(await deliveries.now.log.entry('other', deliveryId)).toMatchObject(refused);
  for (const id of ['', 'dl_1_x', `dl_999999_${'a'.repeat(26)}`, deliveryId.replace(/.$/, '7')])
    expect(await deliveries.now.log.entry(TENANT, id)).toMatchObject(refused);
});
