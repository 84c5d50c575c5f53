// The size of a journal in PostgreSQL: a full one has room again once rows were removed, although its tables stay as large.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { DatabaseSession } from '../../../../host/storage/postgres/database-session.ts';
import { journalBytes } from '../../../../host/storage/postgres/journal-size.ts';
import { openPostgresJournal } from '../../../../host/storage/postgres/opened-postgres.ts';
import { JournalSeries } from '../../../../host/storage/journal-series.ts';
import { TIMER_LIMITS_DEFAULT } from '../../../../model/timer-limits.ts';
import { JournalDatabase } from '../../../support/postgres/journal-database.ts';
import { serverVersions } from '../../../support/postgres/postgres-programs.ts';
import { PostgresServer } from '../../../support/postgres/postgres-server.ts';

const MIB = 1024 * 1024;

describe.each(serverVersions())('PostgreSQL %s', (version) => {
  let journals: JournalDatabase;
  let session: DatabaseSession;

  beforeAll(async () => {
    journals = await JournalDatabase.make(await PostgresServer.shared(version));
    session = await journals.session();
  });
  afterAll(async () => {
    await session.close();
    await journals.database.end();
  });
  beforeEach(async () => {
    await journals.empty();
    await journals.database.sql('VACUUM ANALYZE');
  });

  /** Bytes of the tables and indexes, whatever is in them. */
  const onDisk = () =>
    journals.number(
      `SELECT sum(pg_total_relation_size(oid)) FROM pg_class WHERE relnamespace = 'svc'::regnamespace AND relkind = 'r'`,
    );
  const store = (replies: number, outcomeBytes: number) =>
    journals.database.sql(
      `INSERT INTO svc.reply SELECT n % 1024, 'Cart', 'e' || n, 'k' || n, 'd', 1, repeat('x', $2), 1, n
        FROM generate_series(1, $1::int) n`,
      [replies, outcomeBytes],
    );

  /** Removes most replies, whose space the server can then use again. Those at the end keep it from giving the space back to the disk. */
  const removed = async () => {
    await journals.database.sql('DELETE FROM svc.reply WHERE stored_ms <= 19000');
    // The count of rows does not wait until the connection is idle.
    await journals.database.sql('SELECT pg_stat_force_next_flush()');
    await journals.database.sql('VACUUM ANALYZE');
  };

  test.each([
    ['small', 20_000, 10],
    ['middling', 10_000, 700],
  ])('counts %s rows as they are on disk', async (_what, count, bytes) => {
    await store(count, bytes);
    expect(await journalBytes(session)).toBe(await onDisk());
    await journals.database.sql('VACUUM ANALYZE');
    expect(await journalBytes(session)).toBe(await onDisk());
  });

  test('does not count the space that rows have left, once the server can use it again', async () => {
    await store(20_000, 300);
    await journals.database.sql('VACUUM ANALYZE');
    const before = await journalBytes(session);
    expect(before).toBeGreaterThan(8 * MIB);
    await removed();
    expect(await onDisk()).toBeGreaterThan(8 * MIB);
    expect(await journalBytes(session)).toBeLessThan(0.3 * before);
    // Rows that come in count, although the tables do not grow.
    await store(15_000, 300);
    await journals.database.sql('SELECT pg_stat_force_next_flush()');
    expect(await journalBytes(session)).toBeGreaterThan(0.6 * before);
    expect(await onDisk()).toBeLessThan(1.2 * before);
  });

  test('counts records as they are on disk, also if somebody has removed some', async () => {
    const records = (count: number) =>
      journals.database.sql(
        `INSERT INTO svc.journal (slice, off, component, id, seq, kind, time_ms, manifest, event, crc)
          SELECT 5, n, 'Cart', 'one', n, 0, 1, 'm', repeat('x', 300), 1 FROM generate_series(1, $1::int) n`,
        [count],
      );
    await records(10_000);
    await journals.database.sql('DELETE FROM svc.journal WHERE off < 9900');
    await journals.database.sql('VACUUM ANALYZE');
    expect(await journalBytes(session)).toBe(await onDisk());
  });

  test('a journal that was full has room again after a sweep', async () => {
    await store(20_000, 300);
    await journals.expire('node');
    const series = new JournalSeries();
    const open = () =>
      openPostgresJournal(
        { kind: 'postgres', source: journals.database.source },
        {
          limits: { bytesMax: 8 * MIB, closeMs: 3_000 },
          timerLimits: TIMER_LIMITS_DEFAULT,
          fingerprint: '',
          isExclusive: true,
          series,
        },
      );
    const full = await open();
    expect(series.read().bytes).toBeGreaterThan(8 * MIB);
    await full.close();
    await removed();
    const roomy = await open();
    expect(series.read().bytes).toBeLessThan(4 * MIB);
    await roomy.close();
  });
});
