// The entity of a delivery, which refuses what a sender must not do, whatever the sender believes.
import { expect, onTestFinished, test } from 'vitest';
import { createService } from '@svc/host';
import { SeededRandom, VirtualClock } from '@svc/host/testing';
import { delivery } from '../../../webhooks/model/delivery.ts';

const URL_OF_HOOK = 'https://receiver.example/hook';
const FAILED = { isDelivered: false, status: 500, error: null, durationMs: 20 };
const NOT_BEGUN = { isOk: true, value: { hasBegun: false } };
const BEGUN = { isOk: true, value: { hasBegun: true, next: null } };

async function opened() {
  const clock = new VirtualClock(Date.UTC(2030, 0, 1));
  const service = await createService({
    name: 'deliveries',
    entities: [delivery],
    journal: 'memory',
    http: false,
    log: 'none',
    testing: { clock, random: new SeededRandom(1n) },
  });
  onTestFinished(() => service.stop(0));
  const entity = service.call(delivery, 'dl_1');
  await entity.open({
    about: {
      tenant: 'acme',
      subscription: 'wh_1',
      eventId: 'evt_1',
      eventType: 'dataset.completed',
      dataset: 'd1',
      occurredAtMs: clock.nowMs(),
      source: { entity: 'dataset', id: 'acme/d1', seq: 1 },
    },
    url: URL_OF_HOOK,
    isBacklogFull: false,
  });
  const begin = (run: number, number: number) => entity.begin({ run, number, url: URL_OF_HOOK });
  return { clock, entity, begin };
}

test('an attempt begins neither before its time, nor for another number, nor while one is under way', async () => {
  const { clock, entity, begin } = await opened();
  expect(await begin(1, 2)).toMatchObject(NOT_BEGUN);
  expect(await begin(2, 1)).toMatchObject(NOT_BEGUN);
  expect(await begin(1, 1)).toMatchObject(BEGUN);
  expect(await begin(1, 1)).toMatchObject(NOT_BEGUN);
  expect(await begin(1, 2)).toMatchObject({
    value: { hasBegun: false, next: { run: 1, number: 2, dueAtMs: clock.nowMs() + 15_000 } },
  });
  await entity.end({ run: 1, number: 1, ...FAILED });
  await clock.advance(9_999);
  expect(await begin(1, 2)).toMatchObject(NOT_BEGUN);
  await clock.advance(1);
  expect(await begin(1, 2)).toMatchObject(BEGUN);
});

test('an attempt whose end comes after it was interrupted changes nothing', async () => {
  const { clock, entity, begin } = await opened();
  await begin(1, 1);
  await clock.advance(15_000);
  expect(await begin(1, 2)).toMatchObject(BEGUN);
  expect(
    await entity.end({ run: 1, number: 1, ...FAILED, isDelivered: true, status: 200 }),
  ).toMatchObject({
    value: { run: 1, number: 3 },
  });
  expect(await entity.entry()).toMatchObject({
    value: {
      outcome: 'pending',
      attempts: [{ number: 1, error: 'interrupted', durationMs: null }],
    },
  });
});

test('a clock that is set back lets no other sender begin the next attempt while one is under way', async () => {
  const { clock, entity, begin } = await opened();
  await begin(1, 1);
  clock.set(-3_000);
  expect(await begin(1, 2)).toMatchObject({
    value: { hasBegun: false, next: { number: 2, dueAtMs: clock.nowMs() + 15_000 } },
  });
  await clock.advance(14_999);
  expect(await begin(1, 2)).toMatchObject(NOT_BEGUN);
  await clock.advance(1);
  expect(await begin(1, 2)).toMatchObject(BEGUN);
  expect(await entity.entry()).toMatchObject({
    value: { attempts: [{ number: 1, error: 'interrupted' }] },
  });
});

test('a retry that is repeated has the answer of the first time, and begins no further run', async () => {
  const { entity, begin } = await opened();
  await begin(1, 1);
  await entity.end({ run: 1, number: 1, ...FAILED, isDelivered: true, status: 200 });
  const request = { request: 'first' };
  expect(await entity.retry(request)).toMatchObject({ value: { next: { run: 2, number: 1 } } });
  expect(await entity.retry(request)).toMatchObject({
    value: { next: null, entry: { outcome: 'pending' } },
  });
  expect(await entity.retry({ request: 'other' })).toMatchObject({ code: 'CONFLICT' });
  expect(await entity.retry({})).toMatchObject({ code: 'CONFLICT' });
  expect(await begin(2, 1)).toMatchObject(BEGUN);
});

test('a delivery that is opened twice is the first one', async () => {
  const { entity, begin } = await opened();
  await begin(1, 1);
  const about = await entity.about();
  if (!about.isOk || about.value === null) throw new Error('it was not opened');
  const again = { about: about.value, url: 'https://other.example/', isBacklogFull: true };
  expect(await entity.open(again)).toMatchObject({ value: { run: 1, number: 2 } });
  expect(await entity.entry()).toMatchObject({ value: { url: URL_OF_HOOK, outcome: 'pending' } });
});

test('a delivery that nobody has opened is none', async () => {
  const clock = new VirtualClock();
  const service = await createService({
    name: 'deliveries',
    entities: [delivery],
    journal: 'memory',
    http: false,
    log: 'none',
    testing: { clock },
  });
  onTestFinished(() => service.stop(0));
  const entity = service.call(delivery, 'dl_2');
  const refused = { isOk: false, code: 'NOT_FOUND' };
  expect(await entity.entry()).toMatchObject(refused);
  expect(await entity.retry({})).toMatchObject(refused);
  expect(await entity.begin({ run: 1, number: 1, url: URL_OF_HOOK })).toMatchObject(refused);
  expect(await entity.close({ error: 'subscription_deleted' })).toMatchObject(refused);
  expect(await entity.about()).toMatchObject({ value: null });
});
