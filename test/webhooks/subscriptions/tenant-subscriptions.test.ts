// Which subscriptions an event finds, what is kept of them in memory, and what is left of a tenant that was removed.
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { tenant } from '../../../webhooks/model/tenant.ts';
import type { MatchedEvent } from '../../../webhooks/subscriptions/open-subscription.ts';
import { accepted, outcomeOf, ownFolder, startSubscriptions } from './subscriptions-under-test.ts';

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
  const event = eventAt(clock.nowMs(), { dataset: { ...DATASET, name: 'a'.repeat(256) } });
  const search = async (): Promise<number> => {
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
  expect(await search()).toBeGreaterThanOrEqual(99);
  expect(await search()).toBeGreaterThanOrEqual(10);
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

test('a subscription that cannot be opened is a failure that names it, and no other tenant has it', async () => {
  const { call, flows, subscriptions, keys, clock } = await startSubscriptions();
  const { id } = accepted(await flows.create(call, 'acme', { url }));
  const other = accepted(await flows.create(call, 'other', { url }));
  await keys.remove('acme', 0);
  const failure = { code: 'SVC_SUBSCRIPTION_UNREADABLE', message: expect.stringContaining(id) };
  await expect(subscriptions.matching('acme', eventAt(clock.nowMs()))).rejects.toMatchObject(
    failure,
  );
  await expect(flows.patch(call, 'acme', id, {})).rejects.toMatchObject(failure);
  expect(await subscriptions.all('other')).toMatchObject([{ id: other.id }]);
});
