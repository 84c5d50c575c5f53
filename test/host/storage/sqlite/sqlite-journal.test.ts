import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type MessagePort, Worker } from 'node:worker_threads';
import { describe, expect, test } from 'vitest';
import type { TimerLimits } from '../../../../model/timer-limits.ts';
import type { EntityRef } from '../../../../model/entity.ts';
import { attachSqliteJournal } from '../../../../host/storage/sqlite/attached-journal.ts';
import { journalPath } from '../../../../host/storage/sqlite/journal-file.ts';
import { JOURNAL_LIMITS_DEFAULT } from '../../../../host/storage/journal-limits.ts';
import { openTimerReader } from '../../../../host/storage/sqlite/timer-reader.ts';
import { openSqliteJournal } from '../../../../host/storage/sqlite/sqlite-journal.ts';
import { append, deletionAt, journalSuite, recordOf } from '../../../suites/journal-suite.ts';
import { replyRetentionSuite } from '../../../suites/reply-retention-suite.ts';
import { timerAdministrationSuite } from '../../../suites/timer-administration-suite.ts';
import { timerSuite } from '../../../suites/timer-suite.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';
import { withJournal } from '../../../support/with-journal.ts';

const LOAD = join(import.meta.dirname, '../../../support/append-load.ts');
const entity: EntityRef = { component: 'Cart', id: 'one' };

async function open() {
  const dir = mkdtempSync(join(tmpdir(), 'svc-test-'));
  const opened = await openSqliteJournal(dir);
  const journal = attachSqliteJournal(opened.connect());
  return {
    journal,
    async discard() {
      await journal.close();
      await opened.close();
      rmSync(dir, { recursive: true });
    },
  };
}

journalSuite('in SQLite', open);
replyRetentionSuite('in SQLite', open);

async function withTimers(timerLimits: TimerLimits) {
  const dir = mkdtempSync(join(tmpdir(), 'svc-test-'));
  const opened = await openSqliteJournal(dir, JOURNAL_LIMITS_DEFAULT, { timerLimits });
  const journal = attachSqliteJournal(opened.connect());
  const reader = openTimerReader(journalPath(dir));
  return {
    journal,
    administration: opened,
    due: (nowMs: number, limit = 1_000) =>
      reader.due(nowMs, limit).timers.map(({ number }) => reader.timer(number)!),
    async discard() {
      reader.close();
      await journal.close();
      await opened.close();
      rmSync(dir, { recursive: true });
    },
  };
}

timerSuite('in SQLite', withTimers);
timerAdministrationSuite('in SQLite', () => withTimers({ max: 20, perEntityMax: 5 }));

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
    const first = attachSqliteJournal(opened.connect());
    const second = attachSqliteJournal(opened.connect());
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
       workerData.port.postMessage([
         0, 'Cart', 'worker', 1, 1, null, null, null, null, null, null, 0, 5, null, null, 'E', '{}']);
       setTimeout(() => process.exit(0), 0);`,
      { eval: true, ...transferred(opened.connect().ports[0]) },
    );
    await once(worker, 'exit');
    const journal = attachSqliteJournal(opened.connect());
    expect(await append(journal, entity, recordOf(1))).toBeUndefined();
    await journal.close();
    await opened.close();
  });

  test('a writer that ends by itself is reported, fails what is queued, and frees the folder', async () => {
    const dir = temporaryFolder();
    const opened = await openSqliteJournal(dir);
    const journal = attachSqliteJournal(opened.connect());
    expect(await append(journal, entity, recordOf(1))).toBeUndefined();
    // What no user of the journal sends.
    opened.connect().ports[0].postMessage(null, []);
    expect(await opened.failure).toMatchObject({ code: 'SVC_JOURNAL_UNAVAILABLE' });
    expect((await append(journal, entity, recordOf(2)))?.code).toBe('SVC_JOURNAL_UNAVAILABLE');
    const late = attachSqliteJournal(opened.connect());
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
    opened.connect().ports[0].postMessage(null, []);
    const journal = attachSqliteJournal(opened.connect());
    expect((await append(journal, entity, recordOf(1)))?.code).toBe('SVC_JOURNAL_UNAVAILABLE');
    await journal.close();
    await opened.close();
  });

  test('a user reads what users before it have sent, and the writer has not stored yet', async () => {
    const dir = temporaryFolder();
    const opened = await openSqliteJournal(dir);
    const before = attachSqliteJournal(opened.connect());
    expect(await append(before, entity, recordOf(1))).toBeUndefined();
    const other = new DatabaseSync(join(dir, 'journal.sqlite'));
    other.exec('BEGIN IMMEDIATE');
    const pending = append(before, entity, recordOf(2));
    // It is sent after the callbacks of this turn.
    await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
    const after = attachSqliteJournal(opened.connect());
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
    const journal = attachSqliteJournal(opened.connect());
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

function transferred(port: MessagePort) {
  return { workerData: { port }, transferList: [port] };
}
