import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  copyFileSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Worker } from 'node:worker_threads';
import { describe, expect, test } from 'vitest';
import type { EntityRef } from '../../../host/model/entity.ts';
import { attachJournal } from '../../../host/storage/attached-journal.ts';
import { openSqliteJournal } from '../../../host/storage/sqlite-journal.ts';
import { append, deletionAt, journalSuite, recordOf } from '../../suites/journal-suite.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { withJournal } from '../../support/with-journal.ts';

const LOAD = join(import.meta.dirname, '..', '..', 'support', 'append-load.ts');
const entity: EntityRef = { component: 'Cart', id: 'one' };

journalSuite('in SQLite', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'svc-test-'));
  const opened = await openSqliteJournal(dir);
  const journal = attachJournal(opened.connect(), opened.dir);
  return {
    journal,
    async discard() {
      await journal.close();
      await opened.close();
      rmSync(dir, { recursive: true });
    },
  };
});

/** A folder whose journal has `count` records of the one entity. */
async function filledFolder(count: number): Promise<string> {
  const dir = temporaryFolder();
  await withJournal(dir, async (journal) => {
    const records = Array.from({ length: count }, (_, index) => recordOf(index + 1));
    expect(await append(journal, entity, ...records)).toBeUndefined();
  });
  return dir;
}

function edit(dir: string, sql: string): void {
  const database = new DatabaseSync(join(dir, 'journal.sqlite'));
  database.exec(sql);
  database.close();
}

function contents(dir: string): Record<string, string> {
  return Object.fromEntries(
    readdirSync(dir)
      .toSorted()
      .map((name) => [name, readFileSync(join(dir, name), 'base64')]),
  );
}

describe('durability', () => {
  test('a journal that is opened again holds what it held, and goes on', async () => {
    const dir = temporaryFolder();
    for (let round = 0; round < 3; round++)
      await withJournal(dir, async (journal) => {
        const seq = round * 2 + 1;
        expect(await journal.read(entity, 0, 100)).toHaveLength(round * 2);
        expect(await append(journal, entity, recordOf(seq), deletionAt(seq + 1))).toBeUndefined();
        expect(await journal.lastDeletion(entity)).toBe(seq + 1);
      });
  });

  test('positions have no gaps, also across failed appends and restarts', async () => {
    const dir = temporaryFolder();
    for (let round = 1; round <= 2; round++)
      await withJournal(dir, async (journal) => {
        await Promise.all([
          append(journal, entity, recordOf(round)),
          append(journal, { component: 'Cart', id: 'hole' }, recordOf(99)),
          append(journal, { component: 'Cart', id: `new ${round}` }, recordOf(1), recordOf(2)),
        ]);
      });
    const database = new DatabaseSync(join(dir, 'journal.sqlite'), { readOnly: true });
    const positions = database.prepare('SELECT pos FROM journal ORDER BY pos').all();
    database.close();
    expect(positions.map((row) => row['pos'])).toEqual([1, 2, 3, 4, 5, 6]);
  });

  test('a process that is killed under load loses nothing that was acknowledged', async () => {
    const dir = temporaryFolder();
    for (let round = 0; round < 3; round++) {
      const child = spawn(process.execPath, [LOAD, dir, '40'], {
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      let output = '';
      child.stdout.setEncoding('utf8');
      // Killed at a different moment each time, measured in what it has achieved.
      const killAfterCharacters = 20_000 + round * 7_777;
      child.stdout.on('data', (text: string) => {
        output += text;
        if (output.length > killAfterCharacters) child.kill('SIGKILL');
      });
      const [, signal] = (await once(child, 'close')) as [number | null, string | null];
      expect(signal).toBe('SIGKILL');

      const acknowledged = new Map<string, number>();
      for (const line of output.split('\n').slice(0, -1)) {
        const [id, seq] = line.split(' ');
        acknowledged.set(id!, Number(seq));
      }
      expect(acknowledged.size).toBe(40);
      await withJournal(dir, async (journal) => {
        for (const [id, seq] of acknowledged) {
          const stored = await journal.read({ component: 'Load', id }, 0, 1_000_000);
          expect(stored.length).toBeGreaterThanOrEqual(seq);
          expect(stored.map((record) => record.seq)).toEqual(stored.map((_, index) => index + 1));
        }
      });
    }
  });
});

describe('several users', () => {
  test('of two that write to one entity, one loses by conflict and neither is lost silently', async () => {
    const opened = await openSqliteJournal(temporaryFolder());
    const first = attachJournal(opened.connect(), opened.dir);
    const second = attachJournal(opened.connect(), opened.dir);
    const outcomes = await Promise.all([
      append(first, entity, recordOf(1, '"first"')),
      append(second, entity, recordOf(1, '"second"')),
      append(first, entity, recordOf(2, '"first"')),
      append(second, entity, recordOf(2, '"second"')),
    ]);
    const stored = await first.read(entity, 0, 10);
    const [winner, loser] = outcomes[0] === undefined ? ['first', 'second'] : ['second', 'first'];
    expect(outcomes.map((failure) => failure?.code)).toEqual(
      [winner, loser, winner, loser].map((_, index) =>
        (index % 2 === 0) === (winner === 'first') ? undefined : 'SVC_JOURNAL_UNAVAILABLE',
      ),
    );
    expect(stored).toEqual([recordOf(1, `"${winner}"`), recordOf(2, `"${winner}"`)]);
    expect(await second.read(entity, 0, 10)).toEqual(stored);
    await first.close();
    await second.close();
    await opened.close();
  });

  test('a thread that ends in the middle of its work leaves the journal to the others', async () => {
    const opened = await openSqliteJournal(temporaryFolder());
    const worker = new Worker(
      `const { workerData } = require('node:worker_threads');
       workerData.port.postMessage([0, 'Cart', 'worker', 1, 1, 5, 'E', '{}']);
       setTimeout(() => process.exit(0), 0);`,
      { eval: true, ...transferred(opened.connect()) },
    );
    await once(worker, 'exit');
    const journal = attachJournal(opened.connect(), opened.dir);
    expect(await append(journal, entity, recordOf(1))).toBeUndefined();
    await journal.close();
    await opened.close();
  });

  test('a writer that ends by itself is told, fails what is queued, and frees the folder', async () => {
    const dir = temporaryFolder();
    const opened = await openSqliteJournal(dir);
    const journal = attachJournal(opened.connect(), opened.dir);
    expect(await append(journal, entity, recordOf(1))).toBeUndefined();
    // What no user of the journal sends.
    opened.connect().postMessage(null, []);
    expect(await opened.failure).toMatchObject({ code: 'SVC_JOURNAL_UNAVAILABLE' });
    expect((await append(journal, entity, recordOf(2)))?.code).toBe('SVC_JOURNAL_UNAVAILABLE');
    const late = attachJournal(opened.connect(), opened.dir);
    expect((await append(late, entity, recordOf(2)))?.code).toBe('SVC_JOURNAL_UNAVAILABLE');
    await expect(late.read(entity, 0, 10)).rejects.toMatchObject({
      code: 'SVC_JOURNAL_UNAVAILABLE',
    });
    await journal.close();
    await late.close();
    await opened.close();
    await withJournal(dir, async (again) => {
      expect(await again.read(entity, 0, 10)).toEqual([recordOf(1)]);
    });
  });

  test('a writer that ends while one connects tells that one as well', async () => {
    const opened = await openSqliteJournal(temporaryFolder());
    opened.connect().postMessage(null, []);
    const journal = attachJournal(opened.connect(), opened.dir);
    expect((await append(journal, entity, recordOf(1)))?.code).toBe('SVC_JOURNAL_UNAVAILABLE');
    await journal.close();
    await opened.close();
  });

  test('a user reads what users before it have sent, and the writer has not stored yet', async () => {
    const dir = temporaryFolder();
    const opened = await openSqliteJournal(dir);
    const before = attachJournal(opened.connect(), opened.dir);
    expect(await append(before, entity, recordOf(1))).toBeUndefined();
    const other = new DatabaseSync(join(dir, 'journal.sqlite'));
    other.exec('BEGIN IMMEDIATE');
    const pending = append(before, entity, recordOf(2));
    // It is sent after the callbacks of this turn.
    await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
    const after = attachJournal(opened.connect(), opened.dir);
    const read = after.read(entity, 0, 10);
    await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
    other.exec('COMMIT');
    other.close();
    expect(await read).toEqual([recordOf(1), recordOf(2)]);
    expect(await pending).toBeUndefined();
    await before.close();
    await after.close();
    await opened.close();
  });

  test('a log that somebody reading for long has made grow is cut back', async () => {
    const dir = temporaryFolder();
    const log = join(dir, 'journal.sqlite-wal');
    const mib = 1024 * 1024;
    await withJournal(dir, async (journal) => {
      const large = `"${'x'.repeat(mib)}"`;
      expect(await append(journal, entity, recordOf(1))).toBeUndefined();
      const other = new DatabaseSync(join(dir, 'journal.sqlite'), { readOnly: true });
      beginReading(other);
      for (let seq = 2; seq <= 50; seq++)
        expect(await append(journal, entity, recordOf(seq, large))).toBeUndefined();
      expect(statSync(log).size).toBeGreaterThan(49 * mib);
      other.close();
      for (let seq = 51; seq <= 80; seq++)
        expect(await append(journal, entity, recordOf(seq, large))).toBeUndefined();
      expect(statSync(log).size).toBeLessThan(40 * mib);
    });
  });

  test('a log that is always being read from stays short all the same', async () => {
    const dir = temporaryFolder();
    await withJournal(dir, async (journal) => {
      expect(await append(journal, entity, recordOf(1))).toBeUndefined();
      const large = `"${'x'.repeat(1024 * 1024)}"`;
      // One begins to read before the other ends, so that there is no moment without a reader.
      const readers = [0, 1].map(
        () => new DatabaseSync(join(dir, 'journal.sqlite'), { readOnly: true }),
      );
      readers.forEach(beginReading);
      let turn = 0;
      const reading = setInterval(() => beginReading(readers[turn++ % 2]!), 1);
      for (let seq = 2; seq <= 120; seq++)
        expect(await append(journal, entity, recordOf(seq, large))).toBeUndefined();
      clearInterval(reading);
      for (const reader of readers) reader.close();
      expect(statSync(join(dir, 'journal.sqlite-wal')).size).toBeLessThan(80 * 1024 * 1024);
    });
  });

  test('closing the journal fails what its users still send', async () => {
    const opened = await openSqliteJournal(temporaryFolder());
    const journal = attachJournal(opened.connect(), opened.dir);
    expect(await append(journal, entity, recordOf(1))).toBeUndefined();
    const closed = opened.close();
    const late = append(journal, entity, recordOf(2));
    await closed;
    expect([undefined, 'SVC_JOURNAL_UNAVAILABLE']).toContain((await late)?.code);
    expect((await append(journal, entity, recordOf(3)))?.code).toBe('SVC_JOURNAL_UNAVAILABLE');
    await journal.close();
  });
});

/** It holds what it sees, and needs the log for it, until it begins again. */
function beginReading(reader: DatabaseSync): void {
  if (reader.isTransaction) reader.exec('COMMIT');
  reader.exec('BEGIN');
  reader.prepare('SELECT count(*) FROM journal').get();
}

function transferred(port: ReturnType<Awaited<ReturnType<typeof openSqliteJournal>>['connect']>) {
  return { workerData: { port }, transferList: [port] };
}

describe('damage', () => {
  test.each([
    ['an event', `UPDATE journal SET json = replace(json, '"n":2', '"n":3') WHERE seq = 2`],
    ['a time', 'UPDATE journal SET time_ms = time_ms + 1 WHERE seq = 2'],
    ['a manifest', `UPDATE journal SET manifest = 'F' WHERE seq = 2`],
    ['a number', 'UPDATE journal SET seq = 4 WHERE seq = 2'],
    ['a number beyond what a number holds', 'UPDATE journal SET time_ms = 9223372036854775807'],
    ['a kind', 'UPDATE journal SET kind = 1 WHERE seq = 2'],
    ['its entity', `UPDATE entity SET id = 'two'; INSERT INTO entity VALUES (9, 'Cart', 'x')`],
  ])('of %s is found and named when it is read', async (_, sql) => {
    const dir = await filledFolder(3);
    edit(dir, sql);
    await withJournal(dir, async (journal) => {
      const damaged = sql.includes('entity') ? { component: 'Cart', id: 'two' } : entity;
      const failure = await journal.read(damaged, 0, 10).catch((error: unknown) => error);
      expect(failure).toMatchObject({ code: 'SVC_JOURNAL_CORRUPT' });
      expect((failure as Error).message).toContain(`entity '${damaged.id}' of component 'Cart'`);
      // The others are served as before.
      const other = { component: 'Cart', id: 'other' };
      expect(await append(journal, other, recordOf(1))).toBeUndefined();
      expect(await journal.read(other, 0, 10)).toEqual([recordOf(1)]);
    });
  });

  test('of a deletion is found when one asks for it', async () => {
    const dir = await filledFolder(3);
    for (const sql of [
      'UPDATE journal SET kind = 1 WHERE seq = 2',
      'UPDATE journal SET time_ms = 1 WHERE seq = 2',
    ]) {
      edit(dir, sql);
      await withJournal(dir, async (journal) => {
        await expect(journal.lastDeletion(entity)).rejects.toMatchObject({
          code: 'SVC_JOURNAL_CORRUPT',
          message: expect.stringContaining('record 2') as string,
        });
      });
    }
  });

  test('that lost the journal and left its log is refused, and nothing is touched', async () => {
    const dir = temporaryFolder();
    const opened = await openSqliteJournal(dir);
    const journal = attachJournal(opened.connect(), opened.dir);
    expect(await append(journal, entity, recordOf(1))).toBeUndefined();
    const copy = temporaryFolder();
    copyFileSync(join(dir, 'journal.sqlite-wal'), join(copy, 'journal.sqlite-wal'));
    await journal.close();
    await opened.close();
    const before = contents(copy);
    await expect(openSqliteJournal(copy)).rejects.toMatchObject({ code: 'SVC_JOURNAL_CORRUPT' });
    expect(contents(copy)).toEqual(before);
  });

  test('of one byte in the file is found and named when the record is read', async () => {
    const dir = await filledFolder(3);
    const path = join(dir, 'journal.sqlite');
    const bytes = readFileSync(path);
    const at = bytes.indexOf('"n":2');
    expect(at).toBeGreaterThan(0);
    bytes[at + 1] = bytes[at + 1]! ^ 0x01;
    writeFileSync(path, bytes);
    await withJournal(dir, async (journal) => {
      await expect(journal.read(entity, 0, 10)).rejects.toMatchObject({
        code: 'SVC_JOURNAL_CORRUPT',
        message: expect.stringContaining('record 2') as string,
      });
      expect(await journal.read(entity, 2, 10)).toEqual([recordOf(3)]);
    });
  });

  test('that cuts the file off is refused at the start, and nothing is touched', async () => {
    const dir = await filledFolder(1_000);
    const path = join(dir, 'journal.sqlite');
    truncateSync(path, Math.floor(statSync(path).size / 2));
    const before = readFileSync(path);
    await expect(openSqliteJournal(dir)).rejects.toMatchObject({ code: 'SVC_JOURNAL_CORRUPT' });
    expect(readFileSync(path)).toEqual(before);
  });

  test.each([
    [
      'something else',
      Buffer.from('this is not a database, and long enough to look like one '.repeat(9)),
    ],
    ['an empty file', Buffer.alloc(0)],
    ['a few bytes', Buffer.from('SQLite format 3\0')],
  ])('that leaves %s is refused, and nothing is touched', async (_, bytes) => {
    const dir = temporaryFolder();
    writeFileSync(join(dir, 'journal.sqlite'), bytes);
    const before = contents(dir);
    await expect(openSqliteJournal(dir)).rejects.toMatchObject({ code: 'SVC_JOURNAL_CORRUPT' });
    expect(contents(dir)).toEqual(before);
  });

  test('a database of somebody else is refused, and nothing is touched', async () => {
    const dir = temporaryFolder();
    edit(dir, 'CREATE TABLE precious (a); INSERT INTO precious VALUES (1)');
    const before = contents(dir);
    await expect(openSqliteJournal(dir)).rejects.toMatchObject({ code: 'SVC_JOURNAL_CORRUPT' });
    expect(contents(dir)).toEqual(before);
  });

  test('a journal without its tables is refused', async () => {
    const dir = await filledFolder(1);
    edit(dir, 'DROP TABLE journal');
    await expect(openSqliteJournal(dir)).rejects.toMatchObject({ code: 'SVC_JOURNAL_CORRUPT' });
  });
});

describe('the format', () => {
  test('of a newer version is refused, and nothing is touched', async () => {
    const dir = await filledFolder(1);
    edit(dir, 'PRAGMA user_version = 2');
    for (const withLock of [true, false]) {
      if (!withLock) rmSync(join(dir, 'lock'));
      const before = contents(dir);
      await expect(openSqliteJournal(dir)).rejects.toMatchObject({
        code: 'SVC_JOURNAL_NEWER',
        message: expect.stringContaining('format 2') as string,
      });
      expect(contents(dir)).toEqual(before);
    }
  });

  test('a journal whose making was interrupted is made anew', async () => {
    const dir = temporaryFolder();
    writeFileSync(join(dir, 'journal.sqlite.new'), 'half a journal');
    await withJournal(dir, async (journal) => {
      expect(await append(journal, entity, recordOf(1))).toBeUndefined();
    });
    expect(existsSync(join(dir, 'journal.sqlite.new'))).toBe(false);
  });

  test('a journal with a write-ahead log that was left behind is read whole', async () => {
    const dir = temporaryFolder();
    const opened = await openSqliteJournal(dir);
    const journal = attachJournal(opened.connect(), opened.dir);
    expect(await append(journal, entity, recordOf(1))).toBeUndefined();
    const copy = temporaryFolder();
    for (const name of ['journal.sqlite', 'journal.sqlite-wal'])
      copyFileSync(join(dir, name), join(copy, name));
    await journal.close();
    await opened.close();
    await withJournal(copy, async (copied) => {
      expect(await copied.read(entity, 0, 10)).toEqual([recordOf(1)]);
    });
  });
});
