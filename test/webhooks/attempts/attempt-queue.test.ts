// Whose attempt begins next, and how many are under way.
import { describe, expect, test } from 'vitest';
import {
  ATTEMPT_LIMITS_DEFAULT,
  type AttemptLimits,
} from '../../../webhooks/attempts/attempt-limits.ts';
import { AttemptQueue } from '../../../webhooks/attempts/attempt-queue.ts';
import type { DueDelivery } from '../../../webhooks/attempts/due-delivery.ts';
import { Random } from '../../support/random.ts';

interface UnderWay extends DueDelivery {
  readonly wasSilent: boolean;
}

let number = 0;
function due(tenant: string, subscription: string, host = `${subscription}.example`): DueDelivery {
  return {
    id: `${tenant}/${subscription}/${++number}`,
    segment: 1,
    tenant,
    subscription,
    host,
    run: 1,
    number: 1,
  };
}

function queueWith(limits: Partial<AttemptLimits> = {}): AttemptQueue {
  return new AttemptQueue({ ...ATTEMPT_LIMITS_DEFAULT, ...limits });
}

function add(queue: AttemptQueue, count: number, ...whose: Parameters<typeof due>): void {
  for (let index = 0; index < count; index++) queue.add(due(...whose));
}

function takeAll(queue: AttemptQueue): DueDelivery[] {
  const taken: DueDelivery[] = [];
  for (let next = queue.take(); next !== undefined; next = queue.take()) taken.push(next);
  return taken;
}

/** Lets each subscription show that it answers. */
function prove(queue: AttemptQueue, ...whose: readonly (readonly [string, string])[]): void {
  for (const [tenant, subscription] of whose) add(queue, 1, tenant, subscription);
  endAll(queue, false);
}

/** Takes and ends attempts until there are none. */
function endAll(queue: AttemptQueue, isSilent: boolean): void {
  for (let next = queue.take(); next !== undefined; next = queue.take())
    queue.release(next.id, { isSilent });
}

test('a subscription has one attempt under way until the first has ended, then sixteen, and two once one got no answer', () => {
  const queue = queueWith();
  add(queue, 41, 'a', 's');
  const [one, ...more] = takeAll(queue);
  expect(more).toEqual([]);
  queue.release(one!.id, { host: 'h', isSilent: false });
  const first = takeAll(queue);
  expect(first).toHaveLength(16);
  queue.release(first[0]!.id, { host: 'h', isSilent: false });
  const [again, ...none] = takeAll(queue);
  expect(none).toEqual([]);
  for (const { id } of first.slice(1)) queue.release(id, { host: 'h', isSilent: true });
  queue.release(again!.id, { host: 'h', isSilent: true });
  expect(takeAll(queue)).toHaveLength(2);
});

test('tenants take turns, and the subscriptions of a tenant do', () => {
  const queue = queueWith({ allMax: 6 });
  prove(queue, ['busy', 'one'], ['busy', 'two'], ['other', 's']);
  add(queue, 100, 'busy', 'one');
  add(queue, 100, 'busy', 'two');
  add(queue, 100, 'other', 's');
  const whose = takeAll(queue).map(({ tenant, subscription }) => `${tenant} ${subscription}`);
  expect(whose).toEqual(['busy one', 'other s', 'busy two', 'other s', 'busy one', 'other s']);
});

test('a tenant has thirty-two attempts to one host under way, and another tenant to the same one its own', () => {
  const queue = queueWith();
  const subscriptions = ['s1', 's2', 's3', 's4'];
  for (const tenant of ['a', 'b'])
    prove(queue, ...subscriptions.map((each) => [tenant, `${tenant}${each}`] as const));
  for (const tenant of ['a', 'b'])
    for (const subscription of subscriptions)
      add(queue, 20, tenant, `${tenant}${subscription}`, 'shared.example');
  const taken = takeAll(queue);
  expect(taken.filter(({ tenant }) => tenant === 'a')).toHaveLength(32);
  expect(taken.filter(({ tenant }) => tenant === 'b')).toHaveLength(32);
  for (const { id } of taken.slice(0, 5))
    queue.release(id, { host: 'shared.example', isSilent: false });
  expect(takeAll(queue)).toHaveLength(5);
});

test('a tenant has 256 attempts under way at most, new subscriptions included', () => {
  const queue = queueWith();
  for (let index = 0; index < 30; index++) prove(queue, ['a', `s${index}`]);
  for (let index = 0; index < 30; index++) add(queue, 20, 'a', `s${index}`);
  for (let index = 0; index < 30; index++) add(queue, 1, 'a', `new${index}`);
  const taken = takeAll(queue);
  expect(taken).toHaveLength(256);
  queue.release(taken[7]!.id, { host: 'h', isSilent: false });
  expect(takeAll(queue)).toHaveLength(1);
});

test('those of a tenant that do not answer leave half of its attempts to the others', () => {
  const queue = queueWith();
  const silent = Array.from({ length: 99 }, (_, index) => `silent${index}`);
  prove(queue, ['a', 'good']);
  for (const subscription of silent) add(queue, 1, 'a', subscription);
  endAll(queue, true);
  for (const subscription of silent) add(queue, 5, 'a', subscription);
  expect(takeAll(queue)).toHaveLength(128);
  add(queue, 20, 'a', 'good');
  expect(takeAll(queue)).toHaveLength(16);
});

test('those that do not answer have half of all attempts, and the others the rest', () => {
  const queue = queueWith({ allMax: 10, silentMax: 5 });
  prove(queue, ['b', 'good']);
  const silent = Array.from({ length: 8 }, (_, index) => `silent${index}`);
  for (const subscription of silent) add(queue, 1, 'a', subscription);
  endAll(queue, true);
  for (const subscription of silent) add(queue, 5, 'a', subscription);
  const taken = takeAll(queue);
  expect(taken).toHaveLength(5);
  add(queue, 9, 'b', 'good');
  expect(takeAll(queue).map(({ subscription }) => subscription)).toEqual(
    Array.from({ length: 5 }, () => 'good'),
  );
  // The slot of one that ends goes to the next silent one.
  queue.release(taken[0]!.id, { isSilent: true });
  expect(takeAll(queue)).toHaveLength(1);
});

test('those of which nothing is known leave three quarters of all attempts to the others, and each tenant has its turn', () => {
  const queue = queueWith();
  prove(queue, ['good', 's']);
  for (let index = 0; index < 5_000; index++) add(queue, 1, `t${index % 50}`, `n${index}`);
  const taken = takeAll(queue);
  expect(taken).toHaveLength(1_024);
  const perTenant = Map.groupBy(taken, ({ tenant }) => tenant);
  expect(Math.max(...[...perTenant.values()].map(({ length }) => length))).toBeLessThanOrEqual(21);
  add(queue, 20, 'good', 's');
  expect(takeAll(queue)).toHaveLength(16);
  // Once one ends, a tenant that has had nothing yet does not wait for all the others.
  add(queue, 1, 'late', 'new');
  let ended = 0;
  for (let late: DueDelivery | undefined; late === undefined && ended < 60; ended++) {
    queue.release(taken[ended]!.id, { isSilent: true });
    late = takeAll(queue).find(({ tenant }) => tenant === 'late');
  }
  expect(ended).toBeLessThan(60);
});

test('a tenant has sixty-four attempts under way for subscriptions of which nothing is known', () => {
  const queue = queueWith();
  for (let index = 0; index < 100; index++) add(queue, 1, 'a', `n${index}`);
  const taken = takeAll(queue);
  expect(taken).toHaveLength(64);
  queue.release(taken[0]!.id, { isSilent: true });
  expect(takeAll(queue)).toHaveLength(1);
});

describe('whatever happens in whatever order', () => {
  test.each([1, 2, 3, 4, 5, 6, 7, 8])(
    'nothing is lost, and no limit is exceeded (seed %i)',
    (seed) => {
      const limits = {
        subscriptionMax: 4,
        silentSubscriptionMax: 1,
        hostMax: 6,
        tenantMax: 9,
        allMax: 20,
        silentMax: 5,
        silentTenantMax: 3,
        newSubscriptionMax: 1,
        newTenantMax: 2,
        newMax: 4,
      };
      const queue = queueWith(limits);
      const random = new Random(seed);
      const hosts = new Map<string, string>();
      const silent = new Set<string>();
      const underWay = new Map<
        string,
        DueDelivery & { readonly host: string; readonly wasSilent: boolean }
      >();
      let [added, ended] = [0, 0];
      const count = (is: (each: UnderWay) => boolean) => [...underWay.values()].filter(is).length;
      const take = (): void => {
        for (const delivery of takeAll(queue)) {
          const { tenant, subscription: key } = delivery;
          const host = hosts.get(key) ?? delivery.host;
          underWay.set(delivery.id, { ...delivery, host, wasSilent: silent.has(key) });
          const same = (each: DueDelivery) => each.subscription === key;
          expect(count(same)).toBeLessThanOrEqual(
            !hosts.has(key)
              ? limits.newSubscriptionMax
              : silent.has(key)
                ? limits.silentSubscriptionMax
                : limits.subscriptionMax,
          );
          expect(count((each) => each.tenant === tenant && each.wasSilent)).toBeLessThanOrEqual(
            limits.silentTenantMax,
          );
          const isNew = (each: DueDelivery) => !hosts.has(each.subscription);
          expect(count((each) => each.tenant === tenant && isNew(each))).toBeLessThanOrEqual(
            limits.newTenantMax,
          );
          expect(count(isNew)).toBeLessThanOrEqual(limits.newMax);
          expect(count((each) => each.tenant === tenant)).toBeLessThanOrEqual(limits.tenantMax);
          expect(count((each) => each.tenant === tenant && each.host === host)).toBeLessThanOrEqual(
            limits.hostMax,
          );
          expect(count(({ wasSilent }) => wasSilent)).toBeLessThanOrEqual(limits.silentMax);
        }
        expect(underWay.size).toBeLessThanOrEqual(limits.allMax);
      };
      for (let step = 0; step < 2_000; step++) {
        if (random.below(2) === 0) {
          const tenant = `t${random.below(4)}`;
          const subscription = `${tenant}s${random.below(5)}`;
          queue.add(due(tenant, subscription, hosts.get(subscription)));
          added++;
        } else if (underWay.size > 0) end();
        take();
      }
      while (underWay.size > 0) {
        end();
        take();
      }
      expect(ended).toBe(added);

      function end(): void {
        const each = [...underWay.values()][random.below(underWay.size)]!;
        underWay.delete(each.id);
        ended++;
        const { subscription: key } = each;
        const host = `h${random.below(2)}`;
        const isSilent = random.below(3) === 0;
        hosts.set(key, host);
        if (isSilent) silent.add(key);
        else silent.delete(key);
        queue.release(each.id, { host, isSilent });
      }
    },
  );
});
