// LockWatch looks into pg_stat_activity again and again for connections that wait for a lock, and for whose lock they wait. Between
// two looks the server's log has each wait of more than a millisecond, if `LOCK_LOGGING` is part of its configuration.
//
// The application_name of a connection is that of its node. Waiting for a row shows as a wait for the transaction
// that has changed it, for the right to be next (`tuple`), or for a row that another one is inserting (`speculative token`).
import { setTimeout as pause } from 'node:timers/promises';
import type { PostgresServer } from '../../test/support/postgres/postgres-server.ts';

/** The server logs each wait for a lock that is longer than a millisecond, with the application_name of the connection. */
export const LOCK_LOGGING = {
  log_lock_waits: 'on',
  deadlock_timeout: '1ms',
  log_line_prefix: '%m [%p] %a ',
};
/** Time between two looks. */
const LOOK_MS = 10;
const ROW_EVENTS = new Set(['transactionid', 'tuple', 'spectoken']);
const ROW_TARGETS = /^(?:transaction|tuple|speculative token)\b/;

export interface LockWait {
  /** application_name of the connection that waits, and of the one whose lock it waits for. */
  readonly waiting: string;
  readonly holding: string;
  /** Subject of the lock, as the server names it. */
  readonly event: string;
}

export interface WatchedLocks {
  readonly looks: number;
  /** Looks at which statements of two or more nodes were under way at the same time. */
  readonly looksAtSeveral: number;
  /** Waits between different nodes that were seen. One that lasts is seen several times. */
  readonly rowWaits: readonly LockWait[];
  readonly otherWaits: readonly LockWait[];
  /** Lines of the server's log of waits for rows of more than a millisecond, whoever waits for whom. */
  readonly loggedRowWaits: readonly string[];
}

const LOOK = `SELECT
    (SELECT count(DISTINCT application_name) FROM pg_stat_activity
      WHERE datname = $1 AND application_name LIKE 'node-%' AND state = 'active')::int AS active,
    (SELECT coalesce(json_agg(json_build_object('waiting', w.application_name,
        'holding', h.application_name, 'event', w.wait_event)), '[]')
      FROM pg_stat_activity w
      CROSS JOIN LATERAL unnest(pg_blocking_pids(w.pid)) AS b(pid)
      JOIN pg_stat_activity h ON h.pid = b.pid
      WHERE w.datname = $1 AND w.wait_event_type = 'Lock') AS waits`;

export class LockWatch {
  readonly #server: PostgresServer;
  readonly #database: string;
  readonly #stop = new AbortController();
  readonly #logLength: number;
  readonly #waits: LockWait[] = [];
  #looks = 0;
  #looksAtSeveral = 0;
  #looking: Promise<void> = Promise.resolve();

  /** `database`: the name of the database whose connections are watched. */
  static start(server: PostgresServer, database: string): LockWatch {
    const watch = new LockWatch(server, database);
    watch.#looking = watch.#look();
    // `stop` rejects with the failure of a look.
    watch.#looking.catch(() => undefined);
    return watch;
  }

  private constructor(server: PostgresServer, database: string) {
    this.#server = server;
    this.#database = database;
    this.#logLength = server.log().length;
  }

  /** Number of looks so far at which statements of two or more nodes were under way. */
  get looksAtSeveral(): number {
    return this.#looksAtSeveral;
  }

  /** Ends the watch. Rejects if a look failed. */
  async stop(): Promise<WatchedLocks> {
    this.#stop.abort();
    await this.#looking;
    const between = this.#waits.filter(({ waiting, holding }) => waiting !== holding);
    return {
      looks: this.#looks,
      looksAtSeveral: this.#looksAtSeveral,
      rowWaits: between.filter(({ event }) => ROW_EVENTS.has(event)),
      otherWaits: between.filter(({ event }) => !ROW_EVENTS.has(event)),
      loggedRowWaits: rowWaitsIn(this.#server.log().slice(this.#logLength)),
    };
  }

  async #look(): Promise<void> {
    while (!this.#stop.signal.aborted) {
      // oxlint-disable-next-line no-await-in-loop -- a look follows the other
      const [row] = await this.#server.sql(LOOK, [this.#database]);
      const { active, waits } = row as { active: number; waits: readonly LockWait[] };
      this.#looks++;
      if (active > 1) this.#looksAtSeveral++;
      this.#waits.push(...waits);
      // oxlint-disable-next-line no-await-in-loop -- the same
      await pause(LOOK_MS);
    }
  }
}

/** Returns the lines of a server's log of waits for rows. */
export function rowWaitsIn(log: string): readonly string[] {
  return log
    .split('\n')
    .filter((line) => ROW_TARGETS.test(/still waiting for \S+ on (.*)$/.exec(line)?.[1] ?? ''));
}
