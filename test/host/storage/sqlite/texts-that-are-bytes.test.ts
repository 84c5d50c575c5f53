// Of each value SQLite's file says whether it is a text or bytes, in one bit. What became bytes by its change has the
// checksum that it had: it is damage all the same, and reaches no module.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { backUpJournal } from '../../../../host/storage/sqlite/tools/journal-backup.ts';
import { answerTo, keep, recordOf } from '../../../suites/journal-suite.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';
import { withJournal } from '../../../support/with-journal.ts';

const entity = { component: 'Cart', id: 'one' };
const FINGERPRINT = 'f'.repeat(64);
/** As long as each text that is turned: its length then takes two bytes, which are found again. */
const LENGTH = 100;
/** How a record of SQLite's says of a value that it is a text of that length, and that it is bytes. */
const TEXT = Buffer.from([0x81, 0x55]);
const BYTES = Buffer.from([0x81, 0x54]);

const EVENT = `"${'event '.padEnd(LENGTH - 2, 'x')}"`;
const STATE = `"${'state '.padEnd(LENGTH - 2, 'x')}"`;
const ANSWER = answerTo('k', 5);
const PADDED = LENGTH - JSON.stringify({ kind: 'reply', json: '' }).length;
const OUTCOME = { kind: 'reply', json: '7'.repeat(PADDED) } as const;

/** A journal with three records, an answer and a snapshot, in which the value `text` was turned into bytes. */
async function folderWhere(text: string, file = 'journal.sqlite'): Promise<string> {
  const dir = temporaryFolder();
  await withJournal(dir, async (journal) => {
    const records = [recordOf(1), recordOf(2, EVENT), recordOf(3)];
    expect(await keep(journal, entity, records, { ...ANSWER, outcome: OUTCOME })).toBeUndefined();
    journal.keepSnapshot(entity, { seq: 3, fingerprint: FINGERPRINT, state: STATE });
  });
  const path = join(dir, file);
  const bytes = readFileSync(path);
  const kind = bytes.lastIndexOf(TEXT, bytes.indexOf(text));
  expect(kind).toBeGreaterThan(0);
  BYTES.copy(bytes, kind);
  writeFileSync(path, bytes);
  return dir;
}

test('an event that is bytes is named, and neither served nor copied', async () => {
  const dir = await folderWhere(EVENT);
  await withJournal(dir, async (journal) => {
    await expect(journal.read(entity, 0, 10)).rejects.toMatchObject({
      code: 'SVC_JOURNAL_CORRUPT',
      message: expect.stringContaining('record 2') as string,
    });
    expect(await journal.read(entity, 2, 10)).toMatchObject([recordOf(3)]);
  });
  expect(() => [...backUpJournal(dir, join(temporaryFolder(), 'copy'))]).toThrow(
    expect.objectContaining({ code: 'SVC_JOURNAL_CORRUPT' }),
  );
});

test('an answer that is bytes is named, and not given', async () => {
  const dir = await folderWhere(JSON.stringify(OUTCOME));
  await withJournal(dir, async (journal) => {
    await expect(async () => journal.answer(entity, 'k')).rejects.toMatchObject({
      code: 'SVC_JOURNAL_CORRUPT',
      message: expect.stringContaining("idempotency key 'k'") as string,
    });
  });
});

test('a snapshot that is bytes is none: the entity is folded from its events', async () => {
  const dir = await folderWhere(STATE, 'snapshots.sqlite');
  await withJournal(dir, async (journal) => {
    const life = await journal.incarnation(entity, 10, FINGERPRINT);
    expect(life).toMatchObject({ afterSeq: 0, snapshot: undefined, isWhole: true });
    expect(life.records).toHaveLength(3);
  });
});
