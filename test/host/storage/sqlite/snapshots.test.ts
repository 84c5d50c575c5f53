// The file of snapshots: what is found in it, and everything in whose case it counts as empty.
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, test } from 'vitest';
import type { Journal, IncarnationStart } from '../../../../host/engine/needs/journal.ts';
import { attachSqliteJournal } from '../../../../host/storage/sqlite/attached-journal.ts';
import { openSqliteJournal } from '../../../../host/storage/sqlite/sqlite-journal.ts';
import { append, deletionAt, recordOf } from '../../../suites/journal-suite.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

const one = { component: 'Cart', id: 'one' };
const F = 'f'.repeat(64);
const STATE = '{"items":["ä"]}';
const fileOf = (dir: string) => join(dir, 'snapshots.sqlite');

/** Opens the journal in the folder for as long as the work takes. */
async function using<T>(dir: string, work: (journal: Journal) => Promise<T>): Promise<T> {
  const opened = await openSqliteJournal(dir);
  const journal = attachSqliteJournal(opened.connect());
  try {
    return await work(journal);
  } finally {
    await journal.close();
    await opened.close();
  }
}

/** Three records, and a snapshot after the second. `what` is in each of them. */
async function kept(dir: string, what = 'first'): Promise<void> {
  await using(dir, async (journal) => {
    await append(journal, one, ...[1, 2, 3].map((seq) => recordOf(seq, `"${what} ${seq}"`)));
    journal.keepSnapshot(one, { seq: 2, fingerprint: F, state: STATE });
  });
}

const lifeIn = (dir: string, fingerprint = F): Promise<IncarnationStart> =>
  using(dir, async (journal) => journal.incarnation(one, 10, fingerprint));

function change(dir: string, sql: string): void {
  const database = new DatabaseSync(fileOf(dir));
  database.exec(sql);
  database.close();
}

/** The whole history, and no state. */
const FROM_EVENTS = { afterSeq: 0, snapshot: undefined, isWhole: true };
const FROM_SNAPSHOT = { afterSeq: 2, snapshot: STATE, isWhole: true };

describe('a snapshot', () => {
  test('is there after the journal was opened again, and for nobody else to read', async () => {
    const dir = temporaryFolder();
    await kept(dir);
    expect(statSync(fileOf(dir)).mode & 0o777).toBe(0o600);
    const life = await lifeIn(dir);
    expect(life).toMatchObject(FROM_SNAPSHOT);
    expect(life.records).toEqual([recordOf(3, '"first 3"')]);
  });

  test('is found by the user that kept it, though there was no file when that began', async () => {
    await using(temporaryFolder(), async (journal) => {
      await append(journal, one, recordOf(1), recordOf(2));
      expect(await journal.incarnation(one, 10, F)).toMatchObject(FROM_EVENTS);
      journal.keepSnapshot(one, { seq: 2, fingerprint: F, state: STATE });
      await append(journal, one, recordOf(3));
      expect(await journal.incarnation(one, 10, F)).toMatchObject(FROM_SNAPSHOT);
    });
  });

  test('of a module with another fingerprint is ignored', async () => {
    const dir = temporaryFolder();
    await kept(dir);
    expect(await lifeIn(dir, 'g'.repeat(64))).toMatchObject(FROM_EVENTS);
  });

  test('after a record that is not stored is not kept', async () => {
    const dir = temporaryFolder();
    await using(dir, async (journal) => {
      await append(journal, one, recordOf(1), deletionAt(2));
      journal.keepSnapshot(one, { seq: 2, fingerprint: F, state: STATE });
      journal.keepSnapshot(one, { seq: 3, fingerprint: F, state: STATE });
      journal.keepSnapshot({ ...one, id: 'two' }, { seq: 1, fingerprint: F, state: STATE });
    });
    const database = new DatabaseSync(fileOf(dir), { readOnly: true });
    expect(database.prepare('SELECT count(*) AS n FROM snapshot').get()).toEqual({ n: 0 });
    database.close();
  });

  test('of an earlier incarnation is ignored', async () => {
    const dir = temporaryFolder();
    await kept(dir);
    await using(dir, (journal) => append(journal, one, deletionAt(4), recordOf(5)));
    expect(await lifeIn(dir)).toMatchObject({ afterSeq: 4, snapshot: undefined });
  });

  test('of another journal is none, whether its record is another one or none', async () => {
    const [mine, other, shorter] = [temporaryFolder(), temporaryFolder(), temporaryFolder()];
    await kept(mine);
    await kept(other, 'other');
    await using(shorter, (journal) => append(journal, one, recordOf(1, '"first 1"')));
    for (const dir of [other, shorter]) copyFileSync(fileOf(mine), fileOf(dir));
    expect(await lifeIn(other)).toMatchObject(FROM_EVENTS);
    expect((await lifeIn(other)).records).toHaveLength(3);
    expect(await lifeIn(shorter)).toMatchObject({ ...FROM_EVENTS, records: [{ seq: 1 }] });
    expect(await lifeIn(mine)).toMatchObject(FROM_SNAPSHOT);
  });

  test.each([
    ["state = '{}'"],
    ['seq = 3'],
    ['crc = crc + 1'],
    ['record_crc = record_crc + 1'],
    [`fingerprint = '${'g'.repeat(64)}'`],
  ])('that was changed on disk is none: %s', async (what) => {
    const dir = temporaryFolder();
    await kept(dir);
    change(dir, `UPDATE snapshot SET ${what}`);
    for (const fingerprint of [F, 'g'.repeat(64)])
      expect(await lifeIn(dir, fingerprint)).toMatchObject(FROM_EVENTS);
  });
});

describe('a file of snapshots', () => {
  test('that was deleted is made anew', async () => {
    const dir = temporaryFolder();
    await kept(dir);
    rmSync(fileOf(dir));
    expect(await lifeIn(dir)).toMatchObject(FROM_EVENTS);
    expect(existsSync(fileOf(dir))).toBe(false);
  });

  const spoil: readonly (readonly [string, (path: string) => void])[] = [
    ['nothing', (path) => writeFileSync(path, '')],
    ['text', (path) => writeFileSync(path, 'not a database, and longer than nothing')],
    ['the first half', (path) => writeFileSync(path, readFileSync(path).subarray(0, 6_000))],
    [
      'somebody else’s tables',
      (path) => {
        rmSync(path);
        const database = new DatabaseSync(path);
        database.exec('CREATE TABLE snapshot (eno INTEGER PRIMARY KEY)');
        database.close();
      },
    ],
    [
      'the format of a newer version',
      (path) => {
        const database = new DatabaseSync(path);
        database.exec('PRAGMA user_version = 2');
        database.close();
      },
    ],
    [
      'zeros in the place of its tables',
      (path) => {
        const bytes = readFileSync(path);
        writeFileSync(path, bytes.fill(0, 4_096));
      },
    ],
  ];
  test.each(spoil)('that holds %s is ignored, and made anew', async (_, how) => {
    const dir = temporaryFolder();
    await kept(dir);
    how(fileOf(dir));
    expect(await lifeIn(dir)).toMatchObject(FROM_EVENTS);
    await using(dir, async (journal) => {
      // After a failure some are not tried.
      for (let seq = 4; seq < 120; seq++) {
        await append(journal, one, recordOf(seq));
        journal.keepSnapshot(one, { seq, fingerprint: F, state: STATE });
      }
    });
    expect(await lifeIn(dir)).toMatchObject({ afterSeq: 119, snapshot: STATE, records: [] });
  });

  test('that is a folder is left alone, and there are no snapshots', async () => {
    const dir = temporaryFolder();
    mkdirSync(join(fileOf(dir), 'somebody-s'), { recursive: true });
    await kept(dir);
    expect(await lifeIn(dir)).toMatchObject(FROM_EVENTS);
    expect(existsSync(join(fileOf(dir), 'somebody-s'))).toBe(true);
  });

  test('whose pages are damaged while it is in use costs nothing but time', async () => {
    const dir = temporaryFolder();
    await kept(dir);
    await using(dir, async (journal) => {
      expect(await journal.incarnation(one, 10, F)).toMatchObject(FROM_SNAPSHOT);
      change(dir, "UPDATE snapshot SET state = 'other'");
      expect(await journal.incarnation(one, 10, F)).toMatchObject(FROM_EVENTS);
      await append(journal, one, recordOf(4));
      journal.keepSnapshot(one, { seq: 4, fingerprint: F, state: STATE });
      await append(journal, one, recordOf(5));
      expect(await journal.incarnation(one, 10, F)).toMatchObject({ afterSeq: 4, snapshot: STATE });
    });
  });

  test('takes nothing of what the journal may take', async () => {
    const dir = temporaryFolder();
    const opened = await openSqliteJournal(dir, { bytesMax: 256 * 1024 });
    const journal = attachSqliteJournal(opened.connect());
    await append(journal, one, recordOf(1));
    journal.keepSnapshot(one, { seq: 1, fingerprint: F, state: `"${'x'.repeat(1024 * 1024)}"` });
    expect(await append(journal, one, recordOf(2))).toBeUndefined();
    expect(await journal.incarnation(one, 10, F)).toMatchObject({ afterSeq: 1 });
    await journal.close();
    await opened.close();
  });
});

test('a file that may not be read is as none', async ({ skip }) => {
  skip(process.getuid?.() === 0, 'root may read every file');
  const dir = temporaryFolder();
  await kept(dir);
  chmodSync(fileOf(dir), 0o000);
  expect(await lifeIn(dir)).toMatchObject(FROM_EVENTS);
});
