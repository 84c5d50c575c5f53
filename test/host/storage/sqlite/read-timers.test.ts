// The due timers of a journal on disk, as the dispatcher reads them when some are damaged.
import { DatabaseSync } from 'node:sqlite';
import { expect, onTestFinished, test } from 'vitest';
import { readTimers } from '../../../../host/storage/sqlite/read-timers.ts';
import { journalPath } from '../../../../host/storage/sqlite/journal-file.ts';
import { openTimerReader } from '../../../../host/storage/sqlite/timer-reader.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';
import { change, timerAt } from '../../../support/timer-writes.ts';
import { withJournal } from '../../../support/with-journal.ts';

/** Timers `t0` to `t9`, due one after the other, of which some are damaged. */
async function reading(...damaged: readonly number[]) {
  const dir = temporaryFolder();
  const timers = Array.from({ length: 10 }, (_, index) => timerAt(`t${index}`, index));
  await withJournal(dir, (journal) => change(journal, { component: 'Cart', id: 'one' }, ...timers));
  const database = new DatabaseSync(journalPath(dir));
  for (const index of damaged)
    database.prepare("UPDATE timer SET command = 'other' WHERE name = ?").run(`t${index}`);
  database.close();
  const reader = openTimerReader(journalPath(dir));
  onTestFinished(() => reader.close());
  const reported: unknown[] = [];
  const source = readTimers(reader, (error) => reported.push(error));
  const dueMs = async (limit: number, after?: { nextMs: number; number: number }) =>
    (await source.due(100, limit, after)).map((timer) => timer.dueMs);
  return { source, reported, dueMs };
}

test('a page of which some timers are damaged is filled with those behind them', async () => {
  const { source, reported, dueMs } = await reading(1, 2, 4);
  expect(await dueMs(4)).toEqual([0, 3, 5, 6]);
  expect(reported).toMatchObject(
    Array.from({ length: 3 }, () => ({ code: 'SVC_JOURNAL_CORRUPT' })),
  );
  expect(await dueMs(4, (await source.due(100, 4, undefined)).at(-1))).toEqual([7, 8, 9]);
});

test('a page of damaged timers alone is not the end', async () => {
  const { dueMs } = await reading(0, 1, 2, 3);
  expect(await dueMs(2)).toEqual([4, 5]);
});

test('fewer timers than asked for are the last ones', async () => {
  const { dueMs } = await reading(8, 9);
  expect(await dueMs(100)).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
});

test('the earliest time is that of the first timer, or of the first after a time', async () => {
  const { source } = await reading();
  expect([-Infinity, 3, 9].map((afterMs) => source.earliestMs(afterMs))).toEqual([0, 4, undefined]);
});
