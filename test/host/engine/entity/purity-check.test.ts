import { describe, expect, test } from 'vitest';
import { type EntityEngine, createEngine } from '../../../../host/engine/entity-engine.ts';
import { MemoryJournal } from '../../../../host/storage/memory/memory-journal.ts';
import { failureOf } from '../../../support/engine-under-test.ts';
import { LEAKY, LeakyGuest } from '../../../support/leaky-guest.ts';
import { systemEventLoop, systemDigest } from '../../../../host/system.ts';

interface World {
  readonly guest: LeakyGuest;
  readonly engine: EntityEngine;
  readonly faults: { readonly handler: string | undefined; readonly fault: unknown }[];
  readonly call: (name: string, input?: unknown, id?: string) => Promise<unknown>;
}

function world(purityCheckInterval: number, isLater = false): World {
  const guest = new LeakyGuest(isLater);
  const faults: World['faults'][number][] = [];
  let seed = 0n;
  const engine = createEngine({
    guest,
    journal: new MemoryJournal(),
    clock: { nowMs: () => 1, monotonicMs: () => 1 },
    random: { next64: () => ++seed },
    digest: systemDigest,
    eventLoop: systemEventLoop,
    limits: { purityCheckInterval, purityRefoldInterval: 0 },
    faultLog: (_entity, handler, fault) => faults.push({ handler, fault }),
  });
  const call = async (name: string, input: unknown = 0, id = 'a'): Promise<unknown> => {
    try {
      const answer = await engine.call({ component: LEAKY, id }, name, JSON.stringify(input), []);
      return answer.kind === 'reply' ? (JSON.parse(answer.json) as unknown) : answer.code;
    } catch (error) {
      return failureOf(error);
    }
  };
  return { guest, engine, faults, call };
}

describe.each([
  ['at once', false],
  ['later', true],
])('with a guest that answers %s, and every call checked', (_, isLater) => {
  test.each([
    ['leak', 'command', 'numbers[0]'],
    ['leak-and-refuse', 'command', 'numbers[0]'],
    ['sort', 'query', 'numbers[0]'],
    ['add-and-sort', 'the reply of command', 'numbers[0]'],
  ])('%s fails, is named with its place, and changes nothing', async (name, kind, path) => {
    const { call, faults, guest, engine } = world(1, isLater);
    await call('add', 3);
    await call('add', 1);
    expect(await call(name, 7)).toBe('SVC_STATE_CHANGED');
    expect(faults).toHaveLength(1);
    expect(faults[0]!.handler).toBe(name);
    const { message } = faults[0]!.fault as Error;
    expect(message).toMatch(
      `${kind} '${name}' of entity 'a' of component 'leaky' changed the state it was given, at ${path}; only apply may.`,
    );
    expect(await call('get')).toEqual([3, 1]);
    expect(await engine.readEvents({ component: LEAKY, id: 'a' }, 0, 10)).toHaveLength(2);
    await engine.close();
    expect(guest.openCount).toBe(0);
  });

  test('handlers that leave the state as it is are served as without', async () => {
    const { call, faults } = world(1, isLater);
    expect(await call('add', 3)).toBeNull();
    expect(await call('get')).toEqual([3]);
    expect(faults).toEqual([]);
  });

  test('a handler after which the state has no JSON form is found', async () => {
    const { call, faults } = world(1, isLater);
    await call('add', 3);
    // Of a guest that answers later it could be another entity's fault.
    expect(await call('spoil')).toBe(isLater ? 'trap' : 'SVC_STATE_CHANGED');
    expect((faults[0]!.fault as Error).message).toContain(
      isLater ? 'trapped' : 'no JSON form any more',
    );
    expect(await call('get')).toEqual([3]);
    expect(await call('leak')).toBe('SVC_STATE_CHANGED');
  });

  test('a state that had no JSON form before is said once, and its component served on', async () => {
    const { call, faults, guest } = world(1, isLater);
    guest.drift = NaN;
    const { entities } = guest;
    const open = entities.open.bind(entities);
    // The state of every entity is beyond JSON from its beginning.
    Object.assign(entities, {
      open: async (...given: Parameters<typeof open>) => {
        const entity = await open(...given);
        await entity.command({ nowMs: 0, seed: 0n, metadata: [] }, 'spoil', '0');
        return entity;
      },
    });
    expect(await call('get')).toBe('trap');
    expect(faults).toHaveLength(1);
    expect(faults[0]!.fault).toMatchObject({
      guestMessage: 'abort: NaN',
      message: expect.stringContaining("of component 'leaky' are no longer checked"),
    });
    expect(await call('get')).toEqual([]);
    expect(await call('get', 0, 'b')).toEqual([]);
    expect(faults).toHaveLength(1);
  });
});

test('with an interval, one call of that many is looked at', async () => {
  const { call, guest } = world(3);
  for (let count = 0; count < 9; count++) await call('get');
  expect(guest.snapshotCount).toBe(6);
  expect(await call('sort')).toEqual([]);
});

test('with an interval, calls of a large state are looked at less often', async () => {
  const { call, guest } = world(3);
  const digits = 123_456_789_012_345;
  // More than 16,384 characters of JSON, so that a look counts as three.
  for (let count = 0; count < 1_050; count++) await call('add', digits, 'large');
  const before = guest.snapshotCount;
  for (let count = 0; count < 90; count++) await call('get', 0, 'large');
  expect((guest.snapshotCount - before) / 2).toBe(90 / 3 / 3);
});

test.each([2, 3, 4])(
  'with an interval of %i, a command that replies later counts once, and both its parts are looked at',
  async (interval) => {
    for (const name of ['leak-and-get', 'add-and-sort']) {
      const { call } = world(interval);
      for (const n of [9, 7, 5]) await call('add', n);
      const answers: unknown[] = [];
      for (let count = 0; count < 12; count++) answers.push(await call(name, 3 - count));
      const found = answers.filter((answer) => answer === 'SVC_STATE_CHANGED');
      expect(found).toHaveLength(Math.floor((3 + 12) / interval) - Math.floor(3 / interval));
    }
  },
);

test('with an interval of 0 none is', async () => {
  const { call, guest, faults } = world(0);
  await call('add', 3);
  expect(await call('leak', 5)).toBeNull();
  expect(guest.snapshotCount).toBe(0);
  expect(faults).toEqual([]);
});

test('a checked query on an entity in memory is still answered without a promise', async () => {
  const { call, engine } = world(1);
  await call('add', 3);
  expect(engine.call({ component: LEAKY, id: 'a' }, 'get', '0', [])).toEqual({
    kind: 'reply',
    json: '[3]',
  });
});
