// Which subscriptions an event finds, what is kept of them in memory, and what is left of a tenant that was removed.
import { readdir, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { tenant } from '../../../webhooks/model/tenant.ts';
import type { MatchedEvent } from '../../../webhooks/subscriptions/open-subscription.ts';
import { NamePattern } from '../../../webhooks/subscriptions/name-pattern.ts';
import {
  type Call,
  TenantSubscriptions,
} from '../../../webhooks/subscriptions/tenant-subscriptions.ts';
import {
  type SubscriptionsUnderTest,
  accepted,
  outcomeOf,
  ownFolder,
  startSubscriptions,
} from './subscriptions-under-test.ts';

const url = 'https://receiver.example/hook';
const DATASET = { name: 'Munich', model: 'routing', tags: ['eu'], status: 'SOLVING_FAILED' };

function eventAt(occurredAtMs: number, more: Partial<MatchedEvent> = {}): MatchedEvent {
  return { type: 'dataset.failed', occurredAtMs, dataset: DATASET, ...more };
}

test('an event finds the subscriptions that want its type, and whose filters all match', async () => {
  const { call, flows, subscriptions, clock } = await startSubscriptions();
  const create = async (request: object) =>
    accepted(await flows.create(call, 'acme', { url, ...request })).id;
  const all = await create({});
  const failed = await create({ events: ['dataset.failed', 'dataset.completed'] });
  await create({ events: ['dataset.completed'] });
  const both = await create({
    events: ['webhook.failing', 'dataset.*'],
    filters: { model: 'routing' },
  });
  await create({ filters: { model: 'other' } });
  const failing = await create({ events: ['webhook.failing'], filters: { model: 'other' } });
  const found = async (event: MatchedEvent) =>
    (await subscriptions.matching('acme', event)).map(({ id }) => id);
  expect(await found(eventAt(clock.nowMs()))).toEqual([all, failed, both]);
  expect(await found(eventAt(clock.nowMs(), { type: 'dataset.computed' }))).toEqual([all, both]);
  // Filters do not apply to notices, `dataset.*` does not contain them, and nobody gets one about itself.
  const notice = { type: 'webhook.failing', occurredAtMs: clock.nowMs(), about: all } as const;
  expect(await found(notice)).toEqual([both, failing]);
  expect(await found({ ...notice, about: both })).toEqual([failing]);
  expect(await subscriptions.matching('other', eventAt(clock.nowMs()))).toEqual([]);
});

test('W17: a subscription gets events from the millisecond on in which it was created, however late they come', async () => {
  const { call, flows, subscriptions, clock } = await startSubscriptions();
  const createdMs = clock.nowMs();
  const { id } = accepted(
    await flows.create(call, 'acme', { url, events: ['dataset.*', 'webhook.failing'] }),
  );
  await clock.advance(3_600_000);
  accepted(await flows.rotate(call, 'acme', id, undefined));
  accepted(await flows.patch(call, 'acme', id, { url: `${url}2` }));
  const count = async (event: MatchedEvent) => (await subscriptions.matching('acme', event)).length;
  expect(await count(eventAt(createdMs - 1))).toBe(0);
  expect(await count(eventAt(createdMs))).toBe(1);
  expect(await count(eventAt(createdMs + 1))).toBe(1);
  expect(await count({ type: 'webhook.failing', occurredAtMs: createdMs - 1 })).toBe(0);
  expect(await count({ type: 'webhook.failing', occurredAtMs: createdMs })).toBe(1);
});

test('W16: others get their turn while 100 of the worst expressions are searched', async () => {
  const { call, flows, subscriptions, clock } = await startSubscriptions();
  await Promise.all(
    Array.from({ length: 100 }, (_, index) =>
      flows.create(call, 'acme', { url, filters: { nameRegex: `(a|b)*a(a|b){160}${index}$` } }),
    ),
  );
  const search = async (name: string): Promise<number> => {
    const event = eventAt(clock.nowMs(), { dataset: { ...DATASET, name } });
    let turns = 0;
    const counting = (): void => {
      turns++;
      next = setImmediate(counting);
    };
    let next = setImmediate(counting);
    expect(await subscriptions.matching('acme', event)).toEqual([]);
    clearImmediate(next);
    return turns;
  };
  // The first time the programs are made, each of which counts for a turn.
  expect(await search('a'.repeat(256))).toBeGreaterThanOrEqual(99);
  expect(await search('a'.repeat(255))).toBeGreaterThanOrEqual(10);
  // What was found is known when the deliveries of the event are opened.
  expect(await search('a'.repeat(255))).toBe(0);
});

test('W16: the steps of searches are those of the subscriptions that an event may go to', async () => {
  const { call, flows, subscriptions, clock } = await startSubscriptions();
  const steps = () => subscriptions.searchSteps('acme', eventAt(clock.nowMs()));
  expect(await steps()).toBe(0);
  const nameRegex = '(a|b)+$';
  accepted(await flows.create(call, 'acme', { url }));
  accepted(await flows.create(call, 'acme', { url, filters: { nameRegex, model: 'other' } }));
  accepted(
    await flows.create(call, 'acme', { url, filters: { nameRegex }, events: ['webhook.failing'] }),
  );
  expect(await steps()).toBe(0);
  accepted(await flows.create(call, 'acme', { url, filters: { nameRegex } }));
  expect(await steps()).toBe(new NamePattern(nameRegex).size * DATASET.name.length);
});

test('a tenant whose subscriptions have not changed is not read again', async () => {
  const started = await startSubscriptions();
  const { flows, subscriptions, clock } = started;
  const { call, asked } = counted(started);
  const { id } = accepted(await flows.create(started.call, 'acme', { url }));
  const counting = new TenantSubscriptions({ ...started, call, log: () => {} });
  // Those who ask at the same time wait for one answer.
  await Promise.all(Array.from({ length: 20 }, () => counting.find('acme', id)));
  await counting.matching('acme', eventAt(clock.nowMs()));
  await counting.removedAtMs('acme');
  expect(asked).toEqual(['subscriptions']);
  // A change that was not announced, as if its end were not known, is noticed within five seconds.
  accepted(await flows.patch(started.call, 'acme', id, { url: `${url}2` }));
  await clock.advance(4_999);
  expect(await counting.all('acme')).toMatchObject([{ url }]);
  await clock.advance(1);
  expect(await counting.all('acme')).toMatchObject([{ url: `${url}2` }]);
  expect(await subscriptions.all('acme')).toMatchObject([{ url: `${url}2` }]);
});

test('a change while a tenant is read is not missed', async () => {
  const { call, flows, subscriptions, keys } = await startSubscriptions();
  accepted(await flows.create(call, 'acme', { url }));
  const find = keys.find.bind(keys);
  const reading = Promise.withResolvers<void>();
  const changed = Promise.withResolvers<void>();
  vi.spyOn(keys, 'find').mockImplementationOnce(async (tenantId, generation) => {
    reading.resolve();
    await changed.promise;
    return await find(tenantId, generation);
  });
  const before = subscriptions.all('acme');
  await reading.promise;
  accepted(await flows.create(call, 'acme', { url: `${url}2` }));
  // Who asks after the acknowledgement does not wait for what was read before.
  expect(await subscriptions.all('acme')).toHaveLength(2);
  changed.resolve();
  expect(await before).toHaveLength(1);
  expect(await subscriptions.all('acme')).toHaveLength(2);
});

test('what is acknowledged is found at once, and what is deleted is not', async () => {
  const { call, flows, subscriptions } = await startSubscriptions();
  expect(await subscriptions.all('acme')).toEqual([]);
  const { id } = accepted(await flows.create(call, 'acme', { url }));
  expect(await subscriptions.all('acme')).toHaveLength(1);
  accepted(await flows.patch(call, 'acme', id, { url: `${url}2` }));
  expect((await subscriptions.find('acme', id))?.url).toBe(`${url}2`);
  accepted(await flows.remove(call, 'acme', id));
  expect(await subscriptions.find('acme', id)).toBeUndefined();
});

test('a subscription is opened once for each of its changes, and those of tenants used last are kept within a size', async () => {
  const headers = { 'X-A': 'v'.repeat(4_000) };
  const { call, flows, subscriptions, keys } = await startSubscriptions({ cacheBytesMax: 60_000 });
  const find = vi.spyOn(keys, 'find');
  const opened = async (id: string): Promise<number> => {
    find.mockClear();
    await subscriptions.all(id);
    return find.mock.calls.length;
  };
  for (const id of ['a', 'b', 'c', 'd'])
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    accepted(await flows.create(call, id, { url, headers }));
  expect([await opened('a'), await opened('b'), await opened('c')]).toEqual([1, 1, 1]);
  expect([await opened('a'), await opened('b'), await opened('c')]).toEqual([0, 0, 0]);
  expect([await opened('d'), await opened('a'), await opened('d')]).toEqual([1, 1, 0]);
  expect(subscriptions.cacheBytes).toBeLessThanOrEqual(60_000);
  const [before] = await subscriptions.all('d');
  accepted(await flows.create(call, 'd', { url }));
  const after = await subscriptions.all('d');
  expect(after).toHaveLength(2);
  expect(after[0]).toBe(before);
  // Ten of them are more than the size, and found all the same.
  for (let number = 0; number < 10; number++)
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    accepted(await flows.create(call, 'e', { url, headers }));
  expect(await subscriptions.all('e')).toHaveLength(10);
  expect(subscriptions.cacheBytes).toBeLessThanOrEqual(60_000);
});

test('W16: the programs of expressions count for what is kept', async () => {
  const { call, flows, subscriptions, clock } = await startSubscriptions({
    cacheBytesMax: 200_000,
  });
  const search = async (tenantId: string): Promise<number> => {
    await subscriptions.matching(tenantId, eventAt(clock.nowMs()));
    return subscriptions.cacheBytes;
  };
  for (const id of ['a', 'b'])
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    accepted(await flows.create(call, id, { url, filters: { nameRegex: 'a{500}' } }));
  await subscriptions.all('a');
  const before = subscriptions.cacheBytes;
  const one = await search('a');
  expect(one).toBeGreaterThan(before + 128_000);
  // Two of them are more than the size.
  expect(await search('b')).toBe(one);
});

test('a tenant that is removed has no subscriptions, and nothing opens those that it had', async () => {
  const folder = await ownFolder();
  const { call, flows, subscriptions, keys, clock, service } = await startSubscriptions({ folder });
  expect(await subscriptions.removedAtMs('acme')).toBeUndefined();
  accepted(await flows.removeTenant(call, 'acme'));
  expect(await call(tenant, 'acme').events()).toEqual([]);

  const { id } = accepted(await flows.create(call, 'acme', { url }));
  const other = accepted(await flows.create(call, 'other', { url }));
  const stored = accepted(await call(tenant, 'acme').subscription({ id })).subscription.sealed;
  const key = await keys.find('acme', 0);
  expect(key?.open(id, stored)).toContain(url);
  await clock.advance(1_000);
  const removedAtMs = clock.nowMs();
  accepted(await flows.removeTenant(call, 'acme'));
  expect(await flows.list('acme')).toEqual([]);
  expect(await subscriptions.removedAtMs('acme')).toBe(removedAtMs);
  await clock.until(async () => (await keys.find('acme', 0)) === undefined);
  expect(await readdir(join(folder, 'salts'))).toHaveLength(1);

  // A second removal changes nothing, and the tenant may subscribe again, with another key.
  accepted(await flows.removeTenant(call, 'acme'));
  expect(await subscriptions.removedAtMs('acme')).toBe(removedAtMs);
  const again = accepted(await flows.create(call, 'acme', { url }));
  expect(await flows.list('acme')).toMatchObject([{ id: again.id }]);
  expect((await keys.find('acme', 1))?.open(id, stored)).toBeUndefined();
  expect(await flows.list('other')).toMatchObject([{ id: other.id }]);
  await service.stop();
});

test('a request that overtakes the removal of its tenant changes nothing', async () => {
  const { call, flows, keys } = await startSubscriptions();
  const { id } = accepted(await flows.create(call, 'acme', { url }));
  const make = vi.spyOn(keys, 'make');
  make.mockImplementationOnce(async (tenantId, generation) => {
    make.mockRestore();
    accepted(await flows.removeTenant(call, 'acme'));
    // As the consumer does.
    await keys.remove(tenantId, generation);
    return await keys.make(tenantId, generation);
  });
  // It was sealed with the key of before, and is sealed again.
  const created = accepted(await flows.create(call, 'acme', { url }));
  expect(await flows.list('acme')).toMatchObject([{ id: created.id }]);
  expect(outcomeOf(await flows.rotate(call, 'acme', id, undefined))).toBe('NOT_FOUND');
  expect(await keys.find('acme', 0)).toBeUndefined();
});

test('a subscription that cannot be opened is left out and logged once, and the others get their events', async () => {
  const { call, flows, subscriptions, clock, logged } = await startSubscriptions();
  const create = async (tenantId: string) =>
    accepted(await flows.create(call, tenantId, { url })).id;
  const [id, readable, other] = [await create('acme'), await create('acme'), await create('other')];
  const { revision } = accepted(await call(tenant, 'acme').subscription({ id })).subscription;
  // As if the journal had been changed.
  const damaged = { revision, sealed: 'damaged', graceMs: 0, digest: 'd' };
  accepted(await call(tenant, 'acme').rotate({ id, ...damaged }));
  const found = async () =>
    (await subscriptions.matching('acme', eventAt(clock.nowMs()))).map((one) => one.id);
  expect(await found()).toEqual([readable]);
  expect((await flows.list('acme')).map((one) => one.id)).toEqual([readable]);
  const failure = { code: 'SVC_SUBSCRIPTION_UNREADABLE', message: expect.stringContaining(id) };
  // Its pending deliveries wait.
  await expect(subscriptions.find('acme', id)).rejects.toMatchObject(failure);
  await expect(flows.patch(call, 'acme', id, {})).rejects.toMatchObject(failure);
  const another = await create('acme');
  expect(await found()).toEqual([readable, another]);
  expect(logged).toEqual([expect.stringContaining(id)]);
  expect(await subscriptions.all('other')).toMatchObject([{ id: other }]);
  accepted(await flows.remove(call, 'acme', id));
  expect(await subscriptions.find('acme', id)).toBeUndefined();
});

test('without the salt of a tenant its events wait, and those of others do not', async () => {
  const folder = await ownFolder();
  const { call, flows, subscriptions, clock } = await startSubscriptions({ folder });
  const { id } = accepted(await flows.create(call, 'acme', { url }));
  const salts = join(folder, 'salts');
  const [salt] = await readdir(salts);
  await rename(join(salts, salt!), join(folder, 'salt'));
  const found = (tenantId: string) => subscriptions.matching(tenantId, eventAt(clock.nowMs()));
  await expect(found('acme')).rejects.toMatchObject({
    code: 'SVC_SUBSCRIPTION_UNREADABLE',
    message: expect.stringContaining(id),
  });
  const other = accepted(await flows.create(call, 'other', { url }));
  expect(await found('other')).toMatchObject([{ id: other.id }]);
  await rename(join(folder, 'salt'), join(salts, salt!));
  expect(await found('acme')).toMatchObject([{ id }]);
});

test('a tenant that is removed while it is read has what it has afterwards, and nothing is reported', async () => {
  const { call, flows, subscriptions, keys, logged } = await startSubscriptions();
  accepted(await flows.create(call, 'acme', { url }));
  vi.spyOn(keys, 'find').mockImplementationOnce(async () => {
    accepted(await flows.removeTenant(call, 'acme'));
    // The consumer that removes keys was faster.
    return undefined;
  });
  expect(await subscriptions.all('acme')).toEqual([]);
  expect(logged).toEqual([]);
});

/** Counts what a tenant is asked. */
function counted({ call }: SubscriptionsUnderTest): {
  readonly call: Call;
  readonly asked: readonly string[];
} {
  const asked: string[] = [];
  const counting = ((entity: typeof tenant, id: string) =>
    new Proxy(call(entity, id), {
      get(target, name) {
        asked.push(String(name));
        const method = Reflect.get(target, name) as (...input: unknown[]) => unknown;
        return method.bind(target);
      },
    })) as Call;
  return { call: counting, asked };
}
