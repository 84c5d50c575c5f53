// Index entries are in three levels, and every reader of a journal sees the same in whichever level they are.
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Journal } from '../../../../host/engine/needs/journal.ts';
import type { JournalRecord } from '../../../../model/entity.ts';
import { attachSqliteJournal } from '../../../../host/storage/sqlite/attached-journal.ts';
import { SqliteHistoryScan } from '../../../../host/storage/sqlite/tools/history-scan.ts';
import { openForWriting } from '../../../../host/storage/sqlite/journal-file.ts';
import { SqliteInspection } from '../../../../host/storage/sqlite/tools/journal-inspection.ts';
import { JOURNAL_LIMITS_DEFAULT } from '../../../../host/storage/journal-limits.ts';
import { verifyJournal } from '../../../../host/storage/sqlite/tools/journal-verification.ts';
import {
  IndexCompaction,
  type LevelSizes,
} from '../../../../host/storage/sqlite/index-compaction.ts';
import { LEVEL_TABLES } from '../../../../host/storage/sqlite/record-index.ts';
import { openSqliteJournal } from '../../../../host/storage/sqlite/sqlite-journal.ts';
import { append, deletionAt, keep, answerTo, recordOf } from '../../../suites/journal-suite.ts';
import { edit, numberIn } from '../../../support/damaged-journal.ts';
import { Random } from '../../../support/random.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

const SIZES: LevelSizes = { level0Max: 7, level1Max: 20 };
const IDS = Array.from({ length: 12 }, (_, index) => `e${String(index).padStart(2, '0')}`);
const entityOf = (id: string) => ({ component: 'cart', id });

async function withSizes(
  dir: string,
  sizes: LevelSizes | undefined,
  use: (journal: Journal) => Promise<void>,
): Promise<void> {
  const opened = await openSqliteJournal(dir, JOURNAL_LIMITS_DEFAULT, { levelSizes: sizes });
  const journal = attachSqliteJournal(opened.connect());
  try {
    await use(journal);
  } finally {
    await journal.close();
    await opened.close();
  }
}

function counts(dir: string): number[] {
  return LEVEL_TABLES.map((table) => numberIn(dir, `SELECT count(*) FROM ${table}`));
}

function findings(dir: string): unknown[] {
  return [...verifyJournal(dir, { structure: true })].filter(({ kind }) => kind === 'finding');
}

async function filled(records: number): Promise<{ dir: string; database: DatabaseSync }> {
  const dir = temporaryFolder();
  await withSizes(dir, undefined, async (journal) => {
    const all = Array.from({ length: records }, (_, index) => recordOf(index + 1));
    expect(await append(journal, entityOf('a'), ...all)).toBeUndefined();
  });
  const database = openForWriting(join(dir, 'journal.sqlite'));
  onTestFinished(() => database.close());
  return { dir, database };
}

/** Whatever reads the journal, from this process or another, beside the host or after it. */
async function expectAll(
  dir: string,
  journal: Journal,
  stored: ReadonlyMap<string, readonly JournalRecord[]>,
): Promise<void> {
  const inspection = new SqliteInspection(dir);
  const scan = new SqliteHistoryScan(dir);
  onTestFinished(() => {
    inspection.close();
    scan.close();
  });
  for (const [id, records] of stored) {
    const entity = entityOf(id);
    expect(await journal.read(entity, 0, 1_000)).toEqual(records);
    const middle = records.length >> 1;
    expect(await journal.read(entity, middle, 2)).toEqual(records.slice(middle, middle + 2));
    const deleted = records.findLast(({ kind }) => kind === 'deleted')?.seq ?? 0;
    expect(await journal.lastDeletion(entity)).toBe(deleted);
    const life = await journal.incarnation(entity, 1_000, undefined);
    expect([life.afterSeq, life.isWhole]).toEqual([deleted, true]);
    expect(life.records).toEqual(records.slice(deleted));
    expect(inspection.records(entity, middle, 1_000).records).toEqual(records.slice(middle));
  }
  const sorted = [...stored].toSorted(([one], [other]) => (one < other ? -1 : 1));
  expect(inspection.entities('cart', '', 100)).toEqual(
    sorted.map(([id, records]) => ({
      id,
      events: records.filter(({ kind }) => kind === 'event').length,
      lastTimeMs: records.at(-1)?.timeMs,
      deleted: records.at(-1)?.kind === 'deleted',
    })),
  );
  expect(scan.page('cart', '', '~').map(({ id, records }) => [id, records])).toEqual(sorted);
}

describe('records with their index entries in several levels', () => {
  test('are found by all that reads them, while they are compacted, and after a restart', async () => {
    const dir = temporaryFolder();
    const random = new Random(5);
    const stored = new Map<string, JournalRecord[]>();
    for (let opening = 0; opening < 3; opening++)
      await withSizes(dir, SIZES, async (journal) => {
        for (let turn = 0; turn < 60; turn++) {
          const id = random.pick(IDS);
          const records = stored.get(id) ?? [];
          stored.set(id, records);
          const seq = records.length + 1;
          const more = random.chance(10) ? [deletionAt(seq)] : [recordOf(seq), recordOf(seq + 1)];
          expect(await append(journal, entityOf(id), ...more)).toBeUndefined();
          records.push(...more);
          if (turn % 10 === 0) await expectAll(dir, journal, stored);
        }
        // Only a refusal that is kept.
        const only = entityOf(`only-${opening}`);
        expect(await keep(journal, only, [], answerTo('key', 1))).toBeUndefined();
        stored.set(only.id, []);
        await expectAll(dir, journal, stored);
        expect(findings(dir)).toEqual([]);
      });
    const [fresh, recent, old] = counts(dir) as [number, number, number];
    expect(fresh).toBeLessThan(SIZES.level0Max);
    expect(recent).toBeLessThanOrEqual(SIZES.level1Max + SIZES.level0Max + 2);
    expect(old).toBeGreaterThan(200);
  });

  test('are read by pages of entities, those without a record among them', async () => {
    const dir = temporaryFolder();
    const ids = Array.from({ length: 1_300 }, (_, index) => `e${10_000 + index}`);
    await withSizes(dir, SIZES, async (journal) => {
      const stored = ids.map((id, index) =>
        index % 500 === 0
          ? keep(journal, entityOf(id), [], answerTo('key', 1))
          : append(journal, entityOf(id), recordOf(1)),
      );
      expect(new Set(await Promise.all(stored))).toEqual(new Set([undefined]));
    });
    const scan = new SqliteHistoryScan(dir);
    onTestFinished(() => scan.close());
    const seen: string[] = [];
    for (let page = scan.page('cart', '', '~'); page.length > 0;) {
      for (const { id, storedCount } of page) seen.push(storedCount === 0 ? `${id} alone` : id);
      page = scan.page('cart', page.at(-1)!.id, '~');
    }
    expect(seen).toEqual(ids.map((id, index) => (index % 500 === 0 ? `${id} alone` : id)));
  });

  test('have their number checked against the last one, wherever that is', async () => {
    const dir = temporaryFolder();
    await withSizes(dir, SIZES, async (journal) => {
      for (let seq = 1; seq <= 60; seq++)
        expect(await append(journal, entityOf('a'), recordOf(seq))).toBeUndefined();
      expect(await append(journal, entityOf('b'), recordOf(1))).toBeUndefined();
    });
    for (const [index, table] of LEVEL_TABLES.toReversed().entries()) {
      const next = 61 + index;
      edit(
        dir,
        `CREATE TEMP TABLE all_entries AS ${LEVEL_TABLES.map((each) => `SELECT * FROM ${each}`).join(' UNION ALL ')};
         ${LEVEL_TABLES.map((each) => `DELETE FROM ${each};`).join('')}
         INSERT INTO ${table} SELECT * FROM all_entries`,
      );
      await withSizes(dir, undefined, async (journal) => {
        for (const seq of [next - 1, next + 1])
          expect(await append(journal, entityOf('a'), recordOf(seq))).toMatchObject({
            code: 'SVC_JOURNAL_UNAVAILABLE',
          });
        expect(await append(journal, entityOf('a'), recordOf(next))).toBeUndefined();
      });
    }
    expect(findings(dir)).toEqual([]);
  });

  test('that lead nowhere are damage, also where it is the last one', async () => {
    const dir = temporaryFolder();
    await withSizes(dir, undefined, async (journal) => {
      expect(await append(journal, entityOf('a'), recordOf(1), recordOf(2))).toBeUndefined();
    });
    edit(dir, 'DELETE FROM journal WHERE pos = 2');
    await withSizes(dir, undefined, async (journal) => {
      const corrupt = { code: 'SVC_JOURNAL_CORRUPT' };
      await expect(journal.read(entityOf('a'), 0, 10)).rejects.toMatchObject(corrupt);
      expect(() => journal.incarnation(entityOf('a'), 10, undefined)).toThrow(
        expect.objectContaining(corrupt) as Error,
      );
    });
  });
});

describe('the compaction of the index', () => {
  test('keeps its tables small however much a commit stores', async () => {
    const { dir, database } = await filled(400);
    const compaction = new IndexCompaction(database, SIZES);
    compaction.stored(0);
    expect(counts(dir)).toEqual([0, 20, 380]);
  });

  test('leaves what it cannot compact, and tries it again', async () => {
    const { dir, database } = await filled(30);
    const compaction = new IndexCompaction(database, SIZES);
    database.exec('PRAGMA busy_timeout = 0');
    const other = new DatabaseSync(join(dir, 'journal.sqlite'));
    other.exec('BEGIN IMMEDIATE');
    compaction.stored(0);
    other.close();
    expect(counts(dir)).toEqual([30, 0, 0]);
    // A conflict in the midst of it.
    edit(dir, 'INSERT INTO place_recent SELECT * FROM place_new WHERE seq = 20');
    for (let stored = 0; stored <= SIZES.level0Max; stored++) compaction.stored(1);
    expect(database.isTransaction).toBe(false);
    expect(counts(dir)).toEqual([30, 1, 0]);
    edit(dir, 'DELETE FROM place_recent');
    for (let stored = 0; stored <= SIZES.level0Max; stored++) compaction.stored(1);
    expect(counts(dir)[0]).toBe(0);
    expect(findings(dir)).toEqual([]);
  });
});
