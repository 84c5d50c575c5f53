// Replies that are computed from the state after the events of their command.
import { describe, expect, test } from 'vitest';
import { GuestFault } from '../../../../model/guest-fault.ts';
import { refusal } from '../../../../model/call.ts';
import { COUNTER } from '../../../support/counter-guest.ts';
import { EngineUnderTest, turns } from '../../../support/engine-under-test.ts';

describe.each([
  ['at once', { later: false }],
  ['later', { later: true }],
] as const)('with a guest that answers %s', (_, options) => {
  test('the reply is computed from the state after the events, and leaves once they are on disk', async () => {
    const it = new EngineUnderTest(options);
    await it.outcome('a', 'add', 1);
    it.journal.held = true;
    let answered: unknown;
    const answer = it.outcome('a', 'tell', 4).then((total) => (answered = total));
    await turns();
    expect(it.journal.waitingCount).toBe(1);
    expect(answered).toBeUndefined();
    await it.journal.letAllThrough();
    expect(await answer).toBe(5);
    expect(it.guest.calls.slice(-3)).toEqual(['tell', 'apply', 'reply to tell']);
    expect(it.guest.violations).toEqual([]);
  });

  test('the reply is computed before the next command of the entity is decided', async () => {
    const it = new EngineUnderTest(options);
    const totals = [1, 2, 3].map((by) => it.outcome('a', 'tell', by));
    expect(await Promise.all(totals)).toEqual([1, 3, 6]);
  });

  test('the reply of a command without events is computed from the state as it is', async () => {
    const it = new EngineUnderTest(options);
    await it.outcome('a', 'add', 7);
    expect(await it.outcome('a', 'tell', 0)).toBe(7);
    expect(await it.records('a')).toHaveLength(1);
  });

  test('the reply is computed with the context of its command', async () => {
    const it = new EngineUnderTest(options);
    it.guest.laterReply = ({ nowMs, seed }) => ({
      kind: 'reply',
      json: JSON.stringify([nowMs, Number(seed)]),
    });
    const reply = await it.outcome('a', 'tell', 4);
    const [record] = await it.records('a');
    expect(record).toMatchObject({ timeMs: it.nowMs });
    expect(reply).toEqual([it.nowMs, 1]);
  });

  test.each([
    [
      'a fault',
      () => {
        throw new GuestFault('trap', 'the reply');
      },
    ],
    ['a refusal', () => refusal('CONFLICT', 'no')],
    ['an empty text', () => ({ kind: 'reply', json: '' }) as const],
    [
      'more than a reply may take',
      () => ({ kind: 'reply', json: `"${'x'.repeat(100)}"` }) as const,
    ],
  ])(
    '%s in the place of the reply fails the command, and nothing is stored',
    async (_what, reply) => {
      const it = new EngineUnderTest({ ...options, limits: { replyBytesMax: 50 } });
      await it.outcome('a', 'add', 1);
      it.guest.laterReply = reply;
      await expect(it.call('a', 'tell', 4)).rejects.toBeInstanceOf(GuestFault);
      it.guest.laterReply = undefined;
      expect(await it.records('a')).toHaveLength(1);
      expect(await it.outcome('a', 'total')).toBe(1);
      expect(await it.outcome('a', 'tell', 2)).toBe(3);
      expect(it.faults.map(({ handler }) => handler)).toEqual(['tell']);
      expect(it.guest.violations).toEqual([]);
    },
  );

  test('a command whose events are not written fails, and the reply that was computed leaves with it', async () => {
    const it = new EngineUnderTest(options);
    await it.outcome('a', 'add', 1);
    it.journal.held = true;
    const lost = it.outcome('a', 'tell', 4);
    await turns();
    await it.journal.fail();
    it.journal.held = false;
    expect(await lost).toBe('failed SVC_JOURNAL_UNAVAILABLE');
    expect(await it.outcome('a', 'tell', 1)).toBe(2);
  });

  test('a repeated idempotency key is answered with the stored reply, and computes none', async () => {
    const it = new EngineUnderTest(options);
    const keyed = () => it.engine.call({ component: COUNTER, id: 'a' }, 'tell', '5', [], 'k');
    expect(await keyed()).toEqual({ kind: 'reply', json: '5' });
    await it.outcome('a', 'add', 10);
    expect(await keyed()).toEqual({ kind: 'reply', json: '5' });
    expect(it.guest.calls.filter((name) => name === 'reply to tell')).toHaveLength(1);
  });

  test('the reply of a command that deletes its entity is computed from the state before the deletion', async () => {
    const it = new EngineUnderTest(options);
    await it.outcome('a', 'add', 3);
    expect(await it.outcome('a', 'remove-and-tell', 4)).toBe(7);
    expect(await it.outcome('a', 'total')).toBe(0);
  });
});
