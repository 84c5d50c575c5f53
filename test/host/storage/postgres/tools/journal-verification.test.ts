// The verification of a journal in a database names every change that was made by hand.
import { beforeAll, beforeEach, expect, test } from 'vitest';
import {
  type JournalInDatabase,
  journalIn,
  journalInDatabase,
} from '../../../../../host/storage/journal-location.ts';
import { exportJournal, verifyJournal } from '../../../../../host/storage/journal-tools.ts';
import { sliceOf } from '../../../../../model/slice.ts';
import { fullJournal } from '../../../../support/full-journal.ts';
import { copied, exported, findingsIn } from '../../../../support/journal-tools.ts';
import type { FreshDatabase } from '../../../../support/postgres/fresh-database.ts';
import { PostgresServer } from '../../../../support/postgres/postgres-server.ts';
import { temporaryFolderOfFile } from '../../../../support/temporary-folder.ts';

const folder = journalIn(temporaryFolderOfFile());
const slice = sliceOf('cart', 'e0');
let server: PostgresServer;
let intact: FreshDatabase;
let database: FreshDatabase;
let location: JournalInDatabase;

beforeAll(async () => {
  server = await PostgresServer.shared('18');
  intact = await server.freshDatabase();
  await fullJournal(folder.dir, 60, 6);
  await copied(folder, journalInDatabase(intact.source));
});

beforeEach(async () => {
  database = await server.freshDatabase(intact);
  location = journalInDatabase(database.source);
});

test('counts what it has checked', async () => {
  const steps = [];
  for await (const step of verifyJournal(location, { structure: false })) steps.push(step);
  expect(steps.at(-1)).toEqual({
    kind: 'result',
    records: 60,
    entities: 6,
    answers: 60,
    findings: 0,
    structureChecked: undefined,
  });
});

const E0 = "component = 'cart' AND id = 'e0'";

test.each([
  [
    `UPDATE svc.journal SET trace = 'other' WHERE ${E0} AND seq = 3`,
    ['it is not what was written'],
  ],
  [
    `DELETE FROM svc.journal WHERE ${E0} AND seq = 3`,
    [`of slice ${slice}, record 3 is missing`, 'the numbers of its records have a hole'],
  ],
  [
    `DELETE FROM svc.journal WHERE ${E0} AND seq > 8`,
    [`of slice ${slice}, records 9 to 10 are missing`],
  ],
  [
    `UPDATE svc.slice SET head = head - 1 WHERE slice = ${slice}`,
    [
      `slice ${slice} has records beyond its numbers 1 to 9`,
      "consumer 'mirror' has settled events that are not there",
    ],
  ],
  [
    `UPDATE svc.journal SET off = 9223372036854775807 WHERE ${E0} AND seq = 10`,
    [
      `of slice ${slice}, record 10 is missing`,
      `slice ${slice} has records beyond its numbers 1 to 10`,
    ],
  ],
  [
    'DELETE FROM svc.event_type',
    Array(2).fill("the table of event types lacks 'cart-event', which records have"),
  ],
  [
    "UPDATE svc.reply SET outcome = '{}' WHERE key = 'key-7'",
    ["the answer to the idempotency key 'key-7' is not what was written"],
  ],
  [
    "UPDATE svc.timer SET name = 'x' WHERE name = 'a'",
    [
      expect.stringMatching(
        /^Timer \d+, 'x' of entity 'e0' .* is damaged: its checksum does not fit/,
      ),
    ],
  ],
  [
    'UPDATE svc.timer_count SET timers = 3 WHERE part = 5',
    ['the number of timers is counted as 7, and there are 4'],
  ],
  [
    "SELECT setval('svc.timer_number', 1)",
    [expect.stringMatching(/^the last number that was given to a timer is 1, and a timer has \d$/)],
  ],
  [
    "UPDATE svc.consumer SET start = 'now'",
    ["consumer 'ledger' is not what was written", "consumer 'new' is not what was written"],
  ],
  ["UPDATE svc.consumer_offset SET off = off + 1 WHERE consumer = 'mirror' AND slice = 5", []],
  [
    "UPDATE svc.consumer_offset SET off = off + 1 WHERE consumer = 'mirror'",
    ["consumer 'mirror' is not what was written"],
  ],
  [
    "DELETE FROM svc.consumer WHERE consumer = 'mirror'",
    ["consumer 'mirror' has numbers, and is missing itself"],
  ],
  [
    `UPDATE svc.lane SET seq = 2 WHERE ${E0}`,
    ["the lane of this entity, of consumer 'ledger', is not what was written"],
  ],
  [
    "UPDATE svc.module SET descriptor = '[]' WHERE number = 2",
    ['the descriptor of module 2 is no JSON object'],
  ],
])('%s', async (sql, problems) => {
  await database.sql(sql);
  const findings = await findingsIn(location);
  expect(findings.map(({ problem }) => problem)).toEqual(problems);
});

test('an export names damage, and is not that of a journal', async () => {
  await database.sql(`UPDATE svc.journal SET trace = 'other' WHERE ${E0} AND seq = 3`);
  await expect(exported(location)).rejects.toThrow('it is not what was written');
});

test('an export and a verification keep no transaction open while they read records', async () => {
  const open = `SELECT count(*)::int FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid() AND (xact_start IS NOT NULL OR backend_xmin IS NOT NULL)`;
  const connected = 'SELECT count(*)::int FROM pg_stat_activity WHERE datname = current_database()';
  for (const entries of [exportJournal(location), verifyJournal(location, { structure: false })])
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    for await (const entry of entries) {
      if (entry.kind !== 'record' && entry.kind !== 'progress') continue;
      expect(await database.sql(open)).toEqual([{ count: 0 }]);
      expect(await database.sql(connected)).toEqual([{ count: 2 }]);
      break;
    }
});
