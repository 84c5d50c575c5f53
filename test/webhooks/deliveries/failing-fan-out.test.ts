// Events whose subscriptions cannot be read for a time.
import { expect, test } from 'vitest';
import { DeliveriesUnderTest } from './deliveries-under-test.ts';

test('events are delivered in their order once their subscriptions can be read, however often that has failed', async () => {
  const deliveries = new DeliveriesUnderTest();
  const { subscriptions, clock } = deliveries;
  subscriptions.add('one');
  await deliveries.start();
  const matching = subscriptions.matching.bind(subscriptions);
  const asked = new Set<string>();
  let failures = 0;
  let isFailing = true;
  subscriptions.matching = (tenant, event) => {
    // Intake reads them first, before it answers the report.
    const isIntake = !asked.has(event.type);
    asked.add(event.type);
    if (!isFailing || isIntake) return matching(tenant, event);
    failures++;
    const failure = new Error('EMFILE: too many open files');
    return Promise.reject(Object.assign(failure, { code: 'EMFILE' }));
  };
  await deliveries.report('d1', { seq: 1 });
  await deliveries.report('d1', { seq: 2, status: 'SOLVING_FAILED' });
  // A consumer parks an event after ten attempts unless it is told otherwise.
  await clock.until(() => failures > 12);
  expect(deliveries.sent).toEqual([]);
  isFailing = false;
  await clock.until(() => deliveries.sent.length === 2, 30_000);
  expect(deliveries.sent.map(({ eventType }) => eventType)).toEqual([
    'dataset.completed',
    'dataset.failed',
  ]);
  // An entry in a minute is enough.
  const entries = deliveries.logged.filter((line) => line.includes('could not be handled'));
  expect(entries.length).toBeGreaterThanOrEqual(1);
  expect(entries.length).toBeLessThan(6);
  expect(entries[0]).toContain('EMFILE');
});
