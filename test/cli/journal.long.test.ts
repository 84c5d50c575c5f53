// svc journal: its output for a folder, and that it sends no control characters to a terminal.
import { spawnSync } from 'node:child_process';
import { readdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { beforeAll, describe, expect, test } from 'vitest';
import type { JournalRecord } from '../../model/entity.ts';
import { append } from '../suites/journal-suite.ts';
import { runCommand, runCommands } from '../support/command-line.ts';
import { temporaryFolder, temporaryFolderOfFile } from '../support/temporary-folder.ts';
import { withJournal } from '../support/with-journal.ts';

const data = temporaryFolderOfFile();
const TIME_MS = Date.UTC(2030, 0, 2, 3, 4, 5, 678);
/** A text that would clear the screen of a terminal, also with the CSI of C1. */
const HOSTILE = '\u001b[2J\u009b2J\u202e';

function event(seq: number, json = `{"type":"added","n":${seq}}`, manifest = 'cart-event') {
  return { kind: 'event', seq, timeMs: TIME_MS, event: { manifest, json } } as const;
}

type History = readonly [component: string, id: string, records: readonly JournalRecord[]];

const authorOf = (subject: string) => JSON.stringify(['https://login.example.com', subject]);

async function fill(dir: string, histories: readonly History[]): Promise<void> {
  await withJournal(dir, async (journal) => {
    for (const [component, id, records] of histories)
      expect(await append(journal, { component, id }, ...records)).toBeUndefined();
  });
}

const svcJournal = (...args: readonly string[]) => runCommand(['journal', ...args]);

beforeAll(async () => {
  await fill(data, [
    [
      'cart',
      'c1',
      [
        event(1),
        event(2),
        { kind: 'deleted', seq: 3, timeMs: TIME_MS, seed: 2n ** 64n - 1n },
        event(4),
      ],
    ],
    ['cart', HOSTILE, [event(1, `{"a":"\u009b2J",\n"n":12345678901234567890}`, HOSTILE)]],
    ['cart', 'no-json', [event(1, '{"a"')]],
    ...Array.from({ length: 120 }, (_, index): History => {
      return ['wallet', `w${String(index).padStart(3, '0')}`, [event(1)]];
    }),
  ]);
});

describe('svc journal', () => {
  test('lists the components with their entities and events', async () => {
    expect(await svcJournal(data)).toMatchObject({
      code: 0,
      stdout:
        'component  entities  events\ncart              3       5\nwallet          120     120\n',
      stderr: '',
    });
    expect(JSON.parse((await svcJournal(data, '-o', 'json')).stdout)).toEqual({
      dir: data,
      components: [
        { component: 'cart', entities: 3, events: 5 },
        { component: 'wallet', entities: 120, events: 120 },
      ],
    });
  });

  test('lists the entities of a component, sorted, and says how to go on', async () => {
    const first = await svcJournal(data, 'wallet');
    expect(first.stdout.split('\n')).toHaveLength(101);
    expect(first.stdout).toMatch(/^2030-01-02T03:04:05\.678Z +1 event {2}w000\n/);
    expect(first.stderr).toBe('There is more: --after=w099\n');
    const rest = await svcJournal(data, 'wallet', '--after', 'w099', '-o', 'names');
    expect(rest.stdout.split('\n')).toHaveLength(21);
    const all = await svcJournal(data, 'wallet', '--limit', 'all', '-o', 'json');
    expect(JSON.parse(all.stdout)).toMatchObject({ component: 'wallet', next: null });
    expect((JSON.parse(all.stdout) as { entities: unknown[] }).entities).toHaveLength(120);
  });

  test('lists the events and deletions of an entity', async () => {
    const { stdout } = await svcJournal(data, 'cart', 'c1');
    expect(stdout.split('\n')).toEqual([
      '     1  2030-01-02T03:04:05.678Z  cart-event  {"type":"added","n":1}',
      '     2  2030-01-02T03:04:05.678Z  cart-event  {"type":"added","n":2}',
      '     3  2030-01-02T03:04:05.678Z  (deleted)',
      '     4  2030-01-02T03:04:05.678Z  cart-event  {"type":"added","n":4}',
      '',
    ]);
  });

  test('prints one JSON document with a line for each event, and where to go on', async () => {
    const { stdout } = await svcJournal(data, 'cart', 'c1', '-o', 'json', '--after=1', '--limit=2');
    const time = '2030-01-02T03:04:05.678Z';
    expect(stdout.split('\n')).toHaveLength(5);
    expect(JSON.parse(stdout)).toEqual({
      dir: data,
      component: 'cart',
      id: 'c1',
      records: [
        {
          seq: 2,
          kind: 'event',
          time,
          seed: null,
          trace: null,
          key: null,
          by: null,
          manifest: 'cart-event',
          event: { type: 'added', n: 2 },
        },
        {
          seq: 3,
          kind: 'deleted',
          time,
          seed: '18446744073709551615',
          trace: null,
          key: null,
          by: null,
        },
      ],
      next: 3,
    });
  });

  test('shows who has sent a command, so that a subject looks like nothing else of its line', async () => {
    const dir = temporaryFolder();
    const subjects = ['user-1', `ada  {"type":"forged"}`, HOSTILE];
    await fill(
      dir,
      subjects.map((subject, index) => [
        'cart',
        `c${index}`,
        [{ ...event(1), by: authorOf(subject) }],
      ]),
    );
    await fill(dir, [['cart', 'c3', [{ ...event(1), by: '{"no":"author"}' }]]]);
    const { stdout } = await svcJournal(dir, '--events');
    expect(stdout.match(/cart-event .*/g)).toEqual([
      'cart-event  by user-1  {"type":"added","n":1}',
      `cart-event  by 'ada  {"type":"forged"}'  {"type":"added","n":1}`,
      String.raw`cart-event  by '\u{1b}[2J\u{9b}2J\u{202e}'  {"type":"added","n":1}`,
      'cart-event  {"type":"added","n":1}',
    ]);
    const json = await svcJournal(dir, '--events', '-o', 'json');
    const { records } = JSON.parse(json.stdout) as { records: readonly { by: unknown }[] };
    expect(records.map((record) => record.by)).toEqual([
      ...subjects.map((subject) => ({ issuer: 'https://login.example.com', subject })),
      null,
    ]);
    expect((await svcJournal(dir, '--events', '--by', 'user-1')).stdout.split('\n')).toHaveLength(
      2,
    );
    for (const text of [stdout, json.stdout]) expect(text).not.toContain(HOSTILE.slice(0, 3));
  });

  test('gives a terminal nothing of an id, a manifest or an event to obey', async () => {
    // oxlint-disable-next-line no-control-regex -- they are what is looked for
    const controls = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e]/;
    const asked = [
      ['cart'],
      ['cart', '-o', 'names'],
      ['cart', '-o', 'json'],
      ['cart', HOSTILE],
      ['cart', HOSTILE, '-o', 'json'],
      [HOSTILE],
      ['cart', `${HOSTILE}!`],
    ];
    const answers = await runCommands(asked.map((words) => ['journal', data, ...words]));
    for (const { stdout, stderr } of answers) expect(stdout + stderr).not.toMatch(controls);
    const [, , entities, , events] = answers;
    expect(JSON.parse(entities!.stdout)).toMatchObject({ entities: [{ id: HOSTILE }, {}, {}] });
    expect(JSON.parse(events!.stdout)).toMatchObject({ records: [{ event: { a: '\u009b2J' } }] });
    // The number appears as it is stored, so a reader with larger numbers gets the exact value.
    expect(events!.stdout).toContain('"n":12345678901234567890');
  });

  test('shows an event that is no JSON as text', async () => {
    const { stdout } = await svcJournal(data, 'cart', 'no-json', '-o', 'json');
    expect(JSON.parse(stdout)).toMatchObject({ records: [{ text: '{"a"' }] });
  });

  test('names damage among what is whole, and exits with 1', async () => {
    const dir = temporaryFolder();
    await fill(dir, [['cart', 'c1', [event(1), event(2), event(3)]]]);
    const database = new DatabaseSync(join(dir, 'journal.sqlite'));
    database.exec(`UPDATE journal SET json = '{}' WHERE seq = 2`);
    database.close();
    const { code, stdout, stderr } = await svcJournal(dir, 'cart', 'c1');
    expect(code).toBe(1);
    expect(stdout).toMatch(/^ +1 .*\n +2 {2}damaged: it is not what was written\n +3 .*\n$/);
    expect(stderr).toMatch(/is damaged in one place.*\[SVC_JOURNAL_CORRUPT\]\n$/);
  });

  test.each([
    [['walet'], "no component 'walet'. Did you mean 'wallet'?", 'SVC_NOT_IN_JOURNAL'],
    [
      ['cart', 'C2'],
      "no entity 'C2' of component 'cart'. Did you mean 'c1'?",
      'SVC_NOT_IN_JOURNAL',
    ],
    [['wallte', 'w000'], "Did you mean 'wallet'?", 'SVC_NOT_IN_JOURNAL'],
    [['cart', '--limit', '0'], "as --limit, not '0'", 'SVC_USAGE'],
    [['cart', 'c1', '--after', 'x'], "as --after, not 'x'", 'SVC_USAGE'],
    [['--after', 'x'], '--after with a COMPONENT', 'SVC_USAGE'],
  ])('says what is wrong with %j', async (args, message, code) => {
    const answer = await svcJournal(data, ...args);
    expect(answer.stdout).toBe('');
    expect(answer.stderr).toContain(message);
    expect(answer.stderr).toContain(`[${code}]`);
  });

  test('waits for nobody where the journal is a pipe, and follows a link to its folder', async (context) => {
    context.skip(process.platform === 'win32', 'this system has no named pipes in folders');
    const dir = temporaryFolder();
    expect(spawnSync('mkfifo', [join(dir, 'journal.sqlite')]).status).toBe(0);
    const { code, stderr } = await svcJournal(dir);
    expect(code).toBe(1);
    expect(stderr).toMatch(/it is not a file.*\[SVC_JOURNAL_CORRUPT\]\n$/);
    symlinkSync(data, join(dir, 'link'));
    const linked = await svcJournal(join(dir, 'link'), 'wallet', 'w000');
    expect(linked.stdout).toMatch(/^ +1 .*\n$/);
  });

  test('of a folder without a journal makes nothing there', async () => {
    const dir = temporaryFolder();
    const { code, stderr } = await svcJournal(join(dir, 'none'));
    expect(code).toBe(1);
    expect(stderr).toMatch(/which does not exist.*\[SVC_JOURNAL_MISSING\]\n$/);
    expect(await svcJournal(dir)).toMatchObject({ code: 1 });
    expect(readdirSync(dir)).toEqual([]);
  });
});
