// When attempts are made: the schedule, interruptions, crashes, runs that an administrator asks for, and what ends a run.
import { expect, test } from 'vitest';
import { SvcError } from '@svc/kit/svc-error';
import { DeliveriesUnderTest, TENANT } from './deliveries-under-test.ts';

async function withOne(answer: DeliveriesUnderTest['answer']): Promise<DeliveriesUnderTest> {
  const deliveries = new DeliveriesUnderTest();
  deliveries.subscriptions.add('one');
  deliveries.answer = answer;
  await deliveries.start();
  return deliveries;
}

async function onlyEntry(deliveries: DeliveriesUnderTest) {
  const page = await deliveries.now.log.list(TENANT, { limit: 10 });
  if (!page.isOk) throw new Error(page.message);
  expect(page.value.entries).toHaveLength(1);
  return page.value.entries[0]!;
}

function pauses(deliveries: DeliveriesUnderTest): number[] {
  return deliveries.sent.slice(1).map(({ atMs }, index) => atMs - deliveries.sent[index]!.atMs);
}

test('W9: eleven attempts at most, each ten seconds after the end of the one before', async () => {
  const deliveries = await withOne(() => ({ status: 503, afterMs: 2_000 }));
  await deliveries.report('d1');
  await deliveries.clock.advance(300_000);
  expect(deliveries.sent).toHaveLength(11);
  for (const pause of pauses(deliveries)) {
    expect(pause).toBeGreaterThanOrEqual(12_000);
    expect(pause).toBeLessThan(12_100);
  }
  const entry = await onlyEntry(deliveries);
  expect(entry).toMatchObject({ outcome: 'exhausted', error: null, nextAttemptAt: null });
  expect(entry.attempts.map(({ number }) => number)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
  expect(entry.attempts[0]).toMatchObject({ run: 1, status: 503, durationMs: 2_000 });
  expect(
    new Set(deliveries.sent.map(({ deliveryId, body }) => `${deliveryId} ${String(body)}`)).size,
  ).toBe(1);
});

test('W9: a crash in the middle keeps the times of the attempts', async () => {
  const deliveries = await withOne(() => ({ status: 500 }));
  await deliveries.report('d1');
  await deliveries.clock.advance(14_000);
  expect(deliveries.sent).toHaveLength(2);
  await deliveries.crash();
  await deliveries.start();
  await deliveries.clock.advance(5_900);
  expect(deliveries.sent).toHaveLength(2);
  await deliveries.clock.advance(300_000);
  expect(deliveries.sent).toHaveLength(11);
  for (const pause of pauses(deliveries)) expect(pause).toBeGreaterThanOrEqual(10_000);
});

test('W1: after a crash between the request and its result the delivery is made again, and the log shows the first attempt as interrupted', async () => {
  let isStuck = true;
  const deliveries = await withOne(() => ({ status: 200, afterMs: isStuck ? 4_000 : 0 }));
  await deliveries.report('d1');
  await deliveries.clock.advance(1_000);
  expect(deliveries.sent).toHaveLength(1);
  await deliveries.crash();
  isStuck = false;
  await deliveries.start();
  await deliveries.clock.advance(13_000);
  expect(deliveries.sent).toHaveLength(1);
  await deliveries.clock.advance(2_000);
  expect(deliveries.sent).toHaveLength(2);
  expect(deliveries.sent[1]).toMatchObject({ deliveryId: deliveries.sent[0]!.deliveryId });
  expect(String(deliveries.sent[1]!.body)).toBe(String(deliveries.sent[0]!.body));
  const { outcome, attempts } = await onlyEntry(deliveries);
  expect(outcome).toBe('delivered');
  expect(attempts).toMatchObject([
    { number: 1, status: null, error: 'interrupted', durationMs: null },
    { number: 2, status: 200, error: null },
  ]);
});

test('an attempt counts ten seconds ahead at most when the clock was set back', async () => {
  const deliveries = await withOne(() => ({ status: 500 }));
  await deliveries.report('d1');
  await deliveries.clock.advance(1_000);
  deliveries.clock.set(-3_600_000);
  await deliveries.crash();
  await deliveries.start();
  await deliveries.clock.advance(8_000);
  expect(deliveries.sent).toHaveLength(1);
  await deliveries.clock.advance(8_000);
  expect(deliveries.sent).toHaveLength(2);
});

test('W20: a delivery is sent again by its administrator once it is not pending, and old attempts stay', async () => {
  let status = 500;
  const deliveries = await withOne(() => ({ status }));
  await deliveries.report('d1');
  await deliveries.clock.advance(1_000);
  const { id } = await onlyEntry(deliveries);
  const { log } = deliveries.now;
  expect(await log.retry(TENANT, id)).toMatchObject({ isOk: false, code: 'CONFLICT' });
  await deliveries.clock.advance(200_000);
  expect((await onlyEntry(deliveries)).outcome).toBe('exhausted');
  status = 200;
  const twice = await Promise.all([log.retry(TENANT, id), log.retry(TENANT, id)]);
  expect(twice.filter(({ isOk }) => isOk)).toHaveLength(1);
  expect(twice.find(({ isOk }) => isOk)).toMatchObject({ value: { id, outcome: 'pending' } });
  await deliveries.clock.advance(1_000);
  const { outcome, attempts } = await onlyEntry(deliveries);
  expect([outcome, attempts.length]).toEqual(['delivered', 12]);
  expect(attempts.at(-1)).toMatchObject({ run: 2, number: 1, status: 200 });
  expect(await log.retry(TENANT, id)).toMatchObject({ isOk: true });
  deliveries.subscriptions.all.clear();
  await deliveries.clock.advance(1_000);
  expect(await log.retry(TENANT, id)).toMatchObject({ isOk: false, code: 'CONFLICT' });
  expect(await log.retry('other', id)).toMatchObject({ isOk: false, code: 'NOT_FOUND' });
});

test('a delivery has twenty runs at most', async () => {
  const deliveries = await withOne(() => ({ status: 200 }));
  await deliveries.report('d1');
  await deliveries.clock.advance(100);
  const { id } = await onlyEntry(deliveries);
  for (let run = 2; run <= 20; run++) {
    expect(await deliveries.now.log.retry(TENANT, id)).toMatchObject({ isOk: true });
    await deliveries.clock.advance(100);
  }
  expect(await deliveries.now.log.retry(TENANT, id)).toMatchObject({
    isOk: false,
    code: 'CONFLICT',
    message: expect.stringContaining('20 runs'),
  });
  expect(deliveries.sent).toHaveLength(20);
});

test('a deleted subscription ends its pending deliveries when they are due, without a request or a notice', async () => {
  const deliveries = await withOne(() => ({ status: 500 }));
  deliveries.subscriptions.add('listener', undefined, { events: ['webhook.failing'] });
  await deliveries.report('d1');
  await deliveries.clock.advance(1_000);
  deliveries.subscriptions.all.delete('one');
  await deliveries.clock.advance(20_000);
  expect(deliveries.sent).toHaveLength(1);
  expect(await onlyEntry(deliveries)).toMatchObject({
    outcome: 'exhausted',
    error: 'subscription_deleted',
    nextAttemptAt: null,
  });
});

test('each attempt takes URL, headers and secret of the subscription as they are then', async () => {
  const deliveries = await withOne(() => ({ status: 500 }));
  await deliveries.report('d1');
  await deliveries.clock.advance(1_000);
  const previous = { secret: 'secret of one', untilMs: deliveries.clock.nowMs() + 15_000 };
  const changed = { secret: 'another', previous, headers: { 'x-a': 'b' } };
  deliveries.subscriptions.add('one', 'https://elsewhere.example/', changed);
  await deliveries.clock.advance(20_000);
  expect(deliveries.sent).toMatchObject([
    { url: 'http://one.example/hook', secret: 'secret of one', headers: {} },
    { url: 'https://elsewhere.example/', secret: 'another', previousSecret: 'secret of one' },
    { url: 'https://elsewhere.example/', secret: 'another', headers: { 'x-a': 'b' } },
  ]);
  expect(deliveries.sent[2]).not.toHaveProperty('previousSecret');
  expect((await onlyEntry(deliveries)).url).toBe('https://elsewhere.example/');
});

test('W19: an exhausted delivery is noticed to the others that listen, and an exhausted notice to nobody', async () => {
  const deliveries = await withOne(() => ({ error: 'timeout', afterMs: 5_000 }));
  deliveries.subscriptions.add('listener', undefined, { events: ['webhook.failing'] });
  await deliveries.report('d1');
  await deliveries.clock.advance(600_000);
  const notices = deliveries.sent.filter(({ eventType }) => eventType === 'webhook.failing');
  expect(notices).toHaveLength(11);
  const [first] = deliveries.sent;
  const { data, ...envelope } = JSON.parse(String(notices[0]!.body)) as Record<string, unknown>;
  expect(envelope).toMatchObject({ type: 'webhook.failing', tenant: TENANT });
  expect(data).toEqual({
    subscriptionId: 'one',
    url: 'http://one.example/hook',
    eventId: (JSON.parse(String(first!.body)) as { id: string }).id,
    eventType: 'dataset.completed',
    deliveryId: first!.deliveryId,
    lastStatus: null,
    lastError: 'timeout',
    exhaustedAt: envelope['occurredAt'],
  });
  expect(deliveries.subscriptions.asked.map(({ subscriptionId }) => subscriptionId)).toEqual([
    'one',
  ]);
});

test('W3: two senders on one journal make each attempt once, and their numbers have no gap', async () => {
  const deliveries = await withOne(() => ({ status: 500, afterMs: 100 }));
  await Promise.all(Array.from({ length: 50 }, (_, index) => deliveries.report(`d${index}`)));
  await deliveries.startAnother();
  await deliveries.clock.advance(300_000);
  const numbers = Array.from({ length: 11 }, (_, index) => index + 1);
  const page = await deliveries.now.log.list(TENANT, { limit: 250 });
  if (!page.isOk) throw new Error(page.message);
  expect(page.value.entries).toHaveLength(50);
  for (const { attempts } of page.value.entries)
    expect(attempts.map(({ number, error }) => [number, error])).toEqual(
      numbers.map((number) => [number, null]),
    );
  expect(deliveries.sent).toHaveLength(550);
});

test('W2, W18: a report that is repeated is one event, and a lower seq or another content is refused', async () => {
  const deliveries = await withOne(() => ({ status: 200 }));
  const first = await deliveries.report('d1', { seq: 5 });
  expect(await deliveries.report('d1', { seq: 5 })).toEqual(first);
  await deliveries.crash();
  await deliveries.start();
  expect(await deliveries.report('d1', { seq: 5 })).toEqual(first);
  expect(await deliveries.report('d1', { seq: 4 })).toMatchObject({ code: 'CONFLICT' });
  expect(await deliveries.report('d1', { seq: 5, name: 'other' })).toMatchObject({
    code: 'CONFLICT',
  });
  expect(await deliveries.report('d1', { seq: 6 })).toMatchObject({ value: { eventId: null } });
  expect(await deliveries.report('d1', { seq: 7, status: 'SOLVING_ACTIVE' })).toMatchObject({
    value: { eventId: null },
  });
  await deliveries.clock.advance(60_000);
  expect(deliveries.sent).toHaveLength(1);
  expect((await onlyEntry(deliveries)).attempts).toHaveLength(1);
});

test('attempts that cannot be made are reported once a minute, and made once they can be', async () => {
  const deliveries = await withOne(() => ({ status: 200 }));
  const find = deliveries.subscriptions.find.bind(deliveries.subscriptions);
  deliveries.subscriptions.find = () =>
    Promise.reject(new SvcError('SVC_SUBSCRIPTION_UNREADABLE', 'Its salt is missing.'));
  for (const id of ['d1', 'd2', 'd3']) await deliveries.report(id);
  await deliveries.clock.advance(50_000);
  expect(deliveries.logged).toEqual([expect.stringMatching(/^warn .*SVC_SUBSCRIPTION_UNREADABLE/)]);
  expect(deliveries.sent).toEqual([]);
  deliveries.subscriptions.find = find;
  await deliveries.clock.advance(20_000);
  expect(deliveries.sent).toHaveLength(3);
});
