// The journal knows which modules have written it.
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { attachSqliteJournal } from '../../../../host/storage/sqlite/attached-journal.ts';
import { openSqliteJournal } from '../../../../host/storage/sqlite/sqlite-journal.ts';
import { append, recordOf } from '../../../suites/journal-suite.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

const cart = { component: 'shopping-cart', id: 'c1' };

function modulesOf(dir: string): unknown[] {
  const database = new DatabaseSync(join(dir, 'journal.sqlite'), { readOnly: true });
  const rows = database.prepare('SELECT fingerprint, from_pos, descriptor FROM module').all();
  database.close();
  return rows.map((row) => Object.values(row));
}

test('each module is noted with its first place, and once while it goes on', async () => {
  const dir = temporaryFolder();
  let seq = 0;
  for (const fingerprint of ['one', 'one', 'two', 'one']) {
    const opened = await openSqliteJournal(dir);
    opened.noteModule({ fingerprint, descriptor: `{"of":"${fingerprint}"}`, timeMs: 5 });
    const journal = attachSqliteJournal(opened.connect());
    expect(await append(journal, cart, recordOf(++seq))).toBeUndefined();
    await journal.close();
    await opened.close();
  }
  expect(modulesOf(dir)).toEqual([
    ['one', 1, '{"of":"one"}'],
    ['two', 3, '{"of":"two"}'],
    ['one', 4, '{"of":"one"}'],
  ]);
});
