// A command with an idempotency key is done once, and answered as the first time whenever it is asked again.
import { describe, expect, test } from 'vitest';
import type { StoredReply } from '../../../../host/engine/needs/journal.ts';
import type { Metadata, Refusal, Reply } from '../../../../model/call.ts';
import type { EntityRef } from '../../../../model/entity.ts';
import { eventKey, roundSuffix } from '../../../../model/event-key.ts';
import { GuestFault } from '../../../../model/guest-fault.ts';
import { MemoryJournal } from '../../../../host/storage/memory/memory-journal.ts';
import { COUNTER } from '../../../support/counter-guest.ts';
import { EngineUnderTest, turns } from '../../../support/engine-under-test.ts';
import { HeldJournal } from '../../../support/held-journal.ts';

const TRACE = '0af7651916cd43dd8448eb211c80319c';

function keyed(
  it: EngineUnderTest,
  key: string,
  name: string,
  input: unknown = null,
  metadata: Metadata = [],
): Promise<Reply | Refusal> {
  const target = { component: COUNTER, id: 'a' };
  return Promise.resolve().then(() =>
    it.engine.call(target, name, JSON.stringify(input), metadata, key),
  );
}

/** Looks for an answer only when it is let. */
class SlowAnswers extends HeldJournal {
  readonly gate = Promise.withResolvers<void>();

  override async answer(entity: EntityRef, key: string): Promise<StoredReply | undefined> {
    await this.gate.promise;
    return super.answer(entity, key);
  }
}

const CALL = eventKey({ consumer: 'ledger', entity: { component: 'order', id: 'o 1' }, seq: 7 });
const takeKey = (round: number) => `${CALL}.take.1${roundSuffix(round)}`;

test("a reply to a consumer's call is returned as long as it is stored, however old it is", async () => {
  const it = new EngineUnderTest();
  const key = `${CALL}.add.1`;
  const first = await keyed(it, key, 'add', 5);
  it.nowMs += 30 * 86_400_000;
  expect(await keyed(it, key, 'add', 5)).toEqual(first);
  expect(await it.outcome('a', 'total')).toBe(5);
});

describe.each([false, true])('with a guest that answers later: %s', (later) => {
  test('a command is executed once, and its reply is returned again', async () => {
    const it = new EngineUnderTest({ later });
    const first = await keyed(it, 'k', 'add', 5);
    await keyed(it, 'other', 'add', 1);
    expect(await keyed(it, 'k', 'add', 5)).toEqual(first);
    expect(await it.outcome('a', 'total')).toBe(6);
    expect(await it.records('a')).toMatchObject([{ key: 'k' }, { key: 'other' }]);
  });

  test('one that is asked again before it is on disk leaves behind it, with its answer', async () => {
    const it = new EngineUnderTest({ later });
    await it.outcome('a', 'noop');
    it.journal.held = true;
    const answers: string[] = [];
    const asked = [0, 1, 2].map((n) =>
      keyed(it, 'k', 'add', 5).then((outcome) => {
        answers.push(String(n));
        return outcome;
      }),
    );
    const wrong = keyed(it, 'k', 'add', 6);
    await turns();
    expect([answers, it.journal.waitingCount]).toEqual([[], 1]);
    await it.journal.letAllThrough();
    const [first, ...again] = await Promise.all(asked);
    expect(again).toEqual([first, first]);
    expect(answers).toEqual(['0', '1', '2']);
    expect(await wrong).toMatchObject({ code: 'UNPROCESSABLE' });
    expect(await it.outcome('a', 'total')).toBe(5);
  });

  test('one with another input that waits to be refused takes the key from nobody', async () => {
    const it = new EngineUnderTest({ later });
    await it.outcome('a', 'noop');
    it.journal.held = true;
    const first = keyed(it, 'k', 'add', 5);
    const between = keyed(it, 'other', 'add', 1);
    const wrong = keyed(it, 'k', 'add', 6);
    await turns();
    await it.journal.letThrough();
    const again = keyed(it, 'k', 'add', 5);
    await turns();
    await it.journal.letAllThrough();
    expect(await again).toEqual(await first);
    expect(await wrong).toMatchObject({ code: 'UNPROCESSABLE' });
    expect(await between).toEqual({ kind: 'reply', json: '6' });
  });

  test('one that was not stored is done when it is asked again, and what waited behind it fails', async () => {
    const it = new EngineUnderTest({ later });
    await it.outcome('a', 'noop');
    it.journal.held = true;
    const asked = [keyed(it, 'k', 'add', 5), keyed(it, 'k', 'add', 5)];
    await turns();
    await it.journal.fail();
    for (const outcome of await Promise.allSettled(asked)) expect(outcome.status).toBe('rejected');
    it.journal.held = false;
    await keyed(it, 'k', 'add', 5);
    await keyed(it, 'k', 'add', 5);
    expect(await it.outcome('a', 'total')).toBe(5);
    expect(it.guest.violations).toEqual([]);
  });

  test('a refusal is returned again as well, even if the command would succeed now', async () => {
    const it = new EngineUnderTest({ later });
    const refused = await keyed(it, 'k', 'take', 3);
    expect(refused.kind).toBe('refusal');
    await it.outcome('a', 'add', 10);
    expect(await keyed(it, 'k', 'take', 3)).toEqual(refused);
    expect(await it.outcome('a', 'total')).toBe(10);
  });

  describe('a call of a consumer that was refused', () => {
    test.each([0, 2])(
      'is refused again in round %i, and in an earlier one, and made again in a later one',
      async (round) => {
        const it = new EngineUnderTest({ later });
        const refused = await keyed(it, takeKey(round), 'take', 3);
        expect(refused.kind).toBe('refusal');
        await it.outcome('a', 'add', 10);
        expect(await keyed(it, takeKey(round), 'take', 3)).toEqual(refused);
        expect(await keyed(it, takeKey(0), 'take', 3)).toEqual(refused);
        const reply = await keyed(it, takeKey(round + 1), 'take', 3);
        expect(reply.kind).toBe('reply');
        // A reply is repeated in every round, also in those before it.
        for (const other of [0, round, round + 1, round + 9])
          expect(await keyed(it, takeKey(other), 'take', 3)).toEqual(reply);
        expect(await it.outcome('a', 'total')).toBe(7);
      },
    );

    test('is refused in each round by the state of that time, and has one stored answer', async () => {
      const it = new EngineUnderTest({ later });
      const refusals = new Set<string>();
      for (const round of [0, 1, 2, 5]) {
        const calls = it.guest.calls.length;
        const refused = await keyed(it, takeKey(round), 'take', 3);
        expect(it.guest.calls.length).toBe(calls + 1);
        expect(await keyed(it, takeKey(round), 'take', 3)).toEqual(refused);
        expect(it.guest.calls.length).toBe(calls + 1);
        refusals.add(refused.kind);
      }
      expect([...refusals]).toEqual(['refusal']);
      const stored = await it.journal.answer({ component: COUNTER, id: 'a' }, takeKey(0));
      expect(stored).toMatchObject({ key: takeKey(0), round: 5 });
      expect(await it.journal.answer({ component: COUNTER, id: 'a' }, takeKey(5))).toBeUndefined();
    });

    test('may have another input in a later round only', async () => {
      const it = new EngineUnderTest({ later });
      await keyed(it, takeKey(0), 'take', 3);
      await it.outcome('a', 'add', 10);
      const reused = { code: 'UNPROCESSABLE' };
      expect(await keyed(it, takeKey(0), 'take', 4)).toMatchObject(reused);
      expect((await keyed(it, takeKey(1), 'take', 4)).kind).toBe('reply');
      expect(await keyed(it, takeKey(2), 'take', 3)).toMatchObject(reused);
      expect(await it.outcome('a', 'total')).toBe(6);
    });

    test('is not made again while its refusal waits for the disk', async () => {
      const it = new EngineUnderTest({ later });
      await it.outcome('a', 'noop');
      it.journal.held = true;
      const first = keyed(it, takeKey(0), 'take', 3);
      await turns();
      const next = keyed(it, takeKey(1), 'take', 3);
      await turns();
      await it.journal.letAllThrough();
      expect(await next).toEqual(await first);
      expect(it.guest.calls.filter((name) => name === 'take')).toHaveLength(1);
    });
  });

  test('one whose key is looked for while a write of its entity fails is done once on the entity that comes back', async () => {
    const journal = new SlowAnswers(new MemoryJournal());
    const it = new EngineUnderTest({ later, journal });
    journal.held = true;
    const failing = it.outcome('a', 'add', 1);
    await turns();
    const asked = keyed(it, 'k', 'add', 5);
    await turns();
    await journal.fail();
    journal.held = false;
    journal.gate.resolve();
    expect(await failing).toBe('failed SVC_JOURNAL_UNAVAILABLE');
    const reply = { kind: 'reply', json: '5' };
    expect(await asked).toEqual(reply);
    expect(await keyed(it, 'k', 'add', 5)).toEqual(reply);
    expect(await it.outcome('a', 'total')).toBe(5);
    expect(it.guest.violations).toEqual([]);
  });

  test('one whose key is looked for while its instance is lost is done once on the entity that comes back', async () => {
    const journal = new SlowAnswers(new MemoryJournal());
    const it = new EngineUnderTest({ later, journal, perInstance: 2 });
    await it.outcome('a', 'add', 1);
    await it.outcome('b', 'add', 1);
    const asked = keyed(it, 'k', 'add', 5);
    await turns();
    expect(await it.outcome('b', 'fault')).toBe('failed trap');
    journal.gate.resolve();
    expect(await asked).toEqual({ kind: 'reply', json: '6' });
    expect(await keyed(it, 'k', 'add', 5)).toEqual(await asked);
    expect(await it.outcome('a', 'total')).toBe(6);
    expect(it.guest.violations).toEqual([]);
  });

  test('a command that is repeated while its entity leaves memory gets its first answer', async () => {
    const it = new EngineUnderTest({
      later,
      fingerprint: 'one',
      limits: { snapshotIntervalEvents: 4, idleTimeoutMs: 1_000 },
    });
    const first = await keyed(it, 'k', 'add', 5);
    const gate = Promise.withResolvers<void>();
    it.guest.gate = gate.promise;
    await it.engine.passivate();
    it.nowMs += 1_000;
    await it.engine.passivate();
    // Of a guest that answers later the state is still being written.
    expect(it.guest.openCount).toBe(later ? 1 : 0);
    const again = [keyed(it, 'k', 'add', 5), keyed(it, 'other', 'add', 1)];
    await turns();
    gate.resolve();
    expect(await Promise.all(again)).toEqual([first, { kind: 'reply', json: '6' }]);
    expect(it.journal.snapshots).toHaveLength(1);
    await it.engine.close();
    expect(it.guest.violations).toEqual([]);
    expect(it.guest.openCount).toBe(0);
  });

  test('a command without events is done once, too', async () => {
    const it = new EngineUnderTest({ later });
    await keyed(it, 'k', 'noop');
    const count = it.guest.calls.length;
    await keyed(it, 'k', 'noop');
    expect(it.guest.calls.length).toBe(count);
    expect(await it.records('a')).toEqual([]);
  });
});

test('a key with another input or another command is refused, and nothing is done', async () => {
  const it = new EngineUnderTest();
  await keyed(it, 'k', 'add', 5);
  for (const other of [keyed(it, 'k', 'add', 6), keyed(it, 'k', 'take', 5)])
    expect(await other).toMatchObject({
      code: 'UNPROCESSABLE',
      // Not the key, which the runtime has made of the caller's and names a route and a command.
      message:
        'the idempotency key came with another command or input before: use a new key for another request (SVC_IDEMPOTENCY_KEY_REUSED)',
    });
  expect(await it.outcome('a', 'total')).toBe(5);
});

test('each entity knows its own keys, and a key on another one is another key', async () => {
  const it = new EngineUnderTest();
  await keyed(it, 'k', 'add', 5);
  const other = { component: COUNTER, id: 'b' };
  for (let times = 0; times < 2; times++)
    expect(await it.engine.call(other, 'add', '7', [], 'k')).toEqual({ kind: 'reply', json: '7' });
  expect([await it.outcome('a', 'total'), await it.outcome('b', 'total')]).toEqual([5, 7]);
});

test('an answer is returned after the entity has left memory, and after it was deleted', async () => {
  const journal = new HeldJournal(new MemoryJournal());
  const before = new EngineUnderTest({ journal });
  const first = await keyed(before, 'k', 'add', 5);
  await keyed(before, 'gone', 'remove');
  await before.engine.close();
  const it = new EngineUnderTest({ journal });
  expect(await keyed(it, 'k', 'add', 5)).toEqual(first);
  await keyed(it, 'gone', 'remove');
  expect((await it.records('a')).map(({ kind }) => kind)).toEqual(['event', 'event', 'deleted']);
});

test('an answer is returned until its retention has passed, and a clock that jumps back removes none', async () => {
  const it = new EngineUnderTest({ limits: { idempotencyRetentionMs: 1000 } });
  await keyed(it, 'k', 'add', 5);
  it.nowMs += 999;
  await keyed(it, 'k', 'add', 5);
  it.nowMs -= 1_000_000;
  await keyed(it, 'k', 'add', 5);
  expect(await it.outcome('a', 'total')).toBe(5);
  it.nowMs += 1_000_001;
  await keyed(it, 'k', 'add', 5);
  expect(await it.outcome('a', 'total')).toBe(10);
});

test('a fault is not kept: the command is tried again', async () => {
  const it = new EngineUnderTest();
  await expect(keyed(it, 'k', 'fault')).rejects.toBeInstanceOf(GuestFault);
  await expect(keyed(it, 'k', 'fault')).rejects.toBeInstanceOf(GuestFault);
  expect(it.guest.calls.filter((name) => name === 'fault')).toHaveLength(2);
});

test('an answer that cannot be read fails the command, which is not done', async () => {
  const it = new EngineUnderTest();
  await keyed(it, 'k', 'add', 5);
  it.journal.answerFailure = new Error('the disk');
  await expect(keyed(it, 'k', 'add', 5)).rejects.toThrow('the disk');
  it.journal.answerFailure = undefined;
  expect(await it.outcome('a', 'total')).toBe(5);
});

test('a query with a key is asked again', async () => {
  const it = new EngineUnderTest();
  const one = await keyed(it, 'k', 'total');
  await it.outcome('a', 'add', 5);
  expect(await keyed(it, 'k', 'total')).not.toEqual(one);
});

test('records carry the trace that the command came with', async () => {
  const it = new EngineUnderTest();
  await it.call('a', 'add', 5, [['traceparent', `00-${TRACE}-b7ad6b7169203331-01`]]);
  await it.call('a', 'add', 5, [['traceparent', 'none']]);
  await it.call('a', 'add', 5);
  expect((await it.records('a')).map(({ trace }) => trace)).toEqual([TRACE, undefined, undefined]);
});

test.each([
  ['is empty', ''],
  ['is too long', 'k'.repeat(1025)],
  ['has a space', 'a b'],
  ['has a control character', 'a\u001b[31m'],
  ['is not ASCII', 'schlüssel'],
])('a key that %s is refused with its code', async (_what, key) => {
  const it = new EngineUnderTest();
  expect(await keyed(it, key, 'add', 5)).toMatchObject({
    code: 'BAD_REQUEST',
    message: expect.stringContaining('SVC_IDEMPOTENCY_KEY_INVALID') as string,
  });
  expect(it.journal.appendCount).toBe(0);
});
