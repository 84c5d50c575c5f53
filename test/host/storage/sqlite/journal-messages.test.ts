// An entity's id may hold characters that turn the direction of text: no message shows them as they are.
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import type { SvcError } from '../../../../kit/svc-error.ts';
import { append, recordOf } from '../../../suites/journal-suite.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';
import { withJournal } from '../../../support/with-journal.ts';

const hostile = { component: 'Cart', id: 'a\u202eb' };
const SHOWN = "entity 'a\\u{202e}b' of component 'Cart'";

test('a damaged record', async () => {
  const dir = temporaryFolder();
  await withJournal(dir, async (journal) => {
    expect(await append(journal, hostile, recordOf(1))).toBeUndefined();
  });
  const database = new DatabaseSync(join(dir, 'journal.sqlite'));
  database.exec('UPDATE journal SET crc = crc + 1');
  database.close();
  await withJournal(dir, async (journal) => {
    const failure = await journal.read(hostile, 0, 10).catch((error: unknown) => error as SvcError);
    expect((failure as SvcError).message).toContain(SHOWN);
  });
});

test('a conflict', async () => {
  await withJournal(temporaryFolder(), async (journal) => {
    expect((await append(journal, hostile, recordOf(5)))?.message).toContain(SHOWN);
  });
});

test('an append that builds on one that was not stored', async () => {
  await withJournal(temporaryFolder(), async (journal) => {
    const [, later] = await Promise.all([
      append(journal, hostile, recordOf(5)),
      append(journal, hostile, recordOf(6)),
    ]);
    expect(later?.message).toContain(SHOWN);
    expect(later?.message).toContain('before it');
  });
});
