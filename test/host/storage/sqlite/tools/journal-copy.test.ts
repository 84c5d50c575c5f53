// Journals made of journals: a copy beside a host that stores, and one made of text, which is the same again.
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { backUpJournal } from '../../../../../host/storage/sqlite/tools/journal-backup.ts';
import { importJournal } from '../../../../../host/storage/sqlite/tools/journal-import.ts';
import { SqliteScan } from '../../../../../host/storage/sqlite/tools/journal-scan.ts';
import { journalEntries } from '../../../../../host/storage/sqlite/tools/journal-source.ts';
import {
  TEXT_HEAD,
  textChecksum,
  textEnd,
  textOf,
} from '../../../../../host/storage/sqlite/tools/journal-text.ts';
import { verifyJournal } from '../../../../../host/storage/sqlite/tools/journal-verification.ts';
import { answerTo, append, keep, recordOf } from '../../../../suites/journal-suite.ts';
import { edit, fillJournal } from '../../../../support/damaged-journal.ts';
import { journalOfFormat, PAST_FORMATS } from '../../../../support/journal-of-format.ts';
import { temporaryFolder, temporaryFolderOfFile } from '../../../../support/temporary-folder.ts';
import { withJournal } from '../../../../support/with-journal.ts';

const filled = temporaryFolderOfFile();
const entity = { component: 'odd \u2028"name"', id: ',"event":{"a":1}' };
/** What an event may be: no JSON, several lines, large numbers, what a terminal would obey. */
const ODD = [
  '{"a"',
  '{\n"a":1}',
  '{"n":12345678901234567890}',
  '{"a":"\u009b2J"}',
  '{"b":",\\"event\\":"}',
];

beforeAll(async () => {
  await fillJournal(filled, 600, 20);
  await withJournal(filled, async (journal) => {
    const records = ODD.map((json, index) => recordOf(index + 1, json));
    await append(journal, entity, ...records);
  });
  edit(filled, `INSERT INTO module VALUES (1, 'abc', 1, 5, '{"entities":[]}')`);
});

function exported(dir: string): string[] {
  const counts = { records: 0, answers: 0, modules: 0, timers: 0, consumers: 0, lanes: 0 };
  const lines = [TEXT_HEAD];
  for (const entry of journalEntries(dir)) {
    expect(entry.kind).not.toBe('finding');
    if (!('row' in entry)) continue;
    counts[`${entry.kind}s`]++;
    lines.push(textOf(entry));
  }
  const crc = lines.reduce((before, line) => textChecksum(line, before), 0);
  return [...lines, textEnd({ ...counts, crc })];
}

/** In pieces that end anywhere, also within a character. */
async function* pieces(text: string): AsyncGenerator<Uint8Array> {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += 777) yield bytes.subarray(at, at + 777);
}

function imported(lines: readonly string[], to: string) {
  return importJournal(pieces(`${lines.join('\n')}\n`), to, () => {});
}

function copied(from: string, to: string) {
  const steps = backUpJournal(from, to);
  let step = steps.next();
  while (step.done !== true) step = steps.next();
  return step.value;
}

function findingsIn(dir: string) {
  return [...verifyJournal(dir, { structure: true })].filter(({ kind }) => kind === 'finding');
}

describe('a journal made of the text of another one', () => {
  test('has the same text, and nothing wrong', async () => {
    const lines = exported(filled);
    const dir = join(temporaryFolder(), 'deeper', 'new');
    expect(await imported(lines, dir)).toMatchObject({
      records: 605,
      entities: 21,
      answers: 600,
      modules: 1,
    });
    expect(exported(dir)).toEqual(lines);
    expect(findingsIn(dir)).toEqual([]);
    await withJournal(dir, async (journal) => {
      const stored = await journal.read(entity, 0, 100);
      expect(stored.map((record) => record.kind === 'event' && record.event.json)).toEqual(ODD);
      const answer = await journal.answer({ component: 'cart', id: 'e0' }, 'key-0');
      expect(answer?.outcome).toMatchObject({ kind: 'reply' });
      expect(await append(journal, entity, recordOf(ODD.length + 1))).toBeUndefined();
    });
    expect(findingsIn(dir)).toEqual([]);
  });

  test.each(PAST_FORMATS)('of format %i has its records, as they are', async (version) => {
    const lines = exported(journalOfFormat(version));
    const dir = temporaryFolder();
    await imported(lines, dir);
    expect(exported(dir)).toEqual(lines);
    expect(findingsIn(dir)).toEqual([]);
  });

  const changes: readonly (readonly [
    what: string,
    change: (lines: string[]) => unknown,
    message: string,
  ])[] = [
    [
      'an event',
      (l) => (l[9] = l[9]!.replace('Käse', 'Kase')),
      'line 10 does not fit its checksum',
    ],
    ['a time', (l) => (l[9] = l[9]!.replace('2030-', '2031-')), 'line 10 does not fit'],
    ['an author', (l) => (l[10] = l[10]!.replace('Käthe', 'Kathe')), 'line 11 does not fit'],
    ['a trace', (l) => (l[9] = l[9]!.replace('0123', '0124')), 'line 10 does not fit'],
    ['a component', (l) => (l[9] = l[9]!.replace('"cart"', '"card"')), 'line 10 does not fit'],
    ['no JSON', (l) => (l[9] = l[9]!.slice(0, -3)), 'line 10 is no JSON object'],
    [
      'another member',
      (l) => (l[9] = l[9]!.replace(/}$/, '},"x":1}')),
      'line 10 is no JSON object',
    ],
    ['no id', (l) => (l[9] = l[9]!.replace('"id"', '"di"')), "line 10 has no 'id' that is a text"],
    ['a seed', (l) => (l[9] = l[9]!.replace('"seed":"', '"seed":"x')), "line 10 has no 'seed'"],
    ['a line less', (l) => l.splice(9, 1), 'line 10 has position 10, and the next one is 9'],
    ['a line twice', (l) => l.splice(9, 0, l[8]!), 'line 10 has position 8, and the next one is 9'],
    ['no head', (l) => l.shift(), 'line 1 is not the first one of an export'],
    ['a head twice', (l) => l.splice(9, 0, l[0]!), 'line 10 belongs at the beginning'],
    ['no end', (l) => l.pop(), 'line 1208 is missing: the text ends without its last line'],
    ['more than the end', (l) => l.push(l[9]!), 'comes after the last one'],
    [
      'a module',
      (l) => (l[1206] = l[1206]!.replace('abc', 'abd')),
      'line 1208 has another checksum',
    ],
    ['an answer less', (l) => l.splice(700, 1), 'says that there is more or less'],
    [
      'an answer',
      (l) => (l[700] = l[700]!.replace('digest of', 'digest at')),
      'line 701 does not fit',
    ],
    ['an answer twice', (l) => l.splice(700, 0, l[700]!), 'line 702 answers a key'],
    ['another line', (l) => (l[9] = '{"kind":"x"}'), 'line 10 is no line of an export'],
    ['nothing', (l) => l.splice(0), 'line 1 is no JSON object'],
  ];
  test.each(changes)(
    'is not made of one with %s, and the line is named',
    async (_, change, message) => {
      const lines = exported(filled);
      expect(lines).toHaveLength(1_208);
      change(lines);
      const folder = temporaryFolder();
      await expect(imported(lines, join(folder, 'new'))).rejects.toMatchObject({
        code: 'SVC_IMPORT_INVALID',
        message: expect.stringContaining(message) as string,
      });
      expect(readdirSync(folder)).toEqual([]);
    },
  );

  test('of a hole in the history of an entity is not made', async () => {
    const dir = journalOfFormat(2);
    // Places are not under the checksum of its records, so that they can be closed up.
    edit(
      dir,
      'DELETE FROM journal WHERE pos = 2; UPDATE journal SET pos = -pos; UPDATE journal SET pos = -pos - (pos < -2)',
    );
    await expect(imported(exported(dir), join(temporaryFolder(), 'new'))).rejects.toMatchObject({
      message: expect.stringMatching(
        /line 4 is record 3 of its entity, and the next one is 2/,
      ) as string,
    });
  });
});

describe('a copy', () => {
  test('has the same text, and nothing wrong', () => {
    const dir = join(temporaryFolder(), 'copy');
    expect(copied(filled, dir)).toMatchObject({
      records: 605,
      entities: 21,
      answers: 600,
      modules: 1,
    });
    expect(exported(dir)).toEqual(exported(filled));
    expect(findingsIn(dir)).toEqual([]);
    expect(readdirSync(dir)).toEqual(['journal.sqlite']);
  });

  test('of a journal to which somebody appends is that of one moment', async () => {
    const [dir, to] = [temporaryFolder(), temporaryFolder()];
    await fillJournal(dir, 6_000, 20);
    await withJournal(dir, async (journal) => {
      const steps = backUpJournal(dir, to);
      let seq = 0;
      let step = steps.next();
      for (; step.done !== true; step = steps.next()) {
        const other = { component: 'other', id: 'one' };
        const answer = answerTo(`later ${++seq}`, seq);
        expect(await keep(journal, other, [recordOf(seq)], answer)).toBeUndefined();
      }
      expect(seq).toBeGreaterThan(3);
      expect(step.value).toMatchObject({ records: 6_000, answers: 6_000 });
    });
    expect(findingsIn(to)).toEqual([]);
    await withJournal(to, async (journal) => {
      expect(await journal.read({ component: 'cart', id: 'e0' }, 0, 1_000)).toHaveLength(300);
    });
  });

  test('takes no answer for one of that moment that has come in its place', async () => {
    const [dir, to] = [temporaryFolder(), temporaryFolder()];
    await fillJournal(dir, 6_000, 20);
    edit(dir, 'DELETE FROM answer WHERE ano > 2');
    await withJournal(dir, async (journal) => {
      const steps = backUpJournal(dir, to);
      steps.next();
      // Those that were there are forgotten, and numbers begin anew.
      const answer = { ...answerTo('later', 2_000_000_000_000), retentionMs: 1 };
      const other = { component: 'other', id: 'one' };
      expect(await keep(journal, other, [recordOf(1)], answer)).toBeUndefined();
      let step = steps.next();
      while (step.done !== true) step = steps.next();
      expect(step.value).toMatchObject({ records: 6_000, answers: 0 });
    });
  });

  test.each([
    ['a record', `UPDATE journal SET json = '{}' WHERE pos = 8`, 'record 1 of entity'],
    ['a place', 'DELETE FROM journal WHERE pos = 8', 'the record at position 8 is missing'],
    [
      'an answer',
      `UPDATE answer SET outcome = '' WHERE ano = 8`,
      "answer to the idempotency key 'key-7'",
    ],
  ])('is not made where %s is damaged', async (_, sql, message) => {
    const [dir, to] = [temporaryFolder(), join(temporaryFolder(), 'copy')];
    await fillJournal(dir, 30, 20);
    edit(dir, sql);
    expect(() => copied(dir, to)).toThrow(
      expect.objectContaining({
        code: 'SVC_JOURNAL_CORRUPT',
        message: expect.stringContaining(message) as string,
      }) as Error,
    );
    expect(existsSync(to)).toBe(false);
  });

  test('leaves a folder that holds something as it is', () => {
    const to = temporaryFolder();
    writeFileSync(join(to, 'note.txt'), 'mine');
    expect(() => copied(filled, to)).toThrow(
      expect.objectContaining({
        code: 'SVC_JOURNAL_NOT_EMPTY',
        message: expect.stringContaining('it holds note.txt') as string,
      }) as Error,
    );
    expect(readdirSync(to)).toEqual(['note.txt']);
  });

  test('that was interrupted is made anew, also on a disk of its own', () => {
    const to = temporaryFolder();
    writeFileSync(join(to, 'journal.sqlite.unfinished'), 'half a copy');
    mkdirSync(join(to, 'lost+found'));
    copied(filled, to);
    expect(readdirSync(to)).toEqual(['journal.sqlite', 'lost+found']);
  });

  test('of a folder without a journal makes nothing', () => {
    const folder = temporaryFolder();
    expect(() => copied(join(folder, 'none'), join(folder, 'copy'))).toThrow(
      expect.objectContaining({ code: 'SVC_JOURNAL_MISSING' }) as Error,
    );
    expect(readdirSync(folder)).toEqual([]);
  });
});

test('a scan asks for no more than its filter, and pages by place', () => {
  const scan = new SqliteScan(filled, {
    component: 'wallet',
    type: 'removed',
    keyPrefix: 'key-11',
  });
  const seen = [];
  for (let at = 0, isLast = false; !isLast;) {
    const page = scan.page(at, 2);
    expect(page.entries.length).toBeLessThanOrEqual(2);
    seen.push(...page.entries.map(({ pos }) => pos));
    ({ lastPos: at, isLast } = page);
  }
  scan.close();
  expect(seen).toEqual([12, 112, 114, 116, 118, 120]);
});
