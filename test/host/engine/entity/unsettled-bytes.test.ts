import { expect, test } from 'vitest';
import { DetachedAppends } from '../../../../host/engine/entity/detached-appends.ts';
import { EntityCall } from '../../../../host/engine/entity/entity-call.ts';
import { HeldCalls } from '../../../../host/engine/entity/held-calls.ts';
import { UnsettledBytes } from '../../../../host/engine/entity/unsettled-bytes.ts';
import type { SvcError } from '../../../../kit/svc-error.ts';
import { added, COUNTER, COUNTER_EVENT } from '../../../support/counter-guest.ts';
import { EngineUnderTest } from '../../../support/engine-under-test.ts';
import { diskFailure } from '../../../support/held-journal.ts';

const large = {
  events: [
    {
      manifest: COUNTER_EVENT,
      json: JSON.stringify({ type: 'Added', by: 1, note: 'x'.repeat(600) }),
    },
  ],
};

test('commands are turned down before they are decided while too much waits for the disk', async () => {
  const it = new EngineUnderTest({ limits: { unsettledBytesMax: 1_000 } });
  await it.outcome('b', 'add', 1);
  it.journal.held = true;
  const first = it.outcome('a', 'effect', large);
  await expect.poll(() => it.journal.waitingCount).toBe(1);
  const before = it.guest.calls.length;
  expect(await it.outcome('b', 'add', 1)).toBe('failed SVC_OVERLOADED');
  expect(await it.outcome('b', 'noop')).toBe('failed SVC_OVERLOADED');
  expect(it.guest.calls.length).toBe(before);
  expect(await it.outcome('b', 'total')).toBe(1);
  // Load is nothing for the log.
  expect(it.faults).toEqual([]);
  await it.journal.letAllThrough();
  expect(await first).toBe(0);
  expect(await it.outcome('b', 'add', 1)).toBe(2);
});

test('replies that wait for the disk count as well, of commands and of queries behind them', async () => {
  const it = new EngineUnderTest({ limits: { unsettledBytesMax: 100_000 } });
  const reply = JSON.stringify('x'.repeat(30_000));
  const answer = { kind: 'reply', json: reply };
  it.journal.held = true;
  const command = it.outcome('a', 'effect', { events: [added(1)], reply });
  await expect.poll(() => it.journal.waitingCount).toBe(1);
  const query = it.outcome('a', 'answer', answer);
  // Both together are more than may wait.
  expect(await it.outcome('b', 'add', 1)).toBe('failed SVC_OVERLOADED');
  const before = it.guest.calls.length;
  expect(await it.outcome('a', 'answer', answer)).toBe('failed SVC_OVERLOADED');
  expect(it.guest.calls.length).toBe(before);
  // It waits for nothing.
  expect(await it.outcome('b', 'answer', answer)).toHaveLength(30_000);
  await it.journal.letAllThrough();
  expect([await command, await query]).toEqual(['x'.repeat(30_000), 'x'.repeat(30_000)]);
  for (let round = 0; round < 10; round++) expect(await it.outcome('b', 'add', 1)).toBe(round + 1);
});

test('replies of which the events were not stored wait no more', async () => {
  const it = new EngineUnderTest({ limits: { unsettledBytesMax: 100_000 } });
  const reply = JSON.stringify('x'.repeat(60_000));
  it.journal.held = true;
  const command = it.outcome('a', 'effect', { events: [added(1)], reply });
  await expect.poll(() => it.journal.waitingCount).toBe(1);
  expect(await it.outcome('b', 'add', 1)).toBe('failed SVC_OVERLOADED');
  await it.journal.fail();
  expect(await command).toBe('failed SVC_JOURNAL_UNAVAILABLE');
  it.journal.held = false;
  expect(await it.outcome('b', 'add', 1)).toBe(1);
});

test('what could not be stored waits for the disk no more', async () => {
  const it = new EngineUnderTest({ limits: { unsettledBytesMax: 1_000 } });
  it.journal.held = true;
  const outcomes = [it.outcome('a', 'effect', large), it.outcome('a', 'remove', 0)];
  await expect.poll(() => it.journal.waitingCount).toBe(1);
  await it.journal.fail();
  expect(await Promise.all(outcomes)).toEqual([
    'failed SVC_JOURNAL_UNAVAILABLE',
    'failed SVC_OVERLOADED',
  ]);
  it.journal.held = false;
  expect(await it.outcome('a', 'add', 1)).toBe(1);
});

/** A command that is held for its own append of so many bytes, with a reply of as many characters. */
function held(bytes: number): EntityCall {
  const call = new EntityCall('command', 'add', '1', []);
  call.heldForOwnAppend = bytes > 0;
  call.appendBytes = bytes;
  return call;
}

test('a held call counts with its append and its reply, until it is answered or its append has failed', () => {
  const unsettled = new UnsettledBytes();
  const [one, other] = [new HeldCalls(unsettled), new HeldCalls(unsettled)];
  const reply = { kind: 'reply', json: '12345' } as const;
  for (const bytes of [100, 0, 200]) one.hold(held(bytes), reply);
  for (const bytes of [1_000, 2_000, 0]) other.hold(held(bytes), reply);
  const ofReply = 2 * reply.json.length;
  expect(unsettled.total).toBe(3_300 + 6 * ofReply);
  // The append of the second entity settles before those of the first, and takes the call behind it along.
  other.release();
  expect(unsettled.total).toBe(2_300 + 5 * ofReply);
  one.release();
  expect(unsettled.total).toBe(2_200 + 3 * ofReply);
  expect(other.takeAll()).toHaveLength(2);
  expect(unsettled.total).toBe(200 + ofReply);
  one.release();
  expect(unsettled.total).toBe(0);
  // It waits for nothing.
  one.hold(held(0), reply);
  expect(unsettled.total).toBe(0);
});

test('changes of timers count until they have settled, in whatever order, and whether they are stored or not', async () => {
  const unsettled = new UnsettledBytes();
  const settle: ((failure?: SvcError) => void)[] = [];
  const detached = new DetachedAppends({
    journal: { append: (_entity, _records, settled) => settle.push(settled) },
    unsettled,
    limits: { unsettledBytesMax: 1_000_000 },
  });
  const appends = ['a', 'a name', 'a longer name'].map((name) => {
    const before = unsettled.total;
    const done = detached.append(
      { component: COUNTER, id: 'a' },
      { changes: [{ kind: 'cancel', name }] },
    );
    return { done, bytes: unsettled.total - before };
  });
  expect(new Set(appends.map(({ bytes }) => bytes)).size).toBe(3);
  settle[1]!();
  expect(unsettled.total).toBe(appends[0]!.bytes + appends[2]!.bytes);
  settle[2]!(diskFailure());
  expect(unsettled.total).toBe(appends[0]!.bytes);
  settle[0]!();
  expect(unsettled.total).toBe(0);
  await Promise.all(appends.map(({ done }) => done));
});
