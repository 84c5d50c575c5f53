// The scheduler with a backlog that is far larger than its memory: whom it delays, and how much of it is read.
import { expect, test } from 'vitest';
import { VirtualClock } from '@svc/host/testing';
import { ATTEMPT_LIMITS_DEFAULT } from '../../../webhooks/attempts/attempt-limits.ts';
import type { DueDelivery } from '../../../webhooks/attempts/due-delivery.ts';
import { Scheduler } from '../../../webhooks/attempts/scheduler.ts';

const BACKLOG = 100_000;

function deliveryOf(tenant: string, id: string): DueDelivery {
  const subscription = `subscription of ${tenant}`;
  return { id, tenant, subscription, host: `${tenant}.example`, segment: 1, run: 1, number: 1 };
}

test('W5: a backlog of one tenant does not delay the first attempt of another one', async () => {
  const clock = new VirtualClock();
  const begun: { readonly tenant: string; readonly atMs: number }[] = [];
  let left = BACKLOG;
  const scheduler = new Scheduler({
    attempt: async ({ tenant }) => {
      begun.push({ tenant, atMs: clock.monotonicMs() });
      await new Promise<void>((resolve) => void clock.after(50, resolve));
      if (tenant === 'busy') left--;
      return { next: null, isSilent: false };
    },
    pending: {
      backlogs: () => Promise.resolve(new Map([['subscription of busy', left]])),
      first: (_subscription, max) =>
        Promise.resolve({
          deliveries: Array.from({ length: Math.min(max, left) }, (_, index) => ({
            ...deliveryOf('busy', `busy ${BACKLOG - left + index}`),
            dueAtMs: clock.nowMs(),
          })),
        }),
    },
    clock,
    limits: ATTEMPT_LIMITS_DEFAULT,
    log: () => undefined,
  });
  scheduler.start();
  await clock.advance(1_000);
  expect(scheduler.counts().inMemory).toBeLessThanOrEqual(ATTEMPT_LIMITS_DEFAULT.idsMax);
  expect(begun.length).toBeGreaterThan(ATTEMPT_LIMITS_DEFAULT.subscriptionMax * 10);
  const openedMs = clock.monotonicMs();
  const next = { run: 1, number: 1, dueAtMs: clock.nowMs() };
  scheduler.opened(deliveryOf('calm', 'calm 1'), next);
  await clock.advance(0);
  expect(begun.filter(({ tenant }) => tenant === 'calm')).toEqual([
    { tenant: 'calm', atMs: openedMs },
  ]);
  const stopped = scheduler.stop();
  await clock.advance(100);
  await stopped;
});

test('a subscription of which enough is in memory is not read again at each look', async () => {
  const clock = new VirtualClock(Date.UTC(2030, 0, 1));
  let rows = 0;
  const held = Promise.withResolvers<{ next: null }>();
  const scheduler = new Scheduler({
    attempt: () => held.promise,
    clock,
    limits: { ...ATTEMPT_LIMITS_DEFAULT, idsMax: 100 },
    log: () => {},
    pending: {
      backlogs: () => Promise.resolve(new Map([['s', 5_000]])),
      first(subscription, max) {
        rows += max;
        const dueAtMs = clock.nowMs() + 10_000;
        const whose = { segment: 1, tenant: 'a', subscription, host: 'h', run: 1, number: 1 };
        return Promise.resolve({
          deliveries: Array.from({ length: max }, (_, at) => ({ id: `d${at}`, dueAtMs, ...whose })),
        });
      },
    },
  });
  scheduler.start();
  // Three looks.
  await clock.advance(25_000);
  expect(rows).toBe(100);
  expect(scheduler.counts()).toMatchObject({ inMemory: 100, pending: 5_000 });
  const stopped = scheduler.stop();
  held.resolve({ next: null });
  await stopped;
});

test('what cannot be read of a segment is read at the next look, and deliveries of the others are made at once', async () => {
  const clock = new VirtualClock(Date.UTC(2030, 0, 1));
  const attempted: string[] = [];
  const logged: string[] = [];
  let isStopped = true;
  const scheduler = new Scheduler({
    attempt({ id }) {
      attempted.push(id);
      return Promise.resolve({ next: null });
    },
    clock,
    limits: ATTEMPT_LIMITS_DEFAULT,
    log: ({ message }) => void logged.push(message),
    pending: {
      backlogs: () => Promise.resolve(new Map([['subscription of a', 2]])),
      first() {
        const ids = isStopped ? ['a 1'] : ['a 2'];
        const deliveries = ids.map((id) => ({ ...deliveryOf('a', id), dueAtMs: clock.nowMs() }));
        return Promise.resolve({ deliveries, ...(isStopped && { failure: new Error('stopped') }) });
      },
    },
  });
  scheduler.start();
  await clock.advance(1_000);
  expect(attempted).toEqual(['a 1']);
  expect(logged).toEqual([expect.stringContaining('cannot be read')]);
  isStopped = false;
  await clock.advance(10_000);
  expect(attempted).toContain('a 2');
  await scheduler.stop();
});
