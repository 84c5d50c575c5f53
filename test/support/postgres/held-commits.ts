// HeldCommits lets transactions that have stored records, replies or timers wait before they are committed: their statements have
// been carried out, and nobody else sees what they have stored.
import type { Client } from 'pg';
import type { JournalDatabase } from './journal-database.ts';
import type { PostgresServer } from './postgres-server.ts';

const LOCK = 4711;
const TRIGGERS = ['journal', 'reply', 'timer'].map(
  (table) => `CREATE CONSTRAINT TRIGGER held AFTER INSERT OR UPDATE OR DELETE ON svc.${table}
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION public.wait_for_release()`,
);
const PREPARE = `CREATE FUNCTION public.wait_for_release() RETURNS trigger LANGUAGE plpgsql AS
  $$ BEGIN PERFORM pg_advisory_xact_lock_shared(${LOCK}); RETURN NULL; END $$; ${TRIGGERS.join(';')}`;

export class HeldCommits {
  readonly #journals: JournalDatabase;
  readonly #holder: Client;

  /** Prepares a database. Its transactions wait while they are held. */
  static async of(server: PostgresServer, journals: JournalDatabase): Promise<HeldCommits> {
    await journals.database.sql(PREPARE);
    return new HeldCommits(journals, await server.client(journals.database.name));
  }

  private constructor(journals: JournalDatabase, holder: Client) {
    this.#journals = journals;
    this.#holder = holder;
  }

  async hold(): Promise<void> {
    await this.#holder.query(`SELECT pg_advisory_lock(${LOCK})`);
  }

  async release(): Promise<void> {
    await this.#holder.query('SELECT pg_advisory_unlock_all()');
  }

  /** Resolves once so many transactions wait. */
  async waiting(count = 1): Promise<void> {
    await this.#until("wait_event_type = 'Lock' AND wait_event = 'advisory'", count);
  }

  /** Resolves once so many statements wait for rows that others have locked. */
  async blocked(count = 1): Promise<void> {
    await this.#until(
      "wait_event_type = 'Lock' AND wait_event IN ('transactionid', 'tuple', 'relation')",
      count,
    );
  }

  async close(): Promise<void> {
    await this.#holder.end();
  }

  async #until(condition: string, count: number): Promise<void> {
    const text = `SELECT count(*)::int FROM pg_stat_activity WHERE datname = current_database() AND ${condition}`;
    // oxlint-disable-next-line no-await-in-loop -- it asks until they wait
    while ((await this.#journals.number(text)) < count);
  }
}
