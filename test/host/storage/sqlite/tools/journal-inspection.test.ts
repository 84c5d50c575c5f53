// A data folder that is only looked at: nothing in it changes, whoever else is at it.
import { readFileSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, onTestFinished, test } from 'vitest';
import { SvcError } from '../../../../../kit/svc-error.ts';
import { SqliteInspection } from '../../../../../host/storage/sqlite/tools/journal-inspection.ts';
import { append, recordOf } from '../../../../suites/journal-suite.ts';
import { temporaryFolder } from '../../../../support/temporary-folder.ts';
import { withJournal } from '../../../../support/with-journal.ts';

const entity = { component: 'cart', id: 'one' };

async function filledFolder(count: number): Promise<string> {
  const dir = temporaryFolder();
  await withJournal(dir, async (journal) => {
    const records = Array.from({ length: count }, (_, index) => recordOf(index + 1));
    expect(await append(journal, entity, ...records)).toBeUndefined();
  });
  return dir;
}

function opened(dir: string) {
  const inspection = new SqliteInspection(dir);
  onTestFinished(() => inspection.close());
  return inspection;
}

function edit(dir: string, sql: string): void {
  const database = new DatabaseSync(join(dir, 'journal.sqlite'));
  database.exec(sql);
  database.close();
}

function contents(dir: string) {
  return readdirSync(dir)
    .toSorted()
    .map((name) => {
      const { size, mtimeMs, mode } = statSync(join(dir, name));
      return { name, size, mtimeMs, mode, text: readFileSync(join(dir, name), 'base64') };
    });
}

describe('looking at a journal', () => {
  test('whose host has ended makes and changes nothing, not even a log', async () => {
    const dir = await filledFolder(3);
    const before = contents(dir);
    const inspection = opened(dir);
    expect(inspection.components()).toEqual([{ component: 'cart', entities: 1, events: 3 }]);
    expect(inspection.records(entity, 0, 10).records).toHaveLength(3);
    inspection.close();
    expect(contents(dir)).toEqual(before);
  });

  test('sees what a host that runs has stored, and what one stores that starts meanwhile', async () => {
    const dir = await filledFolder(1);
    const inspection = opened(dir);
    expect(inspection.records(entity, 0, 10).lastSeq).toBe(1);
    await withJournal(dir, async (journal) => {
      expect(await append(journal, entity, recordOf(2))).toBeUndefined();
      expect(inspection.records(entity, 0, 10).lastSeq).toBe(2);
      expect(await append(journal, entity, recordOf(3))).toBeUndefined();
      expect(inspection.records(entity, 0, 10).lastSeq).toBe(3);
    });
    expect(inspection.components()).toEqual([{ component: 'cart', entities: 1, events: 3 }]);
  });

  test('counts a deletion as none of the events, and says that the entity is deleted', async () => {
    const dir = await filledFolder(2);
    await withJournal(dir, async (journal) => {
      const deletion = { kind: 'deleted', seq: 3, timeMs: 77 } as const;
      expect(await append(journal, entity, deletion)).toBeUndefined();
    });
    expect(opened(dir).entities('cart', '', 10)).toEqual([
      { id: 'one', events: 2, lastTimeMs: 77, deleted: true },
    ]);
  });

  test('finds ids by what they begin with, and counts them, whatever characters they have', async () => {
    const dir = temporaryFolder();
    const ids = ['a', 'a%', 'ab', 'ab\u{10ffff}', 'ab\u{10ffff}z', 'ac', 'b', '\ud7ff', '\ue000x'];
    await withJournal(dir, async (journal) => {
      for (const id of ids) await append(journal, { component: 'cart', id }, recordOf(1));
      await append(journal, { component: 'cat', id: 'ab' }, recordOf(1));
    });
    const inspection = opened(dir);
    const found = (prefix: string, after = '', limit = 100) =>
      inspection.entities('cart', after, limit, prefix).map(({ id }) => id);
    for (const prefix of ['', ...ids, 'ab\u{10ffff}\u{10ffff}', 'nobody', '%', '_']) {
      const wanted = ids.filter((id) => id.startsWith(prefix));
      expect([prefix, found(prefix)]).toEqual([prefix, wanted]);
      expect(inspection.countEntities('cart', prefix, 1_000)).toBe(wanted.length);
    }
    expect(found('a', 'a%', 2)).toEqual(['ab', 'ab\u{10ffff}']);
    expect(found('ab', 'z')).toEqual([]);
    expect(inspection.countEntities('cart', 'a', 3)).toBe(3);
  });

  test('goes on past a damaged record and a missing one, and names them', async () => {
    const dir = await filledFolder(6);
    edit(
      dir,
      `UPDATE journal SET json = '{}' WHERE seq = 2; DELETE FROM journal WHERE seq IN (4, 5);
       UPDATE journal SET time_ms = 9223372036854775807 WHERE seq = 6`,
    );
    const { records, lastSeq } = opened(dir).records(entity, 0, 10);
    expect(records.map(({ kind, seq }) => [seq, kind])).toEqual([
      [1, 'event'],
      [2, 'damaged'],
      [3, 'event'],
      [4, 'damaged'],
      [6, 'damaged'],
    ]);
    expect(records[3]).toMatchObject({ problem: 'records 4 to 5 are missing' });
    expect(lastSeq).toBe(6);
  });

  test('reads pages, of records by number and of entities by id', async () => {
    const dir = await filledFolder(5);
    await withJournal(dir, async (journal) => {
      for (const id of ['b', 'a', 'c'])
        expect(await append(journal, { component: 'cart', id }, recordOf(1))).toBeUndefined();
    });
    const inspection = opened(dir);
    const page = inspection.records(entity, 1, 2);
    expect(page.records.map(({ seq }) => seq)).toEqual([2, 3]);
    expect(page).toMatchObject({ lastSeq: 3, storedCount: 2 });
    expect(inspection.entities('cart', 'a', 2).map(({ id }) => id)).toEqual(['b', 'c']);
  });

  test('ends, also where somebody has written ids and numbers that no host would', async () => {
    const dir = await filledFolder(2);
    // Read as text the ids are one before the other, and each of the numbers is 2 to the power of 62.
    edit(
      dir,
      `INSERT INTO entity VALUES (8, 'blob', CAST(x'ff01' AS TEXT)), (9, 'blob', CAST(x'ff02' AS TEXT));
       INSERT INTO journal SELECT value, 1, value, 0, 0, '', '', 0, 0, NULL, NULL, NULL
         FROM (WITH RECURSIVE n(value) AS (SELECT 4611686018427387905 UNION ALL SELECT value + 1 FROM n
           WHERE value < 4611686018427387990) SELECT value FROM n);
       INSERT INTO place_new SELECT eno, seq, pos FROM journal WHERE pos > 2`,
    );
    const inspection = opened(dir);
    const corrupt = expect.objectContaining({ code: 'SVC_JOURNAL_CORRUPT' }) as SvcError;
    const last = inspection.entities('blob', '', 1)[0]!.id;
    expect(() => inspection.entities('blob', last, 1)).toThrow(corrupt);
    const page = inspection.records(entity, 0, 32);
    expect(page.records.at(-1)).toMatchObject({ kind: 'damaged', seq: 3 });
    expect(page).toMatchObject({ lastSeq: 2, storedCount: 2 });
  });

  test.each([
    ['entity', "eno, 'a' component, 'b' id"],
    ['place_old', 'eno, 1 seq, 1 pos'],
  ])(
    'computes nothing that somebody has put in the place of the table %s',
    async (table, columns) => {
      const dir = await filledFolder(1);
      edit(
        dir,
        `DROP TABLE ${table}; CREATE VIEW ${table} AS WITH RECURSIVE endless(eno) AS
           (SELECT 1 UNION ALL SELECT eno + 1 FROM endless) SELECT ${columns} FROM endless`,
      );
      expect(() => opened(dir).components()).toThrow(
        expect.objectContaining({ code: 'SVC_JOURNAL_CORRUPT' }) as SvcError,
      );
    },
  );

  test('reads on where somebody has made a view of his own', async () => {
    const dir = await filledFolder(1);
    edit(dir, 'CREATE VIEW mine AS SELECT * FROM journal');
    expect(opened(dir).components()).toHaveLength(1);
  });

  test.each([
    ['no journal', '', 'SVC_JOURNAL_MISSING'],
    ['a newer format', 'PRAGMA user_version = 99', 'SVC_JOURNAL_NEWER'],
    ["somebody else's database", 'PRAGMA application_id = 1', 'SVC_JOURNAL_CORRUPT'],
  ])('refuses %s', async (_what, sql, code) => {
    const dir = sql === '' ? join(temporaryFolder(), 'none') : await filledFolder(1);
    if (sql !== '') edit(dir, `PRAGMA journal_mode = DELETE; ${sql}`);
    expect(() => new SqliteInspection(dir)).toThrow(expect.objectContaining({ code }) as SvcError);
  });
});
