import { describe, expect, test } from 'vitest';
import { EntityBreaker } from '../../../../host/engine/entity/entity-breaker.ts';
import type { StoredEvent } from '../../../../model/entity.ts';
import { GuestFault } from '../../../../model/guest-fault.ts';
import { GuestLost } from '../../../../model/guest-lost.ts';
import type { SvcError } from '../../../../kit/svc-error.ts';
import { COUNTER, added, POISON, UNREADABLE } from '../../../support/counter-guest.ts';
import { EngineUnderTest, failureOf } from '../../../support/engine-under-test.ts';
import { diskFailure } from '../../../support/held-journal.ts';

const HOUR_MS = 3_600_000;
const limits = { entityFaultsMax: 3, entityPauseMs: 1_000, entityPauseMaxMs: 3_000 };

/** An engine whose journal holds these events of entity `a`. */
async function engineOver(events: readonly StoredEvent[], options = {}): Promise<EngineUnderTest> {
  const it = new EngineUnderTest({ limits, ...options });
  await it.storeEvents('a', events);
  return it;
}

const failureText = (failure: unknown) => (failure instanceof Error ? failure.message : '');
const poisoned = [added(1), added(2), added(3), POISON, added(4)];

describe('an entity whose event makes the module fault', () => {
  test('is held back after so many faults, for a pause that grows, and is tried once after each', async () => {
    const it = await engineOver(poisoned);
    for (let fault = 0; fault < 3; fault++)
      expect(await it.outcome('a', 'total')).toBe('failed trap');
    for (const pauseMs of [1_000, 2_000, 3_000, 3_000]) {
      const before = [it.guest.opened.length, it.journal.reads.length];
      for (const passedMs of [0, pauseMs - 1]) {
        it.nowMs += passedMs;
        expect(await it.outcome('a', 'total')).toBe('failed SVC_ENTITY_HELD_BACK');
      }
      expect([it.guest.opened.length, it.journal.reads.length]).toEqual(before);
      it.nowMs += 1;
      const tried = [it.outcome('a', 'total'), it.outcome('a', 'add', 1)];
      expect(await Promise.all(tried)).toEqual(['failed trap', 'failed trap']);
    }
    expect(it.guest.openCount).toBe(0);
  });

  test('is named with its component, its id and the number of the event, in the error and the log', async () => {
    const it = await engineOver(poisoned);
    for (let fault = 0; fault < 3; fault++) await it.outcome('a', 'total');
    const heldBack = await it.call('a', 'total').catch((error: unknown) => error as SvcError);
    await it.outcome('a', 'total');
    const name = `event 4 of entity 'a' of component '${COUNTER}' cannot be folded: poison of entity a`;
    expect((heldBack as SvcError).message).toContain(name);
    expect((heldBack as SvcError).message).toContain('for another 1000 ms');
    expect((heldBack as SvcError).retryAfterMs).toBe(1000);
    // Each fault once, and the beginning of the pause.
    expect(it.faults.map(({ fault }) => failureOf(fault))).toEqual([
      'trap',
      'trap',
      'trap',
      'SVC_ENTITY_HELD_BACK',
    ]);
    for (const { fault } of it.faults) expect((fault as Error).message).toContain(name);
  });

  test('keeps what the guest said and the limit that it met', async () => {
    const it = await engineOver([added(1)]);
    const words = { limit: 'apply-fuel', guestMessage: 'abort: odd at cart.ts:3:4' } as const;
    it.guest.onFold = () => {
      throw new GuestFault('fuel', 'it ran out of fuel', words);
    };
    expect(await it.outcome('a', 'total')).toBe('failed fuel');
    expect(it.faults[0]?.fault).toMatchObject({ faultCause: 'fuel', ...words });
  });

  test('is opened in an instance of its own once it has faulted, so that it takes no other away', async () => {
    const it = await engineOver(poisoned, { perInstance: 10 });
    await it.outcome('a', 'total');
    await it.outcome('b', 'add', 5);
    const before = it.guest.opened.length;
    await it.outcome('a', 'total');
    expect(it.guest.opened.slice(before)).toEqual(['a alone', 'a alone']);
    expect(await it.outcome('b', 'total')).toBe(5);
    expect(it.guest.opened.slice(before)).toEqual(['a alone', 'a alone']);
  });

  test('leaves the others as they are, and puts none of them out of memory while it is held back', async () => {
    const it = await engineOver(poisoned, { limits: { ...limits, liveEntitiesMax: 1 } });
    for (let fault = 0; fault < 3; fault++) await it.outcome('a', 'total');
    expect(await it.outcome('b', 'add', 1)).toBe(1);
    const before = it.guest.opened.length;
    expect(await it.outcome('a', 'total')).toBe('failed SVC_ENTITY_HELD_BACK');
    expect(await it.outcome('b', 'total')).toBe(1);
    expect(it.guest.opened.length).toBe(before);
  });

  test('has all its tries again once its events could be folded', async () => {
    const it = await engineOver(poisoned);
    for (let fault = 0; fault < 3; fault++) await it.outcome('a', 'total');
    it.nowMs += 1_000;
    it.guest.cured.add('a');
    expect(await it.outcome('a', 'total')).toBe(10);
    it.guest.cured.clear();
    await it.outcome('a', 'fault');
    for (let fault = 0; fault < 3; fault++)
      expect(await it.outcome('a', 'total')).toBe('failed trap');
    expect(await it.outcome('a', 'total')).toBe('failed SVC_ENTITY_HELD_BACK');
  });

  test.each([HOUR_MS, -HOUR_MS])(
    'is held back as long when the wall clock is set by %i ms',
    async (setMs) => {
      const it = await engineOver(poisoned);
      for (let fault = 0; fault < 3; fault++) await it.outcome('a', 'total');
      it.wallSetMs = setMs;
      it.nowMs += 999.5;
      await expect(it.call('a', 'total')).rejects.toMatchObject({
        code: 'SVC_ENTITY_HELD_BACK',
        retryAfterMs: 1,
        message: expect.stringContaining('for another 1 ms') as string,
      });
      it.nowMs += 0.5;
      expect(await it.outcome('a', 'total')).toBe('failed trap');
    },
  );
});

test.each([
  ['an event that the module cannot read', [added(1), UNREADABLE], 'SVC_EVENT_UNREADABLE'],
  ['an event that takes all the fuel', [POISON], 'trap'],
])('%s counts', async (_, events, failure) => {
  const it = await engineOver(events);
  for (let fault = 0; fault < 3; fault++)
    expect(await it.outcome('a', 'total')).toBe(`failed ${failure}`);
  expect(await it.outcome('a', 'total')).toBe('failed SVC_ENTITY_HELD_BACK');
  const heldBack = await it.call('a', 'total').catch((error: unknown) => error as Error);
  expect((heldBack as Error).message).toMatch(
    /^The code has faulted 3 times .*[^.]\. Run code that folds its events\.$/,
  );
});

test('a fault while the entity is opened counts, and a lack of memory does not', async () => {
  const it = await engineOver([added(1)]);
  it.guest.openFailure = new GuestFault('memory', 'all of it is taken', { limit: 'memory' });
  for (let fault = 0; fault < 5; fault++)
    expect(await it.outcome('a', 'total')).toBe('failed memory');
  it.guest.openFailure = new GuestFault('trap', 'unreachable');
  for (let fault = 0; fault < 3; fault++)
    expect(await it.outcome('a', 'total')).toBe('failed trap');
  expect(await it.outcome('a', 'total')).toBe('failed SVC_ENTITY_HELD_BACK');
  expect(failureText(it.faults.at(-1)?.fault)).toContain(
    `entity 'a' of component '${COUNTER}' cannot be opened: unreachable`,
  );
});

test('a process that is lost while the entity is opened counts, and is the reason that is named', async () => {
  const it = await engineOver([added(1)]);
  it.guest.openFailure = new GuestLost('SVC_PROCESS_UNAVAILABLE', 'its connection has ended.');
  await expect.poll(() => it.outcome('a', 'total')).toBe('failed SVC_ENTITY_HELD_BACK');
  const heldBack = await it.call('a', 'total').catch((error: unknown) => error as Error);
  expect((heldBack as Error).message).toMatch(
    /^The process that holds the code was lost 3 times in a row during a call of entity 'a'.*The lines of the process in the log may say why\.$/,
  );
});

test('a journal that cannot be read does not count', async () => {
  const it = await engineOver([added(1)]);
  it.journal.readFailure = diskFailure();
  for (let failure = 0; failure < 5; failure++)
    expect(await it.outcome('a', 'total')).toBe('failed SVC_JOURNAL_UNAVAILABLE');
  it.journal.readFailure = undefined;
  expect(await it.outcome('a', 'total')).toBe(1);
});

const entity = (index: number) => ({ component: COUNTER, id: String(index) });

test('no more than so many entities are remembered, those that faulted last', () => {
  const breaker = new EntityBreaker({ ...limits, entityFaultsMax: 1 }, { monotonicMs: () => 0 });
  const fault = new GuestFault('trap', 'odd');
  for (let index = 0; index <= 10_000; index++) {
    // The first one is always the one that faulted last.
    breaker.faulted(entity(0), fault);
    if (index > 0) breaker.faulted(entity(index), fault);
  }
  expect(breaker.hasFaulted(entity(0))).toBe(true);
  expect(breaker.hasFaulted(entity(1))).toBe(false);
  expect(breaker.hasFaulted(entity(2))).toBe(true);
  expect(breaker.hasFaulted(entity(10_000))).toBe(true);
});
