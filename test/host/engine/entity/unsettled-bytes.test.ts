import { expect, test } from 'vitest';
import { UnsettledBytes, appendBytes } from '../../../../host/engine/entity/unsettled-bytes.ts';
import { added, COUNTER_EVENT } from '../../../support/counter-guest.ts';
import { EngineUnderTest } from '../../../support/engine-under-test.ts';

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

test('many appends leave nothing behind, whether they settle one by one or together', () => {
  const bytes = new UnsettledBytes();
  let waiting = 0;
  for (let round = 0; round < 10_000; round++) {
    for (let count = round % 3; count >= 0; count--, waiting++)
      bytes.queued(appendBytes([added(1)], 0));
    if (round % 2 === 0) for (; waiting > 5; waiting--) bytes.settled();
  }
  const each = bytes.total / waiting;
  expect(each).toBe(128 + 2 * added(1).json.length);
  bytes.queued(appendBytes([], 1));
  for (; waiting > 0; waiting--) bytes.settled();
  expect(bytes.total).toBe(128);
  bytes.settled();
  expect(bytes.total).toBe(0);
});
