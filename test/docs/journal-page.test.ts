// docs/reference/journal.md: the tables, their columns and the format are those of a journal that was made now.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, onTestFinished, test } from 'vitest';
import { createJournalFile, journalPath } from '../../host/storage/sqlite/journal-file.ts';
import { openSnapshotsForWriting, snapshotPath } from '../../host/storage/sqlite/snapshot-file.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const page = readFileSync(join(import.meta.dirname, '../../docs/reference/journal.md'), 'utf8');

function tablesOf(database: DatabaseSync): Map<string, string[]> {
  const tables = database.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").all();
  return new Map(
    tables.map(({ name }) => {
      const columns = database.prepare(`PRAGMA table_info(${String(name)})`).all();
      return [String(name), columns.map((column) => String(column['name'])).toSorted()];
    }),
  );
}

/** Of each table of the page whose head names tables: the names in its first column. A file's name has a dot. */
function tablesOfPage(): Map<string, string[]> {
  const described = new Map<string, string[]>();
  for (const [, head, body] of page.matchAll(/^\| (`[^|]+`) \|.*\n\|[ -|]+\n((?:\|.*\n)+)/gm)) {
    const columns = [...body!.matchAll(/^\| ([^|]+) \|/gm)].flatMap(([, names]) => inCode(names!));
    const tables = inCode(head!).filter((name) => !name.includes('.'));
    for (const table of tables) described.set(table, columns.toSorted());
  }
  return described;
}

const inCode = (text: string) => [...text.matchAll(/`([^`]+)`/g)].map(([, name]) => name!);
const numberOf = (database: DatabaseSync, pragma: string) =>
  Object.values(database.prepare(`PRAGMA ${pragma}`).get()!)[0] as number;

test('has every table with its columns, and the number of the format', () => {
  const folder = temporaryFolder();
  createJournalFile(journalPath(folder));
  const journal = new DatabaseSync(journalPath(folder), { readOnly: true });
  const snapshots = openSnapshotsForWriting(snapshotPath(folder));
  onTestFinished(() => {
    journal.close();
    snapshots.close();
  });
  expect(tablesOfPage()).toEqual(new Map([...tablesOf(journal), ...tablesOf(snapshots)]));
  const numbers = (database: DatabaseSync) =>
    `\`PRAGMA application_id\` is ${numberOf(database, 'application_id')}`;
  expect(page).toContain(numbers(journal));
  expect(page).toContain(numbers(snapshots));
  const version = numberOf(journal, 'user_version');
  expect(page).toContain(`Format ${version}: `);
  expect(page).toContain(`\`PRAGMA user_version\` is ${version}.`);
});
