// The journals of deliveries: what a new one takes over, and when an old one goes.
import { expect, test } from 'vitest';
import { Segments } from '../../../webhooks/segments/segments.ts';
import { SEGMENT_MS } from '../../../webhooks/model/ids.ts';
import { DeliveriesUnderTest, TENANT, VIEWS_BEHIND_MS } from './deliveries-under-test.ts';

const DAY_MS = 86_400_000;

async function started(): Promise<DeliveriesUnderTest> {
  const deliveries = new DeliveriesUnderTest();
  deliveries.subscriptions.add('one');
  await deliveries.start();
  return deliveries;
}

/** Lets time pass without everything that happens in it. */
async function skip({ clock }: DeliveriesUnderTest, ms: number): Promise<void> {
  clock.set(ms);
  await clock.advance(0);
}

async function ids(deliveries: DeliveriesUnderTest, limit = 10): Promise<string[]> {
  const page = await deliveries.now.log.list(TENANT, { limit });
  if (!page.isOk) throw new Error(page.message);
  return page.value.entries.map(({ datasetId }) => datasetId!);
}

test('a new segment knows the sequence number and the status of a dataset of the one before', async () => {
  const deliveries = await started();
  const first = await deliveries.report('d1', { seq: 3 });
  await skip(deliveries, SEGMENT_MS);
  expect(await deliveries.report('d1', { seq: 3 })).toEqual(first);
  expect(await deliveries.report('d1', { seq: 2 })).toMatchObject({ code: 'CONFLICT' });
  expect(await deliveries.report('d1', { seq: 4 })).toMatchObject({ value: { eventId: null } });
  await skip(deliveries, SEGMENT_MS);
  expect(await deliveries.report('d1', { seq: 4 })).toMatchObject({ value: { eventId: null } });
  expect(await deliveries.report('d1', { seq: 5, status: 'SOLVING_FAILED' })).toMatchObject({
    value: { eventId: expect.stringMatching(/^evt_/) },
  });
  await deliveries.clock.advance(1_000);
  expect(deliveries.sent.map(({ eventType }) => eventType)).toEqual([
    'dataset.completed',
    'dataset.failed',
  ]);
  expect(deliveries.journals.size).toBe(3);
});

test('a clock that is set back reports to the newest segment, so that no event is made twice', async () => {
  const deliveries = await started();
  await skip(deliveries, 40 * DAY_MS);
  await deliveries.report('d1', { seq: 3 });
  await skip(deliveries, -40 * DAY_MS);
  expect(await deliveries.report('d1', { seq: 2 })).toMatchObject({ code: 'CONFLICT' });
  expect(deliveries.journals.size).toBe(1);
});

test('a start with deliveries that are ahead of the clock is logged, since they are kept longer', async () => {
  const deliveries = await started();
  await skip(deliveries, 40 * DAY_MS);
  await deliveries.report('d1');
  await skip(deliveries, -40 * DAY_MS);
  expect(deliveries.logged).toEqual([]);
  await deliveries.crash();
  await deliveries.start();
  expect(deliveries.logged.join()).toContain('warn the clock is behind deliveries that are stored');
});

test('the log is merged over segments, the newest entries first, page by page', async () => {
  const deliveries = await started();
  const expected: string[] = [];
  for (const day of [1, 2, 3]) {
    for (const index of [1, 2, 3]) {
      const id = `day${day}-${index}`;
      expected.unshift(id);
      await deliveries.report(id);
      await deliveries.clock.advance(10);
    }
    await skip(deliveries, SEGMENT_MS);
  }
  await deliveries.clock.advance(VIEWS_BEHIND_MS);
  expect(await ids(deliveries)).toEqual(expected);
  const found: string[] = [];
  let cursor: string | undefined;
  do {
    const page = await deliveries.now.log.list(TENANT, {
      limit: 2,
      ...(cursor !== undefined && { cursor }),
    });
    if (!page.isOk) throw new Error(page.message);
    expect(page.value.entries.length).toBeGreaterThan(0);
    found.push(...page.value.entries.map(({ datasetId }) => datasetId!));
    cursor = page.value.cursor;
    await deliveries.clock.advance(10);
  } while (cursor !== undefined && found.length < 20);
  expect(found).toEqual(expected);
});

test('W21: a delivery leaves the log thirty days after its event, and cannot be sent again', async () => {
  const deliveries = await started();
  await deliveries.report('d1');
  await deliveries.clock.advance(1_000);
  const [{ deliveryId }] = deliveries.sent as unknown as [{ deliveryId: string }];
  await skip(deliveries, 30 * DAY_MS - 2_000);
  expect(await ids(deliveries)).toEqual(['d1']);
  deliveries.answer = () => ({ status: 200, afterMs: 1_000 });
  expect(await deliveries.now.log.retry(TENANT, deliveryId)).toMatchObject({ isOk: true });
  // A run that is under way when the time is over goes on.
  expect(await deliveries.now.log.entry(TENANT, deliveryId)).toMatchObject({
    value: { outcome: 'pending' },
  });
  await skip(deliveries, 2_000);
  expect(await deliveries.now.log.entry(TENANT, deliveryId)).toMatchObject({ isOk: true });
  await deliveries.clock.advance(1_100);
  expect(deliveries.sent).toHaveLength(2);
  const refused = { isOk: false, code: 'NOT_FOUND' };
  expect(await deliveries.now.log.entry(TENANT, deliveryId)).toMatchObject(refused);
  expect(await deliveries.now.log.retry(TENANT, deliveryId)).toMatchObject(refused);
  expect(await ids(deliveries)).toEqual([]);
});

test('a run that is under way a day after its delivery has expired is ended', async () => {
  const deliveries = await started();
  deliveries.answer = () => ({ status: 500 });
  await deliveries.report('d1');
  await deliveries.clock.advance(1_000);
  await skip(deliveries, 31 * DAY_MS);
  await deliveries.clock.advance(20_000);
  expect(deliveries.sent).toHaveLength(1);
  await deliveries.clock.advance(300_000);
  expect(deliveries.sent).toHaveLength(1);
});

test('a segment is removed once its last delivery has left the log, after an hour in which the clocks agree', async () => {
  const deliveries = await started();
  await deliveries.report('d1');
  const [old] = deliveries.journals.keys();
  await skip(deliveries, 37 * DAY_MS);
  await deliveries.report('d2');
  await deliveries.clock.advance(3_700_000);
  // The clock was set in this hour.
  expect(deliveries.journals.has(old!)).toBe(true);
  await deliveries.clock.advance(3_600_000);
  expect([...deliveries.journals.keys()]).toEqual([old! + 7]);
  expect(await ids(deliveries)).toEqual(['d2']);
  expect(deliveries.logged).toEqual([
    `info deliveries were removed ${JSON.stringify({ segment: old })}`,
  ]);
});

test('an old segment that cannot be removed leaves the others alone, and is tried again', async () => {
  const deliveries = await started();
  await deliveries.report('d1');
  await skip(deliveries, SEGMENT_MS);
  await deliveries.report('d2');
  const [first, second] = deliveries.journals.keys();
  await skip(deliveries, 45 * DAY_MS);
  deliveries.unremovable.add(second!);
  await deliveries.clock.advance(7_300_000);
  expect([...deliveries.journals.keys()]).toEqual([second]);
  expect(deliveries.logged.join()).toContain(`old deliveries cannot be removed`);
  deliveries.unremovable.clear();
  await deliveries.clock.advance(3_600_000);
  expect([...deliveries.journals.keys()]).toEqual([]);
  expect(first).toBe(second! - 1);
});

test('a segment that cannot be opened stops the start, and the others are closed', async () => {
  const closed: number[] = [];
  const segments = new Segments({
    store: {
      list: () => Promise.resolve([1, 2, 3]),
      remove: () => Promise.resolve(),
      open: (number) =>
        number === 2
          ? Promise.reject(new Error('damaged'))
          : Promise.resolve({
              failure: new Promise(() => {}),
              stop: () => Promise.resolve(void closed.push(number)),
            } as never),
    },
    clock: new DeliveriesUnderTest().clock,
    log: () => {},
  });
  await expect(segments.start()).rejects.toThrow('damaged');
  expect(new Set(closed)).toEqual(new Set([1, 3]));
});

test('a cursor of long ago is refused, so that no page walks through what has left the log since', async () => {
  const deliveries = await started();
  for (const id of ['d1', 'd2']) await deliveries.report(id);
  await deliveries.clock.advance(VIEWS_BEHIND_MS);
  const page = await deliveries.now.log.list(TENANT, { limit: 1 });
  const cursor = page.isOk ? page.value.cursor! : '';
  await skip(deliveries, DAY_MS + 1_000);
  expect(await deliveries.now.log.list(TENANT, { limit: 1, cursor })).toMatchObject({
    code: 'BAD_REQUEST',
  });
});

test('the longest ids that the API takes are ids of datasets, and no two of them are the same one', async () => {
  const deliveries = await started();
  const [long, foreign] = ['x'.repeat(255), '\u4e2d'.repeat(255)];
  for (const id of [long, foreign, 'a/b', 'a%2Fb'])
    expect(await deliveries.report(id)).toMatchObject({
      value: { eventId: expect.stringMatching(/^evt_/) },
    });
});
