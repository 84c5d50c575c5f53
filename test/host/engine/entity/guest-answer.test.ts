import { describe, expect, test } from 'vitest';
import type { GuestFault } from '../../../../model/guest-fault.ts';
import { COUNTER, COUNTER_EVENT, added } from '../../../support/counter-guest.ts';
import { EngineUnderTest } from '../../../support/engine-under-test.ts';

const long = (characters: string, units: number) => ({
  manifest: COUNTER_EVENT,
  json: JSON.stringify({ type: 'Added', by: 1, note: characters.repeat(units) }),
});
const limitOf = ({ faults }: EngineUnderTest) => (faults[0]!.fault as GuestFault).limit;

describe('the limits on what a guest answers', () => {
  const limits = {
    eventsPerEffectMax: 3,
    eventBytesMax: 60,
    effectBytesMax: 100,
    replyBytesMax: 20,
  };

  test.each([
    ['a reply that is too large', { reply: 'x'.repeat(21) }, 'limit', 'reply-bytes'],
    ['a reply that is too large in UTF-8', { reply: '€€€€€€€' }, 'limit', 'reply-bytes'],
    [
      'an event of another manifest',
      { events: [{ ...added(1), manifest: 'Other' }] },
      'value',
      undefined,
    ],
    [
      'an event with half a character',
      { events: [{ ...added(1), json: '"\ud800"' }] },
      'value',
      undefined,
    ],
    ['an event with a zero', { events: [{ ...added(1), json: '"\0"' }] }, 'value', undefined],
  ])(
    'make %s a fault that persists nothing and keeps the state',
    async (_, effect, cause, limit) => {
      const it = new EngineUnderTest({ limits });
      await it.outcome('a', 'add', 5);
      const opened = it.guest.calls.length;
      expect(await it.outcome('a', 'effect', effect)).toBe(`failed ${cause}`);
      expect(await it.outcome('a', 'history')).toEqual([5]);
      expect(await it.records('a')).toHaveLength(1);
      expect(it.faults).toHaveLength(1);
      expect(limitOf(it)).toBe(limit);
      expect(it.guest.calls.slice(opened)).toEqual(['effect', 'history']);
    },
  );

  test('let through what just fits', async () => {
    const it = new EngineUnderTest({ limits });
    const effect = { events: [added(1), long('x', 20)], reply: '"€€€€€€"' };
    expect(await it.outcome('a', 'effect', effect)).toBe('€€€€€€');
    expect(await it.outcome('a', 'history')).toEqual([1, 1]);
  });

  test.each([
    ['a reply', { kind: 'reply', json: 'x'.repeat(21) }],
    ['a message', { kind: 'refusal', code: 'CONFLICT', message: 'x'.repeat(21) }],
    ['details', { kind: 'refusal', code: 'CONFLICT', message: '', details: 'x'.repeat(21) }],
    ['own code', { kind: 'refusal', code: 'OTHER', otherCode: 'x'.repeat(201), message: '' }],
  ])("hold for a query's %s", async (_, answer) => {
    const it = new EngineUnderTest({ limits });
    expect(await it.outcome('a', 'answer', answer)).toBe('failed limit');
    expect(limitOf(it)).toBe('reply-bytes');
  });
});

describe('events over a limit', () => {
  const limits = { eventsPerEffectMax: 3, eventBytesMax: 60, effectBytesMax: 100 };
  const rows = [
    ['too many events', [added(1), added(1), added(1), added(1)], 'it is 4 events, 3 are allowed'],
    ['an event that is too large', [long('x', 40)], 'an event takes more than 60 bytes'],
    ['an event that is too large in UTF-8', [long('€', 15)], 'an event takes more than 60 bytes'],
    ['too large events together', [long('x', 20), long('x', 20)], 'more than 100 bytes together'],
  ] as const;

  test.each(rows)('%s are refused, persist nothing and keep the state', async (_, events, what) => {
    const it = new EngineUnderTest({ limits });
    await it.outcome('a', 'add', 5);
    const opened = it.guest.calls.length;
    const refused = await it.call('a', 'effect', { events });
    expect(refused).toMatchObject({ kind: 'refusal', code: 'UNPROCESSABLE' });
    expect(refused).toHaveProperty('message', expect.stringContaining(what));
    expect(refused).toHaveProperty('message', expect.stringContaining('(SVC_EVENT_TOO_LARGE)'));
    expect(await it.outcome('a', 'history')).toEqual([5]);
    expect(await it.records('a')).toHaveLength(1);
    expect(it.faults).toEqual([]);
    expect(it.guest.calls.slice(opened)).toEqual(['effect', 'history']);
  });

  test('again and again hold no entity back', async () => {
    const it = new EngineUnderTest({ limits: { ...limits, entityFaultsMax: 1 } });
    const refused = 'refused UNPROCESSABLE';
    for (let time = 0; time < 5; time++)
      expect(await it.outcome('a', 'effect', { events: [long('x', 40)] })).toBe(refused);
    expect(await it.outcome('a', 'add', 5)).toBe(5);
  });

  test('are refused in their turn, and the commands around them are done', async () => {
    const it = new EngineUnderTest({ limits, later: true });
    const asked = [
      it.outcome('a', 'add', 1),
      it.outcome('a', 'effect', { events: [long('x', 40)] }),
      it.outcome('a', 'add', 2),
    ];
    expect(await Promise.all(asked)).toEqual([1, 'refused UNPROCESSABLE', 3]);
    expect(await it.records('a')).toHaveLength(2);
  });

  test('with an idempotency key are refused as the first time, and are never a success', async () => {
    const it = new EngineUnderTest({ limits });
    const target = { component: COUNTER, id: 'a' };
    const input = JSON.stringify({ events: [long('x', 40)] });
    const first = await it.engine.call(target, 'effect', input, [], 'k');
    expect(first).toMatchObject({ kind: 'refusal', code: 'UNPROCESSABLE' });
    expect(await it.engine.call(target, 'effect', input, [], 'k')).toEqual(first);
    expect(await it.journal.answer(target, 'k')).toMatchObject({ outcome: first });
    expect(await it.records('a')).toEqual([]);
  });
});
