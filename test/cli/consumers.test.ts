// svc consumers: its lists, and the changes of lanes in a folder that no host uses.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openConsumerReader } from '../../host/storage/sqlite/consumer-reader.ts';
import { journalPath } from '../../host/storage/sqlite/journal-file.ts';
import { openSqliteJournal } from '../../host/storage/sqlite/sqlite-journal.ts';
import { append, recordOf } from '../suites/journal-suite.ts';
import { edit } from '../support/damaged-journal.ts';
import { runCommand } from '../support/command-line.ts';
import { runSvc } from '../support/host-process.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { withJournal } from '../support/with-journal.ts';

const data = mkdtempSync(join(tmpdir(), 'svc-test-'));
afterAll(() => rmSync(data, { recursive: true }));
const NEXT_MS = Date.UTC(2030, 0, 2, 3, 4, 5);
/** A text that would clear the screen of a terminal. */
const HOSTILE = '\u001b[2J\u009b2J\u202e';
const one = { component: 'Cart', id: 'one/a b' };
const two = { component: 'Cart', id: HOSTILE };
const three = { component: 'Cart', id: 'three' };

async function fill(dir: string): Promise<void> {
  await withJournal(dir, async (journal) => {
    for (const entity of [one, two, three])
      for (const seq of [1, 2, 3])
        expect(await append(journal, entity, recordOf(seq))).toBeUndefined();
  });
  const journal = await openSqliteJournal(dir);
  const lanes = [
    {
      entity: one,
      seq: 2,
      attempts: 10,
      round: 10,
      nextMs: undefined,
      reason: `it trapped ${HOSTILE}`,
    },
    { entity: two, seq: 1, attempts: 1, round: 0, nextMs: NEXT_MS, reason: undefined },
    { entity: three, seq: 1, attempts: 3, round: 1, nextMs: undefined, reason: 'no' },
  ];
  const ledger = { id: 'ledger', start: 'beginning' } as const;
  await journal.settleConsumer(ledger, { position: '7', lanes, rejoined: [] });
  await journal.settleConsumer(
    { id: 'mails', start: 'now' },
    { position: '9', lanes: [], rejoined: [] },
  );
  await journal.close();
}

beforeAll(() => fill(data));

const svc = (...args: readonly string[]) => runCommand(['consumers', ...args]);
const lanesOf = (dir: string) => {
  const reader = openConsumerReader(journalPath(dir));
  try {
    return reader.lanes('ledger', 10);
  } finally {
    reader.close();
  }
};

test('lists the consumers, and how far they are', async () => {
  expect(await runSvc(['consumers', data])).toMatchObject({
    code: 0,
    stderr: '',
    stdout: `consumer  start      behind  retrying  parked
ledger    beginning  2       1         2
mails     now        0       0         0
`,
  });
  expect(JSON.parse((await svc(data, '-o', 'json')).stdout)).toEqual({
    dir: data,
    consumers: [
      { consumer: 'ledger', start: 'beginning', lagRecords: 2, retrying: 1, parked: 2 },
      { consumer: 'mails', start: 'now', lagRecords: 0, retrying: 0, parked: 0 },
    ],
  });
});

test('lists the entities whose events wait, escaped for the terminal', async () => {
  const { code, stdout } = await svc(data, 'ledger');
  expect(code).toBe(0);
  expect(stdout).toMatch(/^entity +event +state +next +attempts +reason\n/);
  expect(stdout).toMatch(/\nCart\/one\/a b +2 +parked +- +10 +it trapped/);
  expect(stdout).toMatch(/ 1 +retrying +2030-01-02T03:04:05\.000Z +1\n/);
  expect(stdout).not.toContain('\u001b[2J');
  const json = await svc(data, 'ledger', '-o', 'json');
  expect(json.stdout).not.toContain('\u001b');
  expect(JSON.parse(json.stdout)).toMatchObject({
    consumer: 'ledger',
    lanes: [
      {
        entity: one,
        event: 2,
        state: 'parked',
        next: null,
        attempts: 10,
        reason: `it trapped ${HOSTILE}`,
      },
      { entity: two, event: 1, state: 'retrying', next: '2030-01-02T03:04:05.000Z', reason: null },
      { entity: three, state: 'parked', reason: 'no' },
    ],
  });
});

test.each([
  [
    ['--state', 'parked'],
    [one, three],
  ],
  [['--state', 'retrying'], [two]],
  [['--entity', 'Cart/one/a b'], [one]],
  [['--entity', 'Cart/three', '--state', 'retrying'], []],
  [
    ['--limit', '2'],
    [one, two],
  ],
  [
    ['--limit', 'all'],
    [one, two, three],
  ],
])('lists with %j', async (args, expected) => {
  const { stdout } = await svc(data, 'ledger', '-o', 'json', ...args);
  const { lanes } = JSON.parse(stdout) as { lanes: readonly { entity: object }[] };
  expect(lanes.map(({ entity }) => entity)).toEqual(expected);
});

test('names the consumers that there are when it is asked for another', async () => {
  const { code, stdout, stderr } = await svc(data, 'ledgr', '-o', 'json');
  expect([code, stdout]).toEqual([1, '']);
  expect(stderr).toContain("No consumer 'ledgr' has handled events of this journal.");
  expect(stderr).toMatch(/Those that have: .*'ledger'.*\[SVC_NOT_IN_JOURNAL\]\n$/);
  expect((await svc(data, HOSTILE)).stderr).not.toContain('\u001b[2J');
});

test.each([
  [[data, '--state', 'parked'], 'with CONSUMER only'],
  [[data, 'ledger', '--state', 'dead'], "'retrying'"],
  [[data, 'ledger', '--entity', 'Cart'], 'COMPONENT/ID'],
  [[data, 'ledger', '--limit', '0'], 'whole number'],
  [['retry', data, 'ledger', 'Cart'], 'COMPONENT/ID'],
  [['skip', data, 'ledger', 'Cart/a', '0', '--reason', 'x'], 'number of an event'],
  [['skip', data, 'ledger', 'Cart/a', '1'], '--reason'],
  [['skip', data, 'ledger', 'Cart/a', '1', '--reason', 'x'.repeat(1_001)], '1000 characters'],
])('refuses %j', async (args, why) => {
  const { code, stderr } = await svc(...args);
  expect(code).toBe(2);
  expect(stderr).toContain(why);
});

test('lets a parked event be delivered again, or go on without it, at the next start', async () => {
  const dir = temporaryFolder();
  await fill(dir);
  const beforeMs = Date.now();
  const retried = await svc('retry', dir, 'ledger', 'Cart/one/a b');
  expect(retried).toMatchObject({
    code: 0,
    stderr: "The events of Cart/one/a b are delivered to the consumer 'ledger' again.\n",
  });
  const skipped = await svc('skip', dir, 'ledger', 'Cart/three', '1', '--reason', 'by hand');
  expect(skipped).toMatchObject({ code: 0 });
  const [first, , third] = lanesOf(dir);
  expect(first).toMatchObject({ entity: one, seq: 2, attempts: 0, round: 10, reason: undefined });
  expect(first!.nextMs).toBeGreaterThanOrEqual(beforeMs);
  // The log of the next start has the reason.
  expect(third).toMatchObject({ entity: three, seq: 2, attempts: 0, round: 0, reason: 'by hand' });
  const { stdout } = await svc(dir, '-o', 'json');
  expect(JSON.parse(stdout)).toMatchObject({
    consumers: [{ lagRecords: 2, retrying: 3, parked: 0 }, {}],
  });
});

test('lets all parked events be delivered again', async () => {
  const dir = temporaryFolder();
  await fill(dir);
  expect(await svc('retry', dir, 'ledger', '--all')).toMatchObject({
    code: 0,
    stderr: "The events of 2 entities are delivered to the consumer 'ledger' again.\n",
  });
  expect(lanesOf(dir)).toMatchObject([
    { entity: one, seq: 2, attempts: 0, round: 10, reason: undefined },
    { entity: two, seq: 1, attempts: 1, nextMs: NEXT_MS },
    { entity: three, seq: 1, attempts: 0, round: 1, reason: undefined },
  ]);
  const again = await svc('retry', dir, 'ledger', '--all');
  expect(again).toMatchObject({ code: 1 });
  expect(again.stderr).toContain("No events are parked for the consumer 'ledger'");
});

test.each([[['ledger']], [['ledger', 'Cart/three', '--all']]])(
  'takes one entity to retry, or all: %j',
  async (args) => {
    const { code, stderr } = await svc('retry', data, ...args);
    expect(code).toBe(2);
    expect(stderr).toContain('either ENTITY or --all');
  },
);

test.each([
  [['retry', 'ledger', `Cart/${HOSTILE}`], 'No events of'],
  [['retry', 'ledger', 'Cart/nobody'], 'No events of Cart/nobody are parked'],
  [['retry', 'nothing', 'Cart/three'], "No consumer 'nothing' has handled events"],
  [['skip', 'nothing', 'Cart/three', '1', '--reason', 'x'], "No consumer 'nothing' has handled"],
  [['skip', 'ledger', 'Cart/three', '2', '--reason', 'x'], 'are not parked at event 2'],
])('%j says that there is none', async ([word, ...args], message) => {
  const before = lanesOf(data);
  const { code, stderr } = await svc(word!, data, ...args);
  expect(code).toBe(1);
  expect(stderr).toContain(message);
  expect(stderr).toMatch(/\[SVC_NOT_IN_JOURNAL\]\n$/);
  expect(stderr).not.toContain('\u001b[2J');
  expect(lanesOf(data)).toEqual(before);
});

test('names damaged lanes, and shows the others', async () => {
  const dir = temporaryFolder();
  await fill(dir);
  edit(dir, "UPDATE lane SET attempts = 9 WHERE reason = 'no'");
  const { code, stdout, stderr } = await svc(dir, 'ledger');
  expect(code).toBe(1);
  expect(stdout.split('\n')).toHaveLength(4);
  expect(stderr).toContain("the lane of entity 'three' of consumer 'ledger'");
  expect(stderr).toContain('1 damaged lane');
});

test('retries no damaged lane, and skips where the operator says that it continues', async () => {
  const dir = temporaryFolder();
  await fill(dir);
  edit(dir, "UPDATE lane SET seq = 7 WHERE reason = 'no'");
  const refused = await svc('retry', dir, 'ledger', 'Cart/three');
  expect(refused).toMatchObject({ code: 1 });
  expect(refused.stderr).toContain('it is not known which event is the next');
  expect(refused.stderr).toContain('svc consumers skip');
  expect(await svc('retry', dir, 'ledger', '--all')).toMatchObject({
    code: 0,
    stderr: "The events of 1 entity are delivered to the consumer 'ledger' again.\n",
  });
  expect(await svc('retry', dir, 'ledger', '--all')).toMatchObject({ code: 1 });
  expect(lanesOf(dir)[2]).toMatchObject({ entity: three, isDamaged: true });
  expect(await svc('skip', dir, 'ledger', 'Cart/three', '2', '--reason', 'by hand')).toMatchObject({
    code: 0,
  });
  expect(lanesOf(dir)[2]).toMatchObject({ entity: three, seq: 3, reason: 'by hand' });
  expect(lanesOf(dir)[2]!.nextMs).toBeDefined();
});

test('shows a journal of a format without consumers as one without', async () => {
  const dir = temporaryFolder();
  await fill(dir);
  edit(dir, 'DROP TABLE timer; DROP TABLE consumer; DROP TABLE lane; PRAGMA user_version = 4');
  expect(await svc(dir)).toMatchObject({ code: 0, stdout: '' });
  expect((await svc('retry', dir, 'ledger', 'Cart/three')).stderr).toContain('SVC_NOT_IN_JOURNAL');
  expect((await runCommand(['views', dir])).stderr).toContain('declares no views');
});
