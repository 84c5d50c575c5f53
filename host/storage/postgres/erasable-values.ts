// ErasableValues are small texts under names in a table of a database, for a program that has to be able to remove them, which it
// could not from a journal.
//
// Invariants
// - A value is committed before `add` resolves, and gone before `remove` does.
// - The value that was added first under a name stays until it is removed.
// - A value is added and removed over a connection that is made for it: one that is kept may still reach a server that was the primary, where
//   the change would be lost. A value is read over one that is kept for a minute.
import type { MonotonicClock } from '../../engine/needs/clock.ts';
import { AnsweringSession } from './answering-session.ts';
import { connectDatabase } from './connect-database.ts';
import { databaseError } from './database-errors.ts';
import { DatabaseFailure } from './database-failure.ts';
import type { DatabaseSession, Row, Statement } from './database-session.ts';
import type { DatabaseSource } from './database-source.ts';
import { FollowingSession } from './following-session.ts';
import { journalFailure } from './journal-failure.ts';

const HAS_TABLE = { text: "SELECT to_regclass('svc.value') IS NOT NULL" };
const HAS_SCHEMA = { text: "SELECT to_regnamespace('svc') IS NOT NULL" };
const MAKE_SCHEMA = { text: 'CREATE SCHEMA svc' };
const MAKE_TABLE = {
  text: `CREATE TABLE svc.value (
    name text COLLATE "C" PRIMARY KEY,
    value text NOT NULL
  )`,
};
const FIND = { name: 'find-value', text: 'SELECT value FROM svc.value WHERE name = $1' };
const ADD = {
  name: 'add-value',
  text: 'INSERT INTO svc.value (name, value) VALUES ($1, $2) ON CONFLICT DO NOTHING',
};
const REMOVE = { name: 'remove-value', text: 'DELETE FROM svc.value WHERE name = $1' };
const ANY = {
  name: 'any-value',
  text: 'SELECT EXISTS (SELECT FROM svc.value WHERE starts_with(name, $1))',
};
/** Another process makes the same at the same time. */
const CONFLICTS = new Set(['23505', '42P06', '42P07']);
const ATTEMPTS_MAX = 5;
/** Age after which the connection that reads is replaced, in milliseconds. */
const AGE_MS_MAX = 60_000;
const CLOCK: MonotonicClock = { monotonicMs: () => performance.now() };

export class ErasableValues {
  /** Name of the database in messages. */
  readonly shown: string;
  readonly #source: DatabaseSource;
  readonly #reading: FollowingSession;

  /**
   * Opens the values in the schema of `source`, whose table is made if it is missing. A journal has another schema. Rejects as `connectDatabase`
   * does.
   */
  static async open(source: DatabaseSource, clock = CLOCK): Promise<ErasableValues> {
    const session = await connectDatabase(source);
    try {
      await makeTable(session);
      return new ErasableValues(source, session.shown, clock);
    } catch (error) {
      throw error instanceof DatabaseFailure ? databaseError(error, session.shown) : error;
    } finally {
      await session.close();
    }
  }

  private constructor(source: DatabaseSource, shown: string, clock: MonotonicClock) {
    this.shown = shown;
    this.#source = source;
    this.#reading = new FollowingSession({
      connect: () => connected(source),
      shown,
      clock,
      ageMsMax: AGE_MS_MAX,
    });
  }

  /** Resolves with the value; undefined: there is none. Rejects with SVC_JOURNAL_UNAVAILABLE, as the others do. */
  async find(name: string): Promise<string | undefined> {
    const [row] = await this.#reading.query(FIND, [name]);
    return valueIn(row);
  }

  /** Adds a value unless there is one, and resolves with the one that is there. Rejects with SVC_DISK_FULL, too. */
  async add(name: string, value: string): Promise<string> {
    return this.#change(async (session) => {
      for (;;) {
        await session.query(ADD, [name, value]);
        const [row] = await session.query(FIND, [name]);
        const found = valueIn(row);
        // Otherwise it was removed meanwhile.
        if (found !== undefined) return found;
      }
    });
  }

  /** Removes the value; without one it does nothing. */
  async remove(name: string): Promise<void> {
    await this.#change((session) => session.query(REMOVE, [name]));
  }

  /** Returns whether there is a value whose name begins so. */
  async hasAny(prefix: string): Promise<boolean> {
    const [row] = await this.#reading.query(ANY, [prefix]);
    return row![0] === true;
  }

  /** Closes the connection that is kept. */
  close(): void {
    this.#reading.close();
  }

  async #change<T>(change: (session: DatabaseSession) => Promise<T>): Promise<T> {
    const session = await connected(this.#source);
    try {
      return await change(session);
    } catch (error) {
      throw journalFailure(error, this.shown);
    } finally {
      await session.close();
    }
  }
}

async function connected(source: DatabaseSource): Promise<DatabaseSession> {
  return new AnsweringSession(await connectDatabase(source));
}

function valueIn(row: Row | undefined): string | undefined {
  return row?.[0] as string | undefined;
}

async function makeTable(session: DatabaseSession): Promise<void> {
  for (let attempt = 1; ; attempt++)
    try {
      if (await holds(session, HAS_TABLE)) return;
      if (!(await holds(session, HAS_SCHEMA))) await session.query(MAKE_SCHEMA);
      await session.query(MAKE_TABLE);
    } catch (error) {
      const isConflict = error instanceof DatabaseFailure && CONFLICTS.has(error.sqlState ?? '');
      if (!isConflict || attempt === ATTEMPTS_MAX) throw error;
    }
}

async function holds(session: DatabaseSession, statement: Statement): Promise<boolean> {
  const [row] = await session.query(statement);
  return row![0] === true;
}
