import { describe, expect, test } from 'vitest';
import type { GuestFault } from '../../../../host/model/guest-fault.ts';
import { COUNTER_EVENT, added } from '../../../support/counter-guest.ts';
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
    [
      'too many events',
      { events: [added(1), added(1), added(1), added(1)] },
      'limit',
      'effect-events',
    ],
    ['an event that is too large', { events: [long('x', 40)] }, 'limit', 'event-bytes'],
    ['an event that is too large in UTF-8', { events: [long('€', 15)] }, 'limit', 'event-bytes'],
    [
      'too large events together',
      { events: [long('x', 20), long('x', 20)] },
      'limit',
      'effect-bytes',
    ],
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
