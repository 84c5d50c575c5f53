import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import type { EntityRef, JournalRecord } from '../../../../model/entity.ts';
import type { SvcError } from '../../../../kit/svc-error.ts';
import { attachSqliteJournal } from '../../../../host/storage/sqlite/attached-journal.ts';
import { openSqliteJournal } from '../../../../host/storage/sqlite/sqlite-journal.ts';
import { answerTo, append, keep, recordOf } from '../../../suites/journal-suite.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

const KIB = 1024;
const entity: EntityRef = { component: 'Cart', id: 'one' };

async function withQuota<T>(
  dir: string,
  bytesMax: number,
  use: (journal: ReturnType<typeof attachSqliteJournal>) => Promise<T>,
): Promise<T> {
  const opened = await openSqliteJournal(dir, { bytesMax });
  const journal = attachSqliteJournal(opened.connect());
  try {
    return await use(journal);
  } finally {
    await journal.close();
    await opened.close();
  }
}

function bytesOf(dir: string): number {
  const database = new DatabaseSync(join(dir, 'journal.sqlite'), { readOnly: true });
  const pages = Number(database.prepare('PRAGMA page_count').get()?.['page_count']);
  const bytes = pages * Number(database.prepare('PRAGMA page_size').get()?.['page_size']);
  database.close();
  return bytes;
}

/** Appends records until one is refused, and answers how many were stored and why not more. */
async function fill(
  store: (seq: number) => Promise<SvcError | undefined>,
): Promise<readonly [stored: number, failure: SvcError]> {
  for (let stored = 0; stored < 100_000; stored++) {
    const failure = await store(stored + 1);
    if (failure !== undefined) return [stored, failure];
  }
  throw new Error('it never became full');
}

test('a journal that is full refuses the append, keeps what it has, and is never larger', async () => {
  const dir = temporaryFolder();
  const bytesMax = 256 * KIB;
  const json = `"${'x'.repeat(3 * KIB)}"`;
  const stored = await withQuota(dir, bytesMax, async (journal) => {
    const [count, failure] = await fill((seq) => append(journal, entity, recordOf(seq, json)));
    expect(failure.code).toBe('SVC_JOURNAL_FULL');
    expect(failure.message).toContain('svc.journal.bytes-max');
    expect(await journal.read(entity, 0, 1_000)).toHaveLength(count);
    // The refused one has left no hole, and a small one may still fit.
    expect(await append(journal, entity, recordOf(count + 1))).toBeUndefined();
    return count + 1;
  });
  expect(stored).toBeGreaterThan(40);
  expect(bytesOf(dir)).toBeLessThanOrEqual(bytesMax);
  // It is full for the next host as well, and has room again when the limit is raised.
  await withQuota(dir, bytesMax, async (journal) => {
    expect((await append(journal, entity, recordOf(stored + 1, json)))?.code).toBe(
      'SVC_JOURNAL_FULL',
    );
  });
  for (const raised of [2 * bytesMax, 0])
    await withQuota(dir, raised, async (journal) => {
      const before = await journal.read(entity, 0, 1_000);
      expect(await append(journal, entity, recordOf(before.length + 1, json))).toBeUndefined();
    });
});

test('answers past their time make room in a journal that is full', async () => {
  const dir = temporaryFolder();
  const bytesMax = 256 * KIB;
  const outcome = { kind: 'reply', json: `"${'x'.repeat(3 * KIB)}"` } as const;
  await withQuota(dir, bytesMax, async (journal) => {
    const [count, failure] = await fill((seq) =>
      keep(journal, entity, [], { ...answerTo(`k${seq}`, 1), outcome }),
    );
    expect([failure.code, count > 30]).toEqual(['SVC_JOURNAL_FULL', true]);
    const later = (key: string) =>
      keep(journal, entity, [], { ...answerTo(key, 100), outcome, retentionMs: 50 });
    expect((await later('first'))?.code).toBe('SVC_JOURNAL_FULL');
    for (let at = 0; at < count - 5; at++) expect(await later(`later${at}`)).toBeUndefined();
  });
  expect(bytesOf(dir)).toBeLessThanOrEqual(bytesMax);
});

test('many small entities in a few transactions do not get past it either', async () => {
  const dir = temporaryFolder();
  const bytesMax = 512 * KIB;
  await withQuota(dir, bytesMax, async (journal) => {
    const failures = await Promise.all(
      Array.from({ length: 5_000 }, (_, index) =>
        append(
          journal,
          { component: 'Cart', id: `${(index * 7_919) % 5_000}`.padEnd(200, 'ä') },
          recordOf(1),
        ),
      ),
    );
    const refused = failures.filter((failure) => failure !== undefined);
    expect(new Set(refused.map(({ code }) => code))).toEqual(new Set(['SVC_JOURNAL_FULL']));
    expect(failures.length - refused.length).toBeGreaterThan(200);
  });
  expect(bytesOf(dir)).toBeLessThanOrEqual(bytesMax);
});

test('one append that is too large fails alone, with those of its entity that build on it', async () => {
  await withQuota(temporaryFolder(), 256 * KIB, async (journal) => {
    const large: JournalRecord = recordOf(1, `"${'ä'.repeat(200 * KIB)}"`);
    const outcomes = await Promise.all([
      append(journal, { component: 'Cart', id: 'before' }, recordOf(1)),
      append(journal, entity, large),
      append(journal, entity, recordOf(2)),
      append(journal, { component: 'Cart', id: 'after' }, recordOf(1)),
    ]);
    expect(outcomes.map((failure) => failure?.code)).toEqual([
      undefined,
      'SVC_JOURNAL_FULL',
      'SVC_JOURNAL_UNAVAILABLE',
      undefined,
    ]);
    expect(await append(journal, entity, recordOf(1))).toBeUndefined();
  });
});

test('text that takes three bytes a character at most is measured, not guessed', async () => {
  await withQuota(temporaryFolder(), 256 * KIB, async (journal) => {
    // With three bytes a character it would not fit.
    const record = recordOf(1, `"${'x'.repeat(150 * KIB)}"`);
    expect(await append(journal, entity, record)).toBeUndefined();
  });
});

test.each([700, 1_400, 2_800])(
  'records that leave a part of their page unused do not get past it: about %i bytes',
  async (bytes) => {
    const dir = temporaryFolder();
    const bytesMax = 1024 * KIB;
    // Three bytes each, so that what they take at most is what they take.
    const json = `"${'語'.repeat(bytes / 3)}"`;
    await withQuota(dir, bytesMax, async (journal) => {
      const [stored] = await fill(async (turn) => {
        const first = (turn - 1) * 20;
        const records = Array.from({ length: 20 }, (_, index) => recordOf(first + index + 1, json));
        return append(journal, entity, ...records);
      });
      expect(stored).toBeGreaterThan(5);
    });
    expect(bytesOf(dir)).toBeLessThanOrEqual(bytesMax);
  },
);
