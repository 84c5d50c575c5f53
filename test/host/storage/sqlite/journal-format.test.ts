// Journals of the format before are read, and brought to the present one; seeds are kept.
import { copyFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { crc32 } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { SqliteInspection } from '../../../../host/storage/sqlite/tools/journal-inspection.ts';
import { verifyJournal } from '../../../../host/storage/sqlite/tools/journal-verification.ts';
import { FORMAT_VERSION, migrationFrom } from '../../../../host/storage/sqlite/journal-schema.ts';
import { openSqliteJournal } from '../../../../host/storage/sqlite/sqlite-journal.ts';
import { append, deletionAt, recordOf } from '../../../suites/journal-suite.ts';
import { PAST_FORMATS, journalOfFormat } from '../../../support/journal-of-format.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';
import { withJournal } from '../../../support/with-journal.ts';

const cart = { component: 'shopping-cart', id: 'c1' };
const SEEDS = [0n, 1n, 0x7fff_ffff_ffff_ffffn, 0x8000_0000_0000_0000n, 0xffff_ffff_ffff_ffffn];

const BY = '["https://login.example.com","user-1"]';
const TRACE = '0af7651916cd43dd8448eb211c80319c';

function manifestsOf(dir: string): string[] {
  const database = new DatabaseSync(join(dir, 'journal.sqlite'), { readOnly: true });
  const rows = database.prepare('SELECT component, manifest FROM manifest').all();
  database.close();
  return rows.map(({ component, manifest }) => `${String(component)} ${String(manifest)}`);
}

function formatOf(dir: string): number {
  return readFileSync(join(dir, 'journal.sqlite')).readInt32BE(60);
}

function edit(dir: string, sql: string): void {
  const database = new DatabaseSync(join(dir, 'journal.sqlite'));
  database.exec(sql);
  database.close();
}

describe.each(PAST_FORMATS)('a journal of format %i', (version) => {
  test('is brought to the present one when it is opened, holds what it held, and goes on', async () => {
    const dir = journalOfFormat(version);
    expect(formatOf(dir)).toBe(version);
    for (let seq = 6; seq <= 7; seq++)
      await withJournal(dir, async (journal) => {
        // In the file itself, where an older svc looks.
        expect(formatOf(dir)).toBe(FORMAT_VERSION);
        expect(await journal.lastDeletion(cart)).toBe(4);
        const records = await journal.read(cart, 0, 100);
        expect(records.map(({ kind }) => kind).join()).toMatch(
          /^event,event,event,deleted(,event)+$/,
        );
        expect(records[1]).toEqual({
          kind: 'event',
          seq: 2,
          timeMs: 1_700_000_000_001,
          ...(version === 1 ? {} : { seed: 1n }),
          ...(version < 3 ? {} : { trace: TRACE }),
          event: {
            manifest: 'CartEvent',
            json: '{"type":"item-added","productId":"Käse 🧀","quantity":1}',
          },
        });
        const record = { ...recordOf(seq), seed: 5n, trace: TRACE, key: 'k', by: BY };
        expect(await append(journal, cart, record)).toBeUndefined();
        expect((await journal.read(cart, 5, 100)).at(-1)).toEqual(record);
      });
    expect(manifestsOf(dir)).toEqual(['shopping-cart CartEvent', 'shopping-cart E']);
  });

  test.each(['', 'COMMIT'])(
    'that was being brought to it when the machine stopped is there, whole: after "%s"',
    async (last) => {
      const [old, dir] = [journalOfFormat(version), temporaryFolder()];
      const database = new DatabaseSync(join(old, 'journal.sqlite'));
      // What a transaction does not keep in memory is in the log before it is committed.
      database.exec(`PRAGMA cache_size = 1; PRAGMA wal_autocheckpoint = 0;
        ${migrationFrom(version)} ${last}`);
      for (const file of ['journal.sqlite', 'journal.sqlite-wal'])
        copyFileSync(join(old, file), join(dir, file));
      database.close();
      expect(formatOf(dir)).toBe(version);
      await withJournal(dir, async (journal) => {
        expect(await journal.read(cart, 0, 100)).toHaveLength(5);
        expect(await append(journal, cart, { ...recordOf(6), seed: 5n })).toBeUndefined();
      });
      expect(formatOf(dir)).toBe(FORMAT_VERSION);
    },
  );

  test('that nobody has opened yet is looked at as it is', () => {
    const dir = journalOfFormat(version);
    const before = readFileSync(join(dir, 'journal.sqlite'));
    const inspection = new SqliteInspection(dir);
    const { records } = inspection.records(cart, 0, 100);
    inspection.close();
    expect(records.map((record) => record.kind)).not.toContain('damaged');
    expect(records.every((record) => 'seed' in record)).toBe(true);
    const hasSeeds = records.map((record) => 'seed' in record && record.seed !== undefined);
    expect(hasSeeds).toEqual(records.map(() => version > 1));
    expect(readFileSync(join(dir, 'journal.sqlite'))).toEqual(before);
  });

  test('whose tables are others is refused as damaged, and is left in its format', async () => {
    const dir = journalOfFormat(version);
    edit(dir, 'DROP TABLE journal');
    await expect(openSqliteJournal(dir)).rejects.toMatchObject({ code: 'SVC_JOURNAL_CORRUPT' });
    expect(formatOf(dir)).toBe(version);
  });

  test('does not take a trace, a key or an author for its own', async () => {
    for (const column of ['trace', 'key', 'by']) {
      const dir = journalOfFormat(version);
      await withJournal(dir, async () => {});
      edit(dir, `UPDATE journal SET ${column} = 'x'`);
      await withJournal(dir, async (journal) => {
        await expect(journal.read(cart, 0, 10)).rejects.toMatchObject({
          code: 'SVC_JOURNAL_CORRUPT',
        });
      });
    }
  });
});

describe('where a record comes from', () => {
  test('is kept with it, and with the deletion', async () => {
    const dir = temporaryFolder();
    const origin = { seed: 1n, trace: TRACE, key: "an 'order'; 42", by: BY };
    const records = [
      { ...recordOf(1), ...origin },
      { ...deletionAt(2), ...origin },
    ];
    await withJournal(dir, async (journal) => {
      expect(await append(journal, cart, ...records)).toBeUndefined();
      expect(await journal.read(cart, 0, 100)).toEqual(records);
    });
    const inspection = new SqliteInspection(dir);
    expect(inspection.records(cart, 0, 100).records).toEqual(records);
    inspection.close();
  });

  const CHANGES = ['pos = pos + 7', 'seq = seq + 1', 'trace = NULL', "key = 'other'", 'eno = 9'];
  const CHANGES_OF_AUTHOR = ['by = NULL', `by = replace(by, '1', '2')`];
  test.each([...CHANGES, ...CHANGES_OF_AUTHOR])('is under its checksum: %s', async (change) => {
    const dir = temporaryFolder();
    const other = { ...cart, id: 'other' };
    await withJournal(dir, async (journal) => {
      const record = { ...recordOf(1), trace: TRACE, key: 'k', by: BY };
      expect(await append(journal, cart, record)).toBeUndefined();
    });
    edit(
      dir,
      `INSERT INTO entity VALUES (9, 'shopping-cart', 'other'); UPDATE journal SET ${change};
         ${/^(eno|seq|pos)/.test(change) ? `UPDATE place_new SET ${change}` : ''}`,
    );
    await withJournal(dir, async (journal) => {
      const entity = change.startsWith('eno') ? other : cart;
      await expect(journal.read(entity, 0, 10)).rejects.toMatchObject({
        code: 'SVC_JOURNAL_CORRUPT',
      });
    });
  });
});

test('a record without an author has the checksum that it had in format 5', async () => {
  const dir = journalOfFormat(5);
  await withJournal(dir, async (journal) => {
    const record = { ...recordOf(2), seed: 5n, trace: TRACE, key: 'k' };
    expect(await append(journal, { ...cart, id: 'c2' }, record)).toBeUndefined();
  });
  const database = new DatabaseSync(join(dir, 'journal.sqlite'), { readOnly: true });
  const stored = database.prepare('SELECT crc, by FROM journal WHERE pos = 7').get();
  database.close();
  const text = `shopping-cart\nc2\n7 2 0 1700000000002 0 5 ${TRACE}\nk\nE\n{"type":"E","n":2}`;
  expect(stored).toEqual({ crc: 2 ** 32 + crc32(text), by: null });
});

test('a journal of format 5 has its timers and consumers after it was migrated', async () => {
  const dir = journalOfFormat(5);
  await withJournal(dir, async () => {});
  expect([...verifyJournal(dir, { structure: true })].map(({ kind }) => kind)).not.toContain(
    'finding',
  );
  const database = new DatabaseSync(join(dir, 'journal.sqlite'), { readOnly: true });
  const counts = database.prepare(
    `SELECT (SELECT count(*) FROM timer) AS timers, (SELECT count(*) FROM consumer) AS consumers,
      (SELECT count(*) FROM lane) AS lanes`,
  );
  expect(counts.get()).toEqual({ timers: 2, consumers: 1, lanes: 1 });
  database.close();
});

describe('a seed', () => {
  test('is kept with each record, whatever its bits', async () => {
    const dir = temporaryFolder();
    const records = SEEDS.map((seed, index) => ({ ...recordOf(index + 1), seed }));
    const last = { ...deletionAt(SEEDS.length + 1), seed: 7n };
    await withJournal(dir, async (journal) => {
      expect(await append(journal, cart, ...records, last)).toBeUndefined();
      expect(await journal.read(cart, 0, 100)).toEqual([...records, last]);
    });
    const inspection = new SqliteInspection(dir);
    expect(inspection.records(cart, 0, 100).records).toEqual([...records, last]);
    inspection.close();
  });

  test.each(['seed = seed + 1', 'seed = seed + 4294967296', 'seed = NULL'])(
    'that was changed on disk is damage: %s',
    async (change) => {
      const dir = temporaryFolder();
      await withJournal(dir, async (journal) => {
        expect(await append(journal, cart, { ...recordOf(1), seed: 9n })).toBeUndefined();
      });
      edit(dir, `UPDATE journal SET ${change}`);
      await withJournal(dir, async (journal) => {
        await expect(journal.read(cart, 0, 10)).rejects.toMatchObject({
          code: 'SVC_JOURNAL_CORRUPT',
        });
      });
    },
  );

  test('of a record that had none is damage', async () => {
    const dir = temporaryFolder();
    copyFileSync(join(journalOfFormat(1), 'journal.sqlite'), join(dir, 'journal.sqlite'));
    await withJournal(dir, async () => {});
    edit(dir, 'UPDATE journal SET seed = 0');
    await withJournal(dir, async (journal) => {
      await expect(journal.read(cart, 0, 10)).rejects.toMatchObject({
        code: 'SVC_JOURNAL_CORRUPT',
      });
    });
  });
});
