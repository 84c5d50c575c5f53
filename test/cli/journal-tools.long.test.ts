// svc journal --events, verify, export, import and backup; as processes where a host, a signal or a pipe matters.
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { append, recordOf } from '../suites/journal-suite.ts';
import { runCommand } from '../support/command-line.ts';
import { edit, fillJournal, TRACE } from '../support/damaged-journal.ts';
import { runSvc, SvcProcess } from '../support/host-process.ts';
import { temporaryFolder, temporaryFolderOfFile } from '../support/temporary-folder.ts';
import { within } from '../support/within.ts';
import { withJournal } from '../support/with-journal.ts';

const data = temporaryFolderOfFile();
const svcFile = join(import.meta.dirname, '..', '..', 'cli', 'bin', 'svc.js');

beforeAll(async () => {
  await fillJournal(data, 120, 6);
});

const svcJournal = (...args: readonly string[]) => runCommand(['journal', ...args]);

async function damaged(): Promise<string> {
  const dir = temporaryFolder();
  await fillJournal(dir, 30, 6);
  edit(dir, `UPDATE journal SET json = '{}' WHERE pos = 8`);
  return dir;
}

describe('svc journal --events', () => {
  test('prints the records of all entities in commit order, and where to go on', async () => {
    const { code, stdout, stderr } = await svcJournal(
      data,
      '--events',
      '--after',
      '23',
      '--limit',
      '2',
    );
    expect({ code, stderr }).toEqual({ code: 0, stderr: 'There is more: --after=25\n' });
    expect(stdout.split('\n')).toEqual([
      '      24  2030-01-02T03:04:05.701Z  wallet e5 4  cart-event  {"type":"removed","n":23, "text":"Käse"}',
      "      25  2030-01-02T03:04:05.702Z  cart e0 5  (deleted)  by 'Käthe 24'",
      '',
    ]);
  });

  test('-o json prints one document', async () => {
    const { stdout } = await svcJournal(data, '--events', '-o', 'json', '--limit=1', '--after=7');
    expect(JSON.parse(stdout)).toEqual({
      dir: data,
      records: [
        {
          pos: 8,
          component: 'wallet',
          id: 'e1',
          seq: 2,
          kind: 'event',
          time: '2030-01-02T03:04:05.685Z',
          seed: String(7n << 50n),
          trace: TRACE,
          key: 'key-7',
          by: null,
          manifest: 'cart-event',
          event: { type: 'removed', n: 7, text: 'Käse' },
        },
      ],
      next: 8,
    });
  });

  test.each([
    [['--component', 'wallet', '--id', 'e1'], 20],
    [['--type', 'added'], 48],
    [['--manifest', 'cart-event'], 96],
    [['--manifest', 'none'], 0],
    [['--trace', TRACE.toUpperCase(), '--limit', 'all'], 120],
    [['--trace', 'a'.repeat(32)], 0],
    [['--key', 'key-11'], 11],
    [['--by', 'Käthe 6'], 1],
    [['--by', 'Käthe'], 0],
    [['--since', '2030-01-02T03:04:05.700Z', '--limit', 'all'], 98],
    [['--since', '2030-01-02T03:04:05.700', '--until', '2030-01-02T04:04:05.702+01:00'], 2],
    [['--until', '2030-01-02'], 0],
    [['--since', '1h'], 100],
    [['--until', '1h'], 0],
  ])('with %j prints %i records', async (filter, count) => {
    const { code, stdout, stderr } = await svcJournal(data, '--events', ...filter);
    expect(code).toBe(0);
    expect(stdout.split('\n')).toHaveLength(count + 1);
    expect(stderr === 'There is no such record.\n').toBe(count === 0);
  });

  test.each([
    [['cart', '--events'], 'journal takes --component with --events'],
    [['--events', '-o', 'names'], "journal takes '-o names' without --events"],
    [['-f'], 'journal takes --follow with --events'],
    [['--type', 'x'], 'with --events'],
    [['--events', '--after', 'x'], "a position or 'last' as --after, not 'x'"],
    [['--events', '--trace', 'x'], '32 hexadecimal digits'],
    [['--events', '--since', 'yesterday'], "as --since, such as '2030-01-02T03:04:05Z'"],
    [['--events', '--until', '2030-13-01'], "and found '2030-13-01'"],
    [['--events', '--until', '2030-02-30T00:00:00Z'], "and found '2030-02-30T00:00:00Z'"],
    [['cart', '-dash'], "A word that begins with a hyphen stands behind '--'"],
  ])('says what is wrong with %j', async (args, message) => {
    const { code, stdout, stderr } = await svcJournal(data, ...args);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(message);
  });

  test('shows a damaged record in its place, and exits with 1', async () => {
    const { code, stdout, stderr } = await svcJournal(await damaged(), '--events');
    expect(code).toBe(1);
    expect(stdout).toMatch(/\n +8 {2}wallet e1 2 {2}damaged: it is not what was written\n +9 /);
    expect(stderr).toMatch(/damaged in one place.*\[SVC_JOURNAL_CORRUPT\]\n$/);
  });
});

function printed(svc: SvcProcess, pattern: RegExp): Promise<void> {
  return within(
    60,
    () => `${pattern} in ${svc.stdout}${svc.stderr}`,
    new Promise((resolve) => {
      const look = () => pattern.test(svc.stdout) && resolve();
      svc.child.stdout!.on('data', look);
      look();
    }),
  );
}

/** Returns the lines of an export that are records. */
function recordsOf(text: string): string[] {
  return text.split('\n').filter((line) => line.startsWith('{"pos"'));
}

describe('svc journal --events -f', () => {
  test.each(['SIGINT', 'SIGTERM'] as const)(
    'goes on with what hosts store, one after the other, until %s',
    async (signal) => {
      const dir = temporaryFolder();
      await fillJournal(dir, 3, 1);
      const svc = new SvcProcess(['journal', dir, '--events', '-f', '--after', '2', '-o', 'json']);
      await printed(svc, /^\{"pos":3,.*\}\n$/);
      for (const seq of [1, 2])
        await withJournal(dir, async (journal) => {
          const entity = { component: 'other', id: 'one' };
          expect(await append(journal, entity, recordOf(seq))).toBeUndefined();
          await printed(svc, new RegExp(`^\\{"pos":${3 + seq},.*\\}\n$`, 'm'));
        });
      const { code, stdout, stderr } = await svc.end(signal);
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      const places = stdout
        .trimEnd()
        .split('\n')
        .map((line) => (JSON.parse(line) as { pos: number }).pos);
      expect(places).toEqual([3, 4, 5]);
      // A host that ends while another program reads the log leaves the log to the next host or reader.
      await withJournal(dir, () => Promise.resolve());
      expect(readdirSync(dir).toSorted()).toEqual(['journal.sqlite', 'lock']);
    },
  );

  test("after 'last' prints only what is to come, and as much as --limit says", async () => {
    const dir = temporaryFolder();
    await fillJournal(dir, 3, 1);
    const svc = new SvcProcess([
      'journal',
      dir,
      '--events',
      '-f',
      '--after',
      'last',
      '--limit',
      '1',
    ]);
    // The process does not reveal when it has polled for the last time, so events are stored until it has printed
    // one.
    await withJournal(dir, async (journal) => {
      for (let seq = 1; svc.child.exitCode === null; seq++)
        await append(journal, { component: 'other', id: 'one' }, recordOf(seq));
    });
    const { code, stdout } = await svc.ended;
    expect(code).toBe(0);
    expect(stdout).toMatch(/^ +\d+ .* other one \d+ .*\n$/);
  });

  test('ends when nobody reads it any more', async () => {
    const dir = temporaryFolder();
    await fillJournal(dir, 3, 1);
    const svc = new SvcProcess(['journal', dir, '--events', '-f']);
    await printed(svc, / 3 /);
    svc.child.stdout!.destroy();
    await withJournal(dir, async (journal) => {
      for (let seq = 1; svc.child.exitCode === null; seq++)
        await append(journal, { component: 'other', id: 'one' }, recordOf(seq));
    });
    expect(await svc.ended).toMatchObject({ code: 0, stderr: '' });
  });
});

describe('svc journal verify', () => {
  test('says that all is as it was written', async () => {
    expect(await svcJournal('verify', data)).toMatchObject({
      code: 0,
      stdout: '120 records of 6 entities, 120 answers: all as it was written\n',
      stderr: '',
    });
    expect(JSON.parse((await svcJournal('verify', data, '-o', 'json')).stdout)).toEqual({
      dir: data,
      findings: [],
      records: 120,
      entities: 6,
      answers: 120,
      structureChecked: true,
    });
  });

  test('names what is not, and exits with 1', async () => {
    const dir = await damaged();
    const { code, stdout, stderr } = await svcJournal('verify', dir);
    expect(code).toBe(1);
    expect(stdout).toBe(
      'damaged  wallet e1 record 2 position 8: it is not what was written\n30 records of 6 entities, 30 answers\n',
    );
    expect(stderr).toMatch(/is damaged: 1 finding, named above.*\[SVC_JOURNAL_CORRUPT\]\n$/);
    const problem = 'it is not what was written';
    expect(JSON.parse((await svcJournal('verify', dir, '-o', 'json')).stdout)).toMatchObject({
      findings: [{ component: 'wallet', id: 'e1', seq: 2, pos: 8, problem }],
      records: 30,
    });
  });

  test('beside a host says that SQLite was left out', async () => {
    const dir = temporaryFolder();
    await withJournal(dir, async (journal) => {
      expect(await append(journal, { component: 'c', id: 'i' }, recordOf(1))).toBeUndefined();
      const { code, stdout, stderr } = await runSvc(['journal', 'verify', dir]);
      expect({ code, stdout }).toEqual({
        code: 0,
        stdout: '1 record of 1 entity: all as it was written\n',
      });
      expect(stderr).toContain('--structure');
      expect((await runSvc(['journal', 'verify', dir, '--structure'])).stderr).toBe('');
    });
  });
});

describe('svc journal export and import', () => {
  test('make the same journal, through a pipe and through a file', async () => {
    const folder = temporaryFolder();
    const { stdout, code } = await svcJournal('export', data);
    expect(code).toBe(0);
    const lines = stdout.split('\n');
    expect(lines).toHaveLength(1 + 120 + 120 + 1 + 1);
    // The text is equal byte for byte, with its white space.
    expect(lines[8]).toContain('"event":{"type":"removed","n":7, "text":"Käse"}}');
    writeFileSync(join(folder, 'all.ndjson'), stdout);
    const made = await svcJournal('import', join(folder, 'one'), join(folder, 'all.ndjson'));
    expect(made).toMatchObject({ code: 0, stdout: '' });
    expect(made.stderr).toMatch(/^Imported 120 records of 6 entities into /);
    const again = spawnSync(
      process.execPath,
      [svcFile, 'journal', 'import', join(folder, 'two'), '-'],
      {
        input: stdout,
      },
    );
    expect(again.status).toBe(0);
    for (const dir of ['one', 'two'])
      expect((await svcJournal('export', join(folder, dir))).stdout).toBe(stdout);
  });

  test('with a filter export what it says, which is no journal', async () => {
    const folder = temporaryFolder();
    const { stdout } = await svcJournal('export', data, '--type', 'added', '--key', 'key-11');
    expect(stdout.trimEnd().split('\n')).toHaveLength(2 + 2);
    writeFileSync(join(folder, 'some.ndjson'), stdout);
    const { code, stderr } = await svcJournal(
      'import',
      join(folder, 'new'),
      join(folder, 'some.ndjson'),
    );
    expect(code).toBe(1);
    expect(stderr).toMatch(
      /line 2 has position \d+, and the next one is 1\..*\[SVC_IMPORT_INVALID\]\n$/,
    );
    expect(readdirSync(folder)).toEqual(['some.ndjson']);
  });

  test('name what is damaged, and what is not there', async () => {
    const { code, stdout, stderr } = await svcJournal('export', await damaged());
    expect(code).toBe(1);
    expect(stdout.trimEnd().split('\n')).toHaveLength(1 + 29 + 30 + 1);
    expect(stderr).toMatch(
      /^damaged {2}wallet e1 record 2 position 8: .*\n.*\[SVC_JOURNAL_CORRUPT\]\n$/,
    );
    const missing = await svcJournal('import', join(temporaryFolder(), 'new'), 'nowhere.ndjson');
    expect(missing.code).toBe(1);
    expect(missing.stderr).toMatch(
      /nowhere\.ndjson cannot be read \(ENOENT\).*\[SVC_IMPORT_INVALID\]\n$/,
    );
  });

  test('stop when nobody reads', async () => {
    const child = spawn(process.execPath, [svcFile, 'journal', 'export', data], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    child.stdout.destroy();
    expect(await once(child, 'close')).toEqual([0, null]);
  });
});

describe('svc journal backup', () => {
  test('copies a journal whose host is storing, and the copy is whole', async () => {
    const [dir, to] = [temporaryFolder(), join(temporaryFolder(), 'monday')];
    await fillJournal(dir, 500, 5);
    await withJournal(dir, async (journal) => {
      const backup = new SvcProcess(['journal', 'backup', dir, to]);
      let seq = 0;
      while (backup.child.exitCode === null)
        expect(
          await append(journal, { component: 'other', id: 'one' }, recordOf(++seq)),
        ).toBeUndefined();
      const { code, stdout, stderr } = await backup.ended;
      expect({ code, stdout }).toEqual({ code: 0, stdout: '' });
      expect(stderr).toMatch(/^Copied [\d,]+ records of [56] entities to .*monday\.\n$/);
    });
    expect((await svcJournal('verify', to)).stdout).toMatch(
      /, 500 answers: all as it was written\n$/,
    );
    const [whole, copy] = [await svcJournal('export', dir), await svcJournal('export', to)];
    const copied = recordsOf(copy.stdout);
    expect(copied.length).toBeGreaterThanOrEqual(500);
    expect(recordsOf(whole.stdout).slice(0, copied.length)).toEqual(copied);
  });

  test('is not made over another one', async () => {
    const to = temporaryFolder();
    expect(await svcJournal('backup', data, to)).toMatchObject({ code: 0 });
    const before = readFileSync(join(to, 'journal.sqlite'));
    const { code, stderr } = await svcJournal('backup', data, to);
    expect(code).toBe(1);
    expect(stderr).toMatch(
      /is not empty: it holds journal\.sqlite\..*\[SVC_JOURNAL_NOT_EMPTY\]\n$/,
    );
    expect(readFileSync(join(to, 'journal.sqlite'))).toEqual(before);
  });
});
