// Timers, consumers and lanes in copies of a journal, in its text, and in its verification.
import { DatabaseSync } from 'node:sqlite';
import { beforeEach, expect, test } from 'vitest';
import type { StoredTimer } from '../../../../../host/engine/needs/timers.ts';
import {
  consumerChecksum,
  laneChecksum,
} from '../../../../../host/storage/sqlite/consumer-rows.ts';
import { journalPath } from '../../../../../host/storage/sqlite/journal-file.ts';
import { openSqliteJournal } from '../../../../../host/storage/sqlite/sqlite-journal.ts';
import { openTimerReader } from '../../../../../host/storage/sqlite/timer-reader.ts';
import { backUpJournal } from '../../../../../host/storage/sqlite/tools/journal-backup.ts';
import { importJournal } from '../../../../../host/storage/sqlite/tools/journal-import.ts';
import { journalEntries } from '../../../../../host/storage/sqlite/tools/journal-source.ts';
import {
  TEXT_HEAD,
  textChecksum,
  textEnd,
  textOf,
} from '../../../../../host/storage/sqlite/tools/journal-text.ts';
import { verifyJournal } from '../../../../../host/storage/sqlite/tools/journal-verification.ts';
import { append, recordOf } from '../../../../suites/journal-suite.ts';
import { edit } from '../../../../support/damaged-journal.ts';
import { temporaryFolder } from '../../../../support/temporary-folder.ts';
import { change, end, timerAt } from '../../../../support/timer-writes.ts';
import { withJournal } from '../../../../support/with-journal.ts';

const one = { component: 'Cart', id: 'one' };
const two = { component: 'Cart', id: 'two' };
const CONSUMER = { id: 'ledger', start: 'now', pos: 2 } as const;
const LANE = {
  consumer: 'ledger',
  ...one,
  seq: 1,
  state: 1,
  attempts: 10,
  round: 3,
  nextMs: null,
  reason: 'f',
};

const LANES = `SELECT consumer, component, id, seq, state, attempts, round, next_ms, reason, crc
  FROM lane JOIN entity USING (eno)`;

let dir: string;

function rowsOf(folder: string): readonly unknown[] {
  const reader = openTimerReader(journalPath(folder));
  const timers: readonly StoredTimer[] = reader.list({}, 0, 100).timers;
  reader.close();
  const database = new DatabaseSync(journalPath(folder), { readOnly: true });
  const rows = [database.prepare('SELECT * FROM consumer').all(), database.prepare(LANES).all()];
  database.close();
  return [timers, ...rows];
}

function findingsIn(folder: string): readonly string[] {
  const steps = [...verifyJournal(folder, { structure: false })];
  return steps.filter((step) => step.kind === 'finding').map(({ problem }) => problem);
}

function exported(): string[] {
  const counts = { records: 0, answers: 0, modules: 0, timers: 0, consumers: 0, lanes: 0 };
  const lines = [TEXT_HEAD];
  for (const entry of journalEntries(dir)) {
    if (!('row' in entry)) continue;
    counts[`${entry.kind}s`]++;
    lines.push(textOf(entry));
  }
  const crc = lines.reduce((before, line) => textChecksum(line, before), 0);
  return [...lines, textEnd({ ...counts, crc })];
}

async function imported(lines: readonly string[]): Promise<string> {
  const to = temporaryFolder();
  async function* text(): AsyncGenerator<Uint8Array> {
    yield Buffer.from(lines.map((line) => `${line}\n`).join(''));
  }
  await importJournal(text(), to, () => {});
  return to;
}

beforeEach(async () => {
  dir = temporaryFolder();
  await withJournal(dir, async (journal) => {
    await append(journal, one, recordOf(1), recordOf(2));
    const input = '{"odd":",\\"event\\":"}';
    await change(journal, one, timerAt('a', -1, { input, traceParent: 't' }), timerAt('b', 2));
    await change(journal, two, timerAt('c', 3, { due: { kind: 'every', everyMs: 5 } }));
    const reader = openTimerReader(journalPath(dir));
    const [a] = reader.due(0, 1).timers;
    reader.close();
    await end(journal, one, a!, { kind: 'dead', fault: 'ä "f"' });
  });
  const opened = await openSqliteJournal(dir);
  const schedule = { kind: 'cron', expression: '0 3 * * *', zone: '' } as const;
  await opened.reconcileSchedules(
    [{ id: 'nightly', target: two, command: 'make', input: '{}', schedule }],
    0,
  );
  await opened.close();
  edit(
    dir,
    `INSERT INTO consumer VALUES ('ledger', 'now', 2, ${consumerChecksum(CONSUMER)});
     INSERT INTO lane VALUES ('ledger', (SELECT eno FROM entity WHERE id = 'one'), 1, 1, 10, 3, NULL, 'f', ${laneChecksum(LANE)});`,
  );
});

test('a backup has them, and they are verified', () => {
  const to = temporaryFolder();
  const counts = { timers: 4, consumers: 1, lanes: 1 };
  const steps = backUpJournal(dir, to);
  let step = steps.next();
  while (step.done !== true) step = steps.next();
  expect(step.value).toMatchObject(counts);
  expect(rowsOf(to)).toEqual(rowsOf(dir));
  expect(findingsIn(to)).toEqual([]);
});

test('a text has them, and makes them again', async () => {
  const to = await imported(exported());
  expect(rowsOf(to)).toEqual(rowsOf(dir));
  expect(findingsIn(to)).toEqual([]);
});

test('a text of a journal without them, as older hosts wrote it, is read', async () => {
  edit(dir, 'DELETE FROM timer; DELETE FROM consumer; DELETE FROM lane');
  const lines = exported();
  const old = lines.at(-1)?.replace(',"timers":0,"consumers":0,"lanes":0', '');
  expect(old).not.toBe(lines.at(-1));
  expect(rowsOf(await imported([...lines.slice(0, -1), old]))).toEqual([[], [], []]);
});

test.each([
  ['"name":"b"', '"name":"x"'],
  ['"nextMs":2,', ''],
  ['"owner":{"component":"Cart","id":"one"}', '"owner":null'],
  ['"target":', '"other":'],
  ['"pos":2,"crc"', '"pos":1,"crc"'],
  ['"attempts":10', '"attempts":9'],
])('a line whose %s was changed is refused', async (from, to) => {
  const lines = exported();
  const at = lines.findIndex(
    (line) => /"kind":"(timer|consumer|lane)"/.test(line) && line.includes(from),
  );
  lines[at] = lines[at]!.replace(from, to);
  await expect(imported(lines)).rejects.toMatchObject({
    code: 'SVC_IMPORT_INVALID',
    message: expect.stringContaining('checksum') as string,
  });
});

test.each([
  ["UPDATE timer SET command = 'x' WHERE name = 'b'", /^timer 2, 'b', is not what was written$/],
  ["UPDATE timer SET eno = 99 WHERE name = 'b'", /^timer 2, 'b', is not what was written$/],
  ['UPDATE consumer SET pos = 1', /^consumer 'ledger' is not what was written$/],
  ['UPDATE lane SET seq = 2', /^a lane of consumer 'ledger'/],
  ['UPDATE lane SET eno = 99', /^a lane of consumer 'ledger'/],
])('the verification names what %s has damaged, and no copy is made', (sql, problem) => {
  edit(dir, sql);
  expect(findingsIn(dir)).toEqual([expect.stringMatching(problem)]);
  expect(() => [...backUpJournal(dir, temporaryFolder())]).toThrow(
    expect.objectContaining({ code: 'SVC_JOURNAL_CORRUPT' }),
  );
});
