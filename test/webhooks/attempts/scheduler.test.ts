// The scheduler's reads of what is pending, with journals that are counted in place of real ones.
import { expect, test } from 'vitest';
import { VirtualClock } from '@svc/host/testing';
import { ATTEMPT_LIMITS_DEFAULT } from '../../../webhooks/attempts/attempt-limits.ts';
import { Scheduler } from '../../../webhooks/attempts/scheduler.ts';

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
        return Promise.resolve(
          Array.from({ length: max }, (_, index) => ({ id: `d${index}`, dueAtMs, ...whose })),
        );
      },
    },
  });
  scheduler.start();
  // Three looks.
  await clock.advance(25_000);
  expect(rows).toBe(100);
  const stopped = scheduler.stop();
  held.resolve({ next: null });
  await stopped;
});
