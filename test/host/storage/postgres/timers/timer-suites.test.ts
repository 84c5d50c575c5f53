// The timers of a journal in PostgreSQL do what those of every journal do.
import { afterAll, beforeAll, describe } from 'vitest';
import type { TimerLimits } from '../../../../../model/timer-limits.ts';
import { timerAdministrationSuite } from '../../../../suites/timer-administration-suite.ts';
import { timerSuite } from '../../../../suites/timer-suite.ts';
import { serverVersions } from '../../../../support/postgres/postgres-programs.ts';
import { PostgresServer } from '../../../../support/postgres/postgres-server.ts';
import { TimerDatabase } from '../../../../support/postgres/timer-database.ts';

describe.each(serverVersions())('PostgreSQL %s', (version) => {
  let database: TimerDatabase;
  beforeAll(async () => {
    database = await TimerDatabase.open(await PostgresServer.shared(version));
  });
  afterAll(() => database.end());

  async function open(limits: TimerLimits) {
    await database.empty();
    const journal = await database.journal(limits);
    return {
      journal,
      administration: await database.administration(limits),
      due: (nowMs: number, limit?: number) => journal.due(nowMs, limit),
      refusesNul: true,
      discard: () => journal.close(),
    };
  }

  timerSuite('in PostgreSQL', open);
  timerAdministrationSuite('in PostgreSQL', () => open({ max: 20, perEntityMax: 5 }));
});
