// TimerDatabase is a database with the tables of a journal, for one test of timers.
import { onTestFinished } from 'vitest';
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

export class TimerDatabase {
  readonly #database: FreshDatabase;
  readonly #sessions: DatabaseSession[] = [];
  readonly rules: TimerRules;

  private constructor(database: FreshDatabase, limits: TimerLimits) {
    this.#database = database;
    this.rules = { limits, occurrences: new Occurrences() };
  }

  static async open(
    server: PostgresServer,
    limits: TimerLimits = TIMER_LIMITS_DEFAULT,
  ): Promise<TimerDatabase> {
    const opened = new TimerDatabase(await server.freshDatabase(), limits);
    const session = await opened.connect();
    for (const text of [`CREATE SCHEMA ${SCHEMA}`, ...TABLES]) await session.query({ text });
    return opened;
  }

  /** Opens a database that is removed when the test has ended. */
  static async forTest(server: PostgresServer, limits?: TimerLimits): Promise<TimerDatabase> {
    const opened = await TimerDatabase.open(server, limits);
    onTestFinished(() => opened.drop());
    return opened;
  }

  async connect(): Promise<DatabaseSession> {
    const session = await connectDatabase(this.#database.source);
    this.#sessions.push(session);
    return session;
  }

  async journal(): Promise<TimerJournal> {
    return new TimerJournal(await this.connect(), this.rules);
  }

  /** Operators whose changes are made through one connection; `earliestMs` receives what they have stored. */
  async administration(earliestMs: number[] = []): Promise<PostgresTimerAdministration> {
    const session = await this.connect();
    return new PostgresTimerAdministration({
      withSession: (use) => use(session),
      rules: this.rules,
      onStored: (ms) => {
        earliestMs.push(ms);
      },
    });
  }

  /** Executes a statement as the owner of the tables. */
  async query(text: string): Promise<readonly Row[]> {
    return this.#sessions[0]!.query({ text });
  }

  /** The number of timers, as it is counted and as it is. */
  async counted(): Promise<Row> {
    const [row] = await this.query(
      `SELECT (SELECT sum(timers)::int8 FROM svc.timer_count), (SELECT count(*) FROM svc.timer)`,
    );
    return row!;
  }

  async drop(): Promise<void> {
    for (const session of this.#sessions) session.abort();
    await this.#database.drop();
  }
}
