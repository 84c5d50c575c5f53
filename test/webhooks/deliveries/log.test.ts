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
  const bytes = Buffer.from(cursor, 'base64url');
  const [segment, since] = bytes.subarray(16).toString().split(' ');
  const positions = [`${segment} ${since} `, `${segment} 0 `, '1 2', '', 'x', 'A'.repeat(5_000)];
  const forged = positions.flatMap((text) => {
    const position = Buffer.from(text);
    const codes = [bytes.subarray(0, 16), Buffer.alloc(16), Buffer.alloc(0)];
    return codes.map((code) => Buffer.concat([code, position]).toString('base64url'));
  });
  for (const text of forged.concat('', `${cursor}=`, `${cursor}!`)) {
    const refused = await deliveries.now.log.list(TENANT, { limit: 1, cursor: text });
    expect([text, refused.isOk || refused.code]).toEqual([text, 'BAD_REQUEST']);
  }
  const refused = { code: 'BAD_REQUEST' };
  const other = { limit: 1, cursor, outcome: 'delivered' as const };
  expect(await deliveries.now.log.list(TENANT, other)).toMatchObject(refused);
  expect(await deliveries.now.log.list('other', { limit: 1, cursor })).toMatchObject(refused);
  const next = await deliveries.now.log.list(TENANT, { limit: 1, cursor });
  expect(next).toMatchObject({ value: { entries: [{ datasetId: 'd2' }] } });
});

test('a page whose entries have expired since its cursor ends the walk, however many there are', async () => {
  const deliveries = await withThree();
  deliveries.clock.set(30 * 86_400_000 - 2_000);
  const page = await deliveries.now.log.list(TENANT, { limit: 1 });
  const cursor = page.isOk ? page.value.cursor! : '';
  expect(deliveries.logReads).toHaveLength(1);
  deliveries.clock.set(2_000);
  expect(await deliveries.now.log.list(TENANT, { limit: 1, cursor })).toMatchObject({
    value: { entries: [], cursor: undefined },
  });
  expect(deliveries.logReads).toHaveLength(2);
});

test('what an administrator sends again is pending on the next page, and nobody waits for the views of others', async () => {
  const deliveries = await withThree();
  const [{ deliveryId }] = deliveries.sent as unknown as [{ deliveryId: string }];
  await deliveries.now.log.list(TENANT, { limit: 1 });
  expect(await deliveries.now.log.retry(TENANT, deliveryId)).toMatchObject({ isOk: true });
  expect(await found(deliveries, { outcome: 'pending' })).toHaveLength(1);
  await deliveries.now.log.list('other', { limit: 1 });
  const waits = deliveries.logReads.map((after) => after !== undefined);
  expect(waits).toEqual([false, true, false]);
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
