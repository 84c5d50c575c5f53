// W19, the part of the tenant: how often others are told of a subscription that fails.
import { expect, test } from 'vitest';
import { TestJournal } from '@svc/host/testing';
import { FAILING_PAUSE_MS } from '../../../webhooks/model/failing-grants.ts';
import { tenant } from '../../../webhooks/model/tenant.ts';
import {
  type SubscriptionsUnderTest,
  accepted,
  ownFolder,
  startSubscriptions,
} from '../subscriptions/subscriptions-under-test.ts';

const url = 'https://receiver.example/hook';

/** As it is stored; nobody opens it. */
const LISTENER = { id: 'wh_late', digest: '', sealed: '', events: ['webhook.failing'] };

interface Failing extends SubscriptionsUnderTest {
  readonly failing: string;
  readonly listener: string;
  readonly grant: (deliveryId: string, run?: number, atMs?: number) => Promise<boolean>;
}

/** A subscription that fails, and one that listens. */
async function withListener(
  options: Parameters<typeof startSubscriptions>[0] = {},
): Promise<Failing> {
  const started = await startSubscriptions(options);
  const { call, flows, subscriptions, clock } = started;
  const events = ['dataset.*', 'webhook.failing'];
  const failing = accepted(await flows.create(call, 'acme', { url, events })).id;
  const listener = accepted(await flows.create(call, 'acme', { url, events })).id;
  const grant = (deliveryId: string, run = 1, atMs = clock.nowMs()) =>
    subscriptions.grantFailing('acme', { subscriptionId: failing, deliveryId, run, atMs });
  return { ...started, failing, listener, grant };
}

test('W19: one of two exhaustions in the same millisecond has the others told', async () => {
  const { call, grant } = await withListener();
  const answers = await Promise.all([grant('d1'), grant('d2')]);
  expect(answers).toEqual([true, false]);
  expect(await call(tenant, 'acme').events()).toHaveLength(3);
});

test('W19: a question that is repeated gets the same answer, also later', async () => {
  const { grant, clock } = await withListener();
  const firstMs = clock.nowMs();
  expect(await grant('d1', 1, firstMs)).toBe(true);
  expect(await grant('d1', 1, firstMs)).toBe(true);
  expect(await grant('d1', 2, firstMs)).toBe(false);
  await clock.advance(FAILING_PAUSE_MS);
  expect(await grant('d3')).toBe(true);
  expect(await grant('d1', 1, firstMs)).toBe(true);
  // It was refused, and its time is still within two hours of the first one.
  expect(await grant('d2', 1, firstMs + 1)).toBe(false);
});

test('W19: two hours after the last notice there may be another one, and not before', async () => {
  const { grant, clock } = await withListener();
  expect(await grant('d1')).toBe(true);
  await clock.advance(FAILING_PAUSE_MS - 1);
  expect(await grant('d2')).toBe(false);
  await clock.advance(1);
  expect(await grant('d3')).toBe(true);
  expect(await grant('d4')).toBe(false);
});

test('W19: a restart within two hours does not bring another notice', async () => {
  const journal = new TestJournal();
  const folder = await ownFolder();
  const before = await withListener({ journal, folder });
  expect(await before.grant('d1')).toBe(true);
  journal.crash();
  await before.service.stop();
  const { subscriptions, clock } = await startSubscriptions({
    journal,
    folder,
    clock: before.clock,
  });
  const ask = (deliveryId: string) =>
    subscriptions.grantFailing('acme', {
      subscriptionId: before.failing,
      deliveryId,
      run: 1,
      atMs: clock.nowMs(),
    });
  expect(await ask('d2')).toBe(false);
  expect(await ask('d1')).toBe(true);
});

test('W19: nobody is told if no other subscription listens, and the two hours do not begin', async () => {
  const { call, flows, grant, listener, clock } = await withListener();
  accepted(await flows.patch(call, 'acme', listener, { events: ['dataset.*'] }));
  expect(await grant('d1')).toBe(false);
  await clock.advance(10);
  // One that was created after the exhaustion does not count.
  const exhaustedMs = clock.nowMs() - 1;
  accepted(await flows.create(call, 'acme', { url, events: ['webhook.failing'] }));
  expect(await grant('d2', 1, exhaustedMs)).toBe(false);
  expect(await grant('d3')).toBe(true);
});

test('W19: each failing subscription counts for itself, and another tenant has nothing to do with it', async () => {
  const { call, flows, subscriptions, grant, failing, listener, clock } = await withListener();
  expect(await grant('d1')).toBe(true);
  const atMs = clock.nowMs();
  const ofListener = { subscriptionId: listener, deliveryId: 'd2', run: 1, atMs };
  expect(await subscriptions.grantFailing('acme', ofListener)).toBe(true);
  const ofStranger = { subscriptionId: failing, deliveryId: 'd3', run: 1, atMs };
  expect(await subscriptions.grantFailing('other', ofStranger)).toBe(false);
  accepted(await flows.remove(call, 'acme', failing));
  expect(await grant('d1')).toBe(false);
});

test('W19: a clock that is set back by 40 days delays the next notice by two hours at most', async () => {
  const { call, grant, clock } = await withListener();
  expect(await grant('d1')).toBe(true);
  clock.set(-40 * 86_400_000);
  // Nobody listened at that time.
  expect(await grant('d2')).toBe(false);
  accepted(await call(tenant, 'acme').create({ ...LISTENER, generation: 0 }));
  expect(await grant('d3')).toBe(false);
  await clock.advance(FAILING_PAUSE_MS - 1);
  expect(await grant('d4')).toBe(false);
  await clock.advance(1);
  expect(await grant('d5')).toBe(true);
});

test('W19: what is remembered of notices is bounded', async () => {
  const { call, grant, failing, clock } = await withListener();
  for (let number = 0; number < 20; number++) {
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    expect(await grant(`d${number}`)).toBe(true);
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    await clock.advance(FAILING_PAUSE_MS);
  }
  const { subscription } = accepted(await call(tenant, 'acme').subscription({ id: failing }));
  expect(subscription.failing?.granted).toHaveLength(8);
  expect(await grant('d19', 1, 0)).toBe(true);
  expect(await grant('d3', 1, 0)).toBe(false);
});
