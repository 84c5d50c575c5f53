// A data folder with a journal of format 1, of which fixtures/journals/format-1.sql is the text.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { temporaryFolder } from './temporary-folder.ts';

const SQL = join(import.meta.dirname, '..', '..', 'fixtures', 'journals', 'format-1.sql');

export function journalOfFormat1(): string {
  const dir = temporaryFolder();
  const database = new DatabaseSync(join(dir, 'journal.sqlite'));
  database.exec(readFileSync(SQL, 'utf8'));
  database.close();
  return dir;
}
