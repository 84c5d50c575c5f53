// svc timers: its list, and the changes of timers in a folder that no host uses.
import { readdirSync } from 'node:fs';
import { beforeAll, describe, expect, test } from 'vitest';
import { openSqliteJournal } from '../../host/storage/sqlite/sqlite-journal.ts';
import { openTimerReader } from '../../host/storage/sqlite/timer-reader.ts';
import { journalPath } from '../../host/storage/sqlite/journal-file.ts';
import { append, recordOf } from '../suites/journal-suite.ts';
import { edit } from '../support/damaged-journal.ts';
import { runCommand } from '../support/command-line.ts';
import { runSvc } from '../support/host-process.ts';
import { temporaryFolder, temporaryFolderOfFile } from '../support/temporary-folder.ts';
import { change, end, timerAt } from '../support/timer-writes.ts';
import { withJournal } from '../support/with-journal.ts';

const data = temporaryFolderOfFile();
const one = { component: 'Cart', id: 'one/a b' };
const two = { component: 'Cart', id: 'two' };
const DUE_MS = Date.UTC(2030, 0, 2, 3, 4, 5);
/** A text that would clear the screen of a terminal. */
const HOSTILE = '\u001b[2J\u009b2J\u202e';

/** Two timers of `one`, one of which is dead, one of `two` with a hostile name and fault, and a schedule. */
async function fill(dir: string): Promise<void> {
  await withJournal(dir, async (journal) => {
    for (const entity of [one, two])
      expect(await append(journal, entity, recordOf(1))).toBeUndefined();
    const target = one;
    await change(
      journal,
      one,
      timerAt('expire', DUE_MS, { target, input: '12345678901234567890' }),
    );
    await change(journal, one, timerAt('remind', DUE_MS, { target, attemptsMax: 3 }));
    await change(journal, two, timerAt(HOSTILE, DUE_MS, { command: HOSTILE }));
    const reader = openTimerReader(journalPath(dir));
    const [, remind, hostile] = reader.list({}, 0, 10).timers;
    reader.close();
    const fault = `it trapped ${HOSTILE}`;
    expect(
      await end(journal, one, remind!, { kind: 'dead', fault: 'unreachable' }),
    ).toBeUndefined();
    const nextMs = DUE_MS + 1_500;
    expect(await end(journal, two, hostile!, { kind: 'retry', nextMs, fault })).toBeUndefined();
  });
  const journal = await openSqliteJournal(dir);
  const schedule = { kind: 'cron', expression: '0 0 1 1 *', zone: '' } as const;
  const nightly = { id: 'nightly', target: two, command: 'make', input: 'null', schedule };
  await journal.reconcileSchedules([nightly], Date.UTC(2029, 5));
  await journal.close();
}

const svcTimers = (...args: readonly string[]) => runCommand(['timers', ...args]);

interface Listed {
  readonly timers: readonly { readonly number: number; readonly name: string }[];
  readonly next: number | null;
}

async function listed(...args: readonly string[]): Promise<Listed> {
  return JSON.parse((await svcTimers(...args, '-o', 'json')).stdout) as Listed;
}

async function namesOf(...args: readonly string[]): Promise<readonly string[]> {
  return (await listed(...args)).timers.map(({ name }) => name);
}

beforeAll(() => fill(data));

describe('svc timers', () => {
  test('lists whose they are, when they fire, what they send, and why they failed', async () => {
    const files = readdirSync(data);
    const env = { FORCE_COLOR: undefined, NO_COLOR: undefined };
    const { code, stdout, stderr } = await runSvc(['timers', data], { env });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const hostile = String.raw`\u{1b}[2J\u{9b}2J\u{202e}`;
    const rows = stdout.split('\n').map((line) => line.split(/ {2,}/));
    expect(rows).toEqual([
      ['due', 'next', 'attempts', 'owner', 'name', 'command', 'last fault'],
      [
        '2030-01-02T03:04:05.000Z',
        '2030-01-02T03:04:05.000Z',
        '0',
        'Cart/one/a b',
        'expire',
        'Cart/one/a b expire',
      ],
      [
        '2030-01-02T03:04:05.000Z',
        'dead',
        '1',
        'Cart/one/a b',
        'remind',
        'Cart/one/a b expire',
        'unreachable',
      ],
      [
        '2030-01-02T03:04:05.000Z',
        '2030-01-02T03:04:06.500Z',
        '1',
        'Cart/two',
        hostile,
        `Cart/target ${hostile}`,
        `it trapped ${hostile}`,
      ],
      [
        '2030-01-01T00:00:00.000Z',
        '2030-01-01T00:00:00.000Z',
        '0',
        'service',
        'nightly',
        'Cart/two make',
      ],
      [''],
    ]);
    expect(readdirSync(data)).toEqual(files);
  });

  test('prints one JSON document, with the input as it is stored', async () => {
    const { stdout } = await svcTimers(data, '-o', 'json');
    expect(stdout).toContain('"input":12345678901234567890,');
    expect(stdout).toMatch(/^[\n\u0020-\u007e]*$/);
    const { timers, next } = JSON.parse(stdout) as Listed;
    expect(next).toBeNull();
    expect(timers[0]).toEqual({
      number: 1,
      owner: one,
      name: 'expire',
      target: one,
      command: 'expire',
      input: expect.any(Number),
      schedule: null,
      state: 'pending',
      due: '2030-01-02T03:04:05.000Z',
      next: '2030-01-02T03:04:05.000Z',
      attempts: 0,
      attemptsMax: null,
      fault: null,
      set: '2023-11-14T22:13:20.000Z',
      trace: null,
    });
    expect(timers[1]).toMatchObject({ state: 'dead', next: null, attempts: 1, attemptsMax: 3 });
    expect(timers[3]).toMatchObject({ owner: null, schedule: { expression: '0 0 1 1 *' } });
  });

  test('selects by owner and state', async () => {
    expect(await namesOf(data, '--owner', 'Cart/one/a b')).toEqual(['expire', 'remind']);
    expect(await namesOf(data, '--owner', 'service')).toEqual(['nightly']);
    expect(await namesOf(data, '--state', 'dead')).toEqual(['remind']);
    expect(await namesOf(data, '--state', 'pending')).toEqual(['expire', HOSTILE, 'nightly']);
    expect(await svcTimers(data, '--state', 'dead', '--owner', 'service')).toMatchObject({
      code: 0,
      stdout: '',
      stderr: 'There is no such timer.\n',
    });
  });

  test('says how to go on after a part of the list', async () => {
    const part = await svcTimers(data, '--limit', '2');
    expect(part.stdout.split('\n')).toHaveLength(4);
    expect(part.stderr).toBe('There is more: --after=2\n');
    expect(await listed(data, '--limit', '2')).toMatchObject({ next: 2 });
    expect(await namesOf(data, '--after', '2', '--limit', 'all')).toEqual([HOSTILE, 'nightly']);
  });

  test.each([
    [['--owner', 'Cart'], "COMPONENT/ID, or 'service'"],
    [['--owner', '/one'], "COMPONENT/ID, or 'service'"],
    [['--state', 'late'], 'late'],
    [['--limit', '0'], 'whole number from 1'],
    [['--after', 'x'], "timer's number"],
  ])('refuses %j', async (args, message) => {
    const { code, stderr } = await svcTimers(data, ...args);
    expect(code).toBe(2);
    expect(stderr).toContain(message);
  });

  test('shows the others where one is damaged, and exits with 1', async () => {
    const dir = temporaryFolder();
    await fill(dir);
    edit(dir, "UPDATE timer SET command = 'other' WHERE name = 'expire'");
    const { code, stdout, stderr } = await svcTimers(dir);
    expect(code).toBe(1);
    expect(stdout.split('\n')).toHaveLength(5);
    expect(stderr).toContain("Timer 1, 'expire' of entity 'one/a b' of component 'Cart'");
    expect(stderr).toMatch(/\[SVC_JOURNAL_CORRUPT\]\n$/);
    expect(await svcTimers('cancel', dir, 'Cart/one/a b', 'expire')).toMatchObject({ code: 0 });
    expect(await svcTimers(dir)).toMatchObject({ code: 0 });
  });
});

describe('a change of a timer', () => {
  test('cancels it, or lets a dead one fire again', async () => {
    const dir = temporaryFolder();
    await fill(dir);
    expect(await svcTimers('cancel', dir, 'Cart/one/a b', 'expire')).toMatchObject({
      code: 0,
      stdout: '',
      stderr: "Cancelled timer 'expire' of Cart/one/a b.\n",
    });
    const before = Date.now();
    expect(await svcTimers('retry', dir, 'Cart/one/a b', 'remind')).toMatchObject({ code: 0 });
    expect(await svcTimers('cancel', dir, 'service', 'nightly')).toMatchObject({
      code: 0,
      stderr: "Cancelled timer 'nightly' of the service.\n",
    });
    const reader = openTimerReader(journalPath(dir));
    const { timers } = reader.list({}, 0, 10);
    reader.close();
    expect(timers).toMatchObject([{ name: 'remind', attempts: 0 }, { name: HOSTILE }]);
    expect(timers[0]!.nextMs).toBeGreaterThanOrEqual(before);
  });

  test.each([
    ['cancel', 'Cart/one/a b', 'other', "no timer 'other' of Cart/one/a b"],
    ['cancel', 'Cart/three', 'expire', "no timer 'expire' of Cart/three"],
    ['cancel', 'service', 'expire', "no timer 'expire' of the service"],
    ['retry', 'Cart/one/a b', 'expire', "no dead timer 'expire'"],
  ])('%s of %s %s says that there is none', async (word, owner, name, message) => {
    const { code, stderr } = await svcTimers(word, data, owner, name);
    expect(code).toBe(1);
    expect(stderr).toContain(message);
    expect(stderr).toMatch(/\[SVC_NOT_IN_JOURNAL\]\n$/);
  });

  test('is refused while a host has the folder, whose timers are listed', async () => {
    const dir = temporaryFolder();
    await fill(dir);
    const host = await openSqliteJournal(dir);
    try {
      const { code, stderr } = await svcTimers('cancel', dir, 'Cart/two', HOSTILE);
      expect(code).toBe(1);
      expect(stderr).toMatch(/\[SVC_DATA_IN_USE\]\n$/);
      expect(await namesOf(dir, '--owner', 'Cart/two')).toEqual([HOSTILE]);
    } finally {
      await host.close();
    }
  });

  test('makes no journal where there is none', async () => {
    const dir = temporaryFolder();
    for (const args of [['retry', dir, 'service', 'x'], [dir]])
      expect((await svcTimers(...args)).stderr).toMatch(/\[SVC_JOURNAL_MISSING\]\n$/);
    expect(readdirSync(dir)).toEqual([]);
  });

  test('leaves a journal of a format without timers as it is', async () => {
    const dir = temporaryFolder();
    await fill(dir);
    edit(dir, 'DROP TABLE timer; DROP TABLE consumer; DROP TABLE lane; PRAGMA user_version = 4');
    expect((await svcTimers('cancel', dir, 'Cart/two', 'x')).stderr).toContain(
      'SVC_NOT_IN_JOURNAL',
    );
    expect(await svcTimers(dir)).toMatchObject({ code: 0, stdout: '' });
  });
});
