// The budgets of tenants: how much each may cause, and when it may cause more.
import { expect, test } from 'vitest';
import { VirtualClock } from '@svc/host/testing';
import { DeliveryBudgets } from '../../../webhooks/segments/delivery-budgets.ts';

function budgets() {
  const clock = new VirtualClock(Date.UTC(2030, 0, 1));
  const limits = { deliveriesPerSecondMax: 10, deliveriesBurstMax: 100 };
  return { clock, budgets: new DeliveryBudgets(limits, clock) };
}

test('a tenant may cause a burst, and then as much as its rate allows; the wait is exact', async () => {
  const { clock, budgets: all } = budgets();
  expect(all.take('a', 100)).toBe(0);
  expect(all.take('a', 5)).toBe(500);
  // A refusal takes nothing.
  expect(all.take('a', 5)).toBe(500);
  await clock.advance(499);
  expect(all.take('a', 5)).toBe(1);
  await clock.advance(1);
  expect(all.take('a', 5)).toBe(0);
  expect(all.take('b', 100)).toBe(0);
});

test('an event with more deliveries than a budget has waits for a full one, and takes it', async () => {
  const { clock, budgets: all } = budgets();
  expect(all.take('a', 1)).toBe(0);
  expect(all.take('a', 5_000)).toBe(100);
  await clock.advance(100);
  expect(all.take('a', 5_000)).toBe(0);
  expect(all.take('a', 1)).toBe(100);
});

test('beyond a hundred thousand tenants the one is forgotten whose last event is the oldest', () => {
  const { budgets: all } = budgets();
  expect(all.take('first', 100)).toBe(0);
  expect(all.take('first', 1)).toBe(100);
  for (let index = 0; index < 100_000; index++) all.take(`t${index}`, 1);
  expect(all.take('first', 100)).toBe(0);
});
