// A data folder with a journal of a format that svc wrote before, of which fixtures/journals has the text.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { temporaryFolder } from './temporary-folder.ts';

const FOLDER = join(import.meta.dirname, '..', '..', 'fixtures', 'journals');

export const PAST_FORMATS = [1, 2, 3, 4, 5] as const;

export function journalOfFormat(version: (typeof PAST_FORMATS)[number]): string {
  const dir = temporaryFolder();
  const database = new DatabaseSync(join(dir, 'journal.sqlite'));
  database.exec(readFileSync(join(FOLDER, `format-${version}.sql`), 'utf8'));
  database.close();
  return dir;
}
