// TimerDatabase is a database with the tables of a journal, for tests of timers. The tests of a file use it one after the other.
import { connectDatabase } from '../../../host/storage/postgres/connect-database.ts';
import type { DatabaseSession, Row } from '../../../host/storage/postgres/database-session.ts';
import { SCHEMA, TABLES } from '../../../host/storage/postgres/schema.ts';
import { PostgresTimerAdministration } from '../../../host/storage/postgres/timers/timer-administration.ts';
import type { TimerRules } from '../../../host/storage/postgres/timers/timer-changes.ts';
import { Occurrences } from '../../../host/schedule/occurrences.ts';
import { TIMER_LIMITS_DEFAULT, type TimerLimits } from '../../../model/timer-limits.ts';
import type { FreshDatabase } from './fresh-database.ts';
import type { PostgresServer } from './postgres-server.ts';
import { TimerJournal } from './timer-journal.ts';

export function timerRules(limits: TimerLimits = TIMER_LIMITS_DEFAULT): TimerRules {
  return { limits, occurrences: new Occurrences() };
}

export class TimerDatabase {
  readonly #database: FreshDatabase;
  readonly #session: DatabaseSession;
  readonly #sessions: DatabaseSession[] = [];

  private constructor(database: FreshDatabase, session: DatabaseSession) {
    this.#database = database;
    this.#session = session;
  }

  static async open(server: PostgresServer): Promise<TimerDatabase> {
    const database = await server.freshDatabase();
    const session = await connectDatabase(database.source);
    const statements = ['BEGIN', `CREATE SCHEMA ${SCHEMA}`, ...TABLES, 'COMMIT'];
    for (const text of statements) await session.query({ text });
    return new TimerDatabase(database, session);
  }

  /** Removes all timers, and ends the connections of the test before. */
  async empty(): Promise<void> {
    for (const session of this.#sessions.splice(0)) {
      session.abort();
      await session.ended;
    }
    await this.query(
      'WITH removed AS (DELETE FROM svc.timer) UPDATE svc.timer_count SET timers = 0 WHERE timers <> 0',
    );
  }

  async connect(): Promise<DatabaseSession> {
    const session = await connectDatabase(this.#database.source);
    this.#sessions.push(session);
    return session;
  }

  async journal(limits?: TimerLimits): Promise<TimerJournal> {
    return new TimerJournal(await this.connect(), timerRules(limits));
  }

  /** Operators whose changes are made through one connection. `earliestMs` receives what their changes have stored. */
  async administration(
    limits?: TimerLimits,
    earliestMs: number[] = [],
  ): Promise<PostgresTimerAdministration> {
    const session = await this.connect();
    return new PostgresTimerAdministration({
      withSession: (use) => use(session),
      rules: timerRules(limits),
      fence: async () => {},
      onStored: (ms) => {
        earliestMs.push(ms);
      },
    });
  }

  /** Executes a statement as the owner of the tables. */
  async query(text: string): Promise<readonly Row[]> {
    return this.#session.query({ text });
  }

  /** The number of timers as it is counted, and as it is. */
  async counted(): Promise<Row> {
    const [row] = await this.query(
      'SELECT (SELECT sum(timers)::int8 FROM svc.timer_count), (SELECT count(*) FROM svc.timer)',
    );
    return row!;
  }

  async end(): Promise<void> {
    this.#session.abort();
    for (const session of this.#sessions) session.abort();
    await this.#database.end();
  }
}
