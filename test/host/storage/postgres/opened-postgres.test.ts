import { expect, onTestFinished, test } from 'vitest';
import type { Journal } from '../../../../host/engine/needs/journal.ts';
import { attachPostgresJournal } from '../../../../host/storage/postgres/attached-postgres.ts';
import { openPostgresJournal } from '../../../../host/storage/postgres/opened-postgres.ts';
import { JournalSeries } from '../../../../host/storage/journal-series.ts';
import { SLICE_COUNT } from '../../../../model/slice.ts';
import { TIMER_LIMITS_DEFAULT } from '../../../../model/timer-limits.ts';
import { append, recordOf } from '../../../suites/journal-suite.ts';
import { JournalNodes } from '../../../support/postgres/journal-nodes.ts';
import { PostgresServer } from '../../../support/postgres/postgres-server.ts';

const one = { component: 'Cart', id: 'one' };

test('each record names its module, and a module that writes again is noted once', async () => {
  const server = await PostgresServer.shared('18');
  const database = await server.freshDatabase();
  onTestFinished(() => database.end());
  /** Opens the journal, lets a module write a record, and closes the journal. */
  const write = async (fingerprint: string, seq: number) => {
    const opened = await openPostgresJournal(
      { kind: 'postgres', source: database.source },
      {
        limits: { bytesMax: 0, closeMs: 3_000 },
        timerLimits: TIMER_LIMITS_DEFAULT,
        series: new JournalSeries(),
        fingerprint,
        isExclusive: true,
      },
    );
    opened.noteModule({ fingerprint, descriptor: `{"of":"${fingerprint}"}`, timeMs: 5 });
    const journal: Journal = attachPostgresJournal(opened.connect([0, SLICE_COUNT]));
    expect(await append(journal, one, recordOf(seq))).toBeUndefined();
    await journal.close();
    await opened.close();
  };
  for (const [index, fingerprint] of ['a', 'a', 'b', 'a'].entries())
    await write(fingerprint, index + 1);
  const rows = await database.sql(
    'SELECT j.seq::int, m.fingerprint, m.number FROM svc.journal j JOIN svc.module m ON m.number = j.module ORDER BY 1',
  );
  expect(rows.map((row) => row['fingerprint'])).toEqual(['a', 'a', 'b', 'a']);
  expect(new Set(rows.map((row) => row['number'])).size).toBe(3);
  expect(await database.sql('SELECT FROM svc.module')).toHaveLength(3);
  // The last one has left, so nobody waits for its lease.
  expect(await database.sql('SELECT FROM svc.node')).toEqual([]);
});

test('a connection that is lost while types of events are read is a journal that is unavailable', async () => {
  const server = await PostgresServer.shared('18');
  const nodes = await JournalNodes.make(server);
  onTestFinished(() => nodes.close());
  const { opened } = await nodes.start();
  const blocker = await server.client(nodes.database.name);
  onTestFinished(() => blocker.end());
  await blocker.query('BEGIN; LOCK TABLE svc.event_type');
  const types = opened.eventTypes();
  types.catch(() => undefined);
  const end = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE datname = current_database() AND wait_event_type = 'Lock'`;
  while ((await nodes.database.sql(end)).length === 0);
  await expect(types).rejects.toMatchObject({ code: 'SVC_JOURNAL_UNAVAILABLE' });
});
