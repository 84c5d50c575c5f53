// The timers of a journal in PostgreSQL do what those of every journal do.
import { beforeAll, describe } from 'vitest';
import type { TimerLimits } from '../../../../../model/timer-limits.ts';
import { timerAdministrationSuite } from '../../../../suites/timer-administration-suite.ts';
import { timerSuite } from '../../../../suites/timer-suite.ts';
import { serverVersions } from '../../../../support/postgres/postgres-programs.ts';
import { PostgresServer } from '../../../../support/postgres/postgres-server.ts';
import { TimerDatabase } from '../../../../support/postgres/timer-database.ts';

describe.each(serverVersions())('PostgreSQL %s', (version) => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await PostgresServer.shared(version);
  });

  async function open(limits: TimerLimits) {
    const database = await TimerDatabase.open(server, limits);
    const journal = await database.journal();
    return {
      journal,
      administration: await database.administration(),
      due: (nowMs: number, limit?: number) => journal.due(nowMs, limit),
      refusesNul: true,
      discard: () => database.drop(),
    };
  }

  timerSuite('in PostgreSQL', open);
  timerAdministrationSuite('in PostgreSQL', () => open({ max: 20, perEntityMax: 5 }));
});
