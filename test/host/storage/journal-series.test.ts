// What the journal's writer counts while it stores.
import { expect, test } from 'vitest';
import type { JournalRecord } from '../../../model/entity.ts';
import { histogramCount } from '../../../model/shared-histogram.ts';
import { attachSqliteJournal } from '../../../host/storage/sqlite/attached-journal.ts';
import { JOURNAL_LIMITS_DEFAULT } from '../../../host/storage/journal-limits.ts';
import { JournalSeries } from '../../../host/storage/journal-series.ts';
import { openSqliteJournal } from '../../../host/storage/sqlite/sqlite-journal.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const recordOf = (seq: number): JournalRecord => ({
  kind: 'event',
  seq,
  timeMs: 1,
  event: { manifest: 'm', json: '{}' },
});

test('each append is in a group and each record is counted, before the journal tells that it is stored', async () => {
  const series = new JournalSeries();
  const opened = await openSqliteJournal(temporaryFolder(), JOURNAL_LIMITS_DEFAULT, { series });
  const journal = attachSqliteJournal(opened.connect());
  const emptyBytes = series.read().bytes;
  expect(emptyBytes).toBeGreaterThan(0);
  expect(series.read()).toMatchObject({ events: 0, groupSize: { sum: 0 } });
  const append = async (id: string, seqs: readonly number[]) =>
    new Promise((resolve) => {
      journal.append({ component: 'c', id }, seqs.map(recordOf), resolve);
    });
  await Promise.all([append('a', [1, 2]), append('b', [1]), append('c', [1])]);
  expect(series.read().events).toBe(4);
  for (let seq = 1; seq <= 40; seq++) {
    await append('d', [seq]);
    expect(series.read().events).toBe(4 + seq);
  }
  // It does not follow what there is.
  expect(await append('a', [9])).toMatchObject({ code: 'SVC_JOURNAL_UNAVAILABLE' });
  await journal.close();
  await opened.close();
  const { events, groupSize, appendSeconds } = series.read();
  expect(events).toBe(44);
  expect(groupSize.sum).toBe(44);
  expect(histogramCount(groupSize)).toBe(42);
  expect(histogramCount(appendSeconds)).toBe(42);
  expect(appendSeconds.sum).toBeGreaterThan(0);
});

test('another thread reads it', () => {
  const series = new JournalSeries();
  const other = new JournalSeries(series.shared);
  series.stored(3, 5, 2);
  series.measured(4_096);
  expect(other.read()).toEqual(series.read());
  expect(other.read()).toMatchObject({ events: 5, bytes: 4_096, groupSize: { sum: 3 } });
  expect(other.read().appendSeconds.sum).toBe(0.002);
});
