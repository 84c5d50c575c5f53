// A journal whose index of the records by entity is damaged in its file: it serves nothing that is not so, it says what
// to do, and doing that loses nothing.
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { backUpJournal } from '../../../../host/storage/sqlite/tools/journal-backup.ts';
import { openSqliteJournal } from '../../../../host/storage/sqlite/sqlite-journal.ts';
import { append, recordOf } from '../../../suites/journal-suite.ts';
import { editFile, fillJournal, numberIn } from '../../../support/damaged-journal.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';
import { withJournal } from '../../../support/with-journal.ts';

const RECORDS = 40;
const ENTITIES = 4;
const entity = { component: 'wallet', id: 'e3' };
/** Of the header of a leaf of SQLite's. */
const CELL_COUNT_OFFSET = 3;

/** A folder in whose file the only page of the table was changed. */
async function folderWithDamaged(
  table: string,
  change: (bytes: Buffer, at: number, size: number) => void,
): Promise<string> {
  const dir = temporaryFolder();
  await fillJournal(dir, RECORDS, ENTITIES);
  const page = numberIn(dir, `SELECT rootpage FROM sqlite_schema WHERE name = '${table}'`);
  const size = numberIn(dir, 'PRAGMA page_size');
  editFile(dir, (bytes) => change(bytes, (page - 1) * size, size));
  return dir;
}

const overwritten = (bytes: Buffer, at: number, size: number) => bytes.fill(0x5a, at, at + size);
const shortened = (bytes: Buffer, at: number) => {
  const place = at + CELL_COUNT_OFFSET;
  bytes.writeUInt16BE(bytes.readUInt16BE(place) - 1, place);
};

function backedUp(from: string): { readonly dir: string; readonly records: number } {
  const dir = join(temporaryFolder(), 'copy');
  const steps = backUpJournal(from, dir);
  for (;;) {
    const step = steps.next();
    if (step.done === true) return { dir, records: step.value.records };
  }
}

const REMEDY = expect.stringContaining('svc journal backup makes a journal of it') as string;

describe('an index of records', () => {
  test.each([
    ['cannot be read', overwritten, 'its index of the newest records cannot be read'],
    [
      'has lost a record, and looks well',
      shortened,
      `it has ${RECORDS} records, and ${RECORDS - 1} of them in its index`,
    ],
  ])('that %s is named at the start, and a copy is whole', async (_what, change, says) => {
    const dir = await folderWithDamaged('place_new', change);
    const refused: unknown = await openSqliteJournal(dir).catch((error: unknown) => error);
    expect(refused).toMatchObject({ code: 'SVC_JOURNAL_CORRUPT', message: REMEDY });
    expect(refused).toHaveProperty('message', expect.stringContaining(says));

    const copy = backedUp(dir);
    expect(copy.records).toBe(RECORDS);
    await withJournal(copy.dir, async (journal) => {
      expect(await journal.read(entity, 0, 100)).toHaveLength(RECORDS / ENTITIES);
      expect(await append(journal, entity, recordOf(RECORDS / ENTITIES + 1))).toBeUndefined();
    });
  });

  test.each(['place_recent', 'place_old'])(
    'that cannot be read in %s fails the calls that need it, which say what to do',
    async (table) => {
      const dir = await folderWithDamaged(table, overwritten);
      await withJournal(dir, async (journal) => {
        await expect(journal.read(entity, 0, 100)).rejects.toMatchObject({
          code: 'SVC_JOURNAL_CORRUPT',
          message: REMEDY,
        });
        expect(await append(journal, entity, recordOf(1))).toMatchObject({
          code: expect.stringMatching(/^SVC_JOURNAL_(CORRUPT|UNAVAILABLE)$/) as string,
        });
      });
      expect(backedUp(dir).records).toBe(RECORDS);
    },
  );
});
