import { afterAll, beforeAll, describe } from 'vitest';
import type { Journal } from '../../../../host/engine/needs/journal.ts';
import { journalSuite } from '../../../suites/journal-suite.ts';
import { remoteJournalSuite } from '../../../suites/remote-journal-suite.ts';
import { JournalDatabase } from '../../../support/postgres/journal-database.ts';
import { serverVersions } from '../../../support/postgres/postgres-programs.ts';
import { PostgresServer } from '../../../support/postgres/postgres-server.ts';
import { TcpFaultProxy } from '../../../support/tcp-fault-proxy.ts';

describe.each(serverVersions())('PostgreSQL %s', (version) => {
  let server: PostgresServer;
  let journals: JournalDatabase;
  beforeAll(async () => {
    server = await PostgresServer.start(version);
    journals = await JournalDatabase.make(server);
  });
  afterAll(async () => {
    await server.stop();
  });

  journalSuite('in PostgreSQL', async () => {
    await journals.empty();
    const journal = journals.attach();
    return { journal, discard: () => journal.close() };
  });

  remoteJournalSuite('in PostgreSQL', async () => {
    await journals.empty();
    const proxy = await TcpFaultProxy.to(server.port);
    const journal = journals.attach({ source: journals.through(proxy), uncertainMs: 50 });
    const { database } = journals;
    const commits = async () => {
      const [row] = await database.sql('SELECT sum(commits)::int AS sum FROM svc.slice');
      return row!['sum'] as number;
    };
    return {
      journal: journal as Journal & Required<Pick<Journal, 'lookAhead'>>,
      async loseOutcome(isStored, queue) {
        const before = await commits();
        if (isStored) {
          proxy.holdAnswers();
          const outcomes = queue();
          while ((await commits()) === before);
          proxy.refuse();
          return accepting(proxy, outcomes);
        }
        // The statement waits for the row of its slice, and is ended there.
        const blocker = await server.client(database.name);
        await blocker.query('BEGIN');
        await blocker.query('LOCK TABLE svc.slice IN EXCLUSIVE MODE');
        const outcomes = queue();
        const waiting = `SELECT pid FROM pg_stat_activity
          WHERE datname = $1 AND wait_event_type = 'Lock'`;
        let pids: readonly unknown[] = [];
        while (pids.length === 0)
          pids = (await server.sql(waiting, [database.name])).map((row) => row['pid']);
        proxy.refuse();
        for (const pid of pids) await server.sql('SELECT pg_terminate_backend($1)', [pid]);
        await blocker.query('ROLLBACK');
        await blocker.end();
        return accepting(proxy, outcomes);
      },
      async discard() {
        await journal.close();
        await proxy.close();
      },
    };
  });
});

/** Lets connections be made again once all outcomes are there. */
async function accepting<T>(proxy: TcpFaultProxy, outcomes: readonly Promise<T>[]): Promise<T[]> {
  const settled = await Promise.all(outcomes);
  proxy.letAnswersThrough();
  proxy.accept();
  return settled;
}
