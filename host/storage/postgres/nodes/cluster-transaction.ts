// ClusterTransaction changes nodes and owners of slices. Every such change locks the row of the cluster first, so that changes come
// one after the other, and raises the version of the cluster, by which the other nodes notice it.
//
// Invariants
// - A transaction that nothing came of is rolled back, and the version stays.
// - The outcome of a transaction is unknown only after its commit was sent. The row of the cluster is locked then, so a later
//   transaction, and a look that locks it, wait until the outcome is final.
// - For one lease after the database was seen to have another history, because a standby was promoted or a backup was restored,
//   nobody takes anything from a node: leases were given by another clock. They begin again by the present one.
import { DatabaseFailure } from '../database-failure.ts';
import type { DatabaseSession, Statement } from '../database-session.ts';
import { LEASE_SQL } from './node-lease.ts';

/** Locks are held until the next statement comes. A node that is stopped meanwhile loses its connection after this time. */
export const IDLE_IN_TRANSACTION_MS = 1_000;
/** How often a transaction is carried out that met a conflict. */
const ATTEMPTS_MAX = 5;

/** Identifies a server, and each of its promotions and restores. A promoted standby names its timeline first in the second function. */
const HISTORY: Statement = {
  text: `SELECT s.system_identifier::text || '/' || greatest(c.timeline_id, r.min_recovery_end_timeline)::text
    FROM pg_control_system() s, pg_control_checkpoint() c, pg_control_recovery() r`,
};
/** A node that waits for a row keeps all others waiting that want to change the cluster. */
const LIMIT_WAITS: Statement = { text: "SET LOCAL lock_timeout = '2s'" };
const LOCK: Statement = {
  text: `SELECT history, greatest(0, extract(epoch FROM takeover_from - clock_timestamp()) * 1000)::int8
    FROM svc.cluster FOR UPDATE`,
};
const NOTE_HISTORY: Statement = {
  text: `UPDATE svc.cluster SET history = $1, version = version + 1,
    takeover_from = CASE WHEN history = '' THEN takeover_from ELSE ${LEASE_SQL} END`,
};
/**
 * A node that lives renews its lease soon, and one that does not is not waited for longer than a lease, whatever the other clock showed. A row
 * that is locked is being renewed.
 */
const BEGIN_LEASES_AGAIN: Statement = {
  text: `WITH free AS (SELECT number FROM svc.node ORDER BY number FOR NO KEY UPDATE SKIP LOCKED)
    UPDATE svc.node n SET lease_until = ${LEASE_SQL} FROM free f WHERE n.number = f.number`,
};
const RAISE_VERSION: Statement = { text: 'UPDATE svc.cluster SET version = version + 1' };

/** Rolled back, because nothing was changed. */
class NothingChanged extends Error {}

/**
 * Locks the cluster and calls `change`, which returns undefined if it has changed nothing. `mayTake`: whether something may be taken
 * from nodes whose leases have ended. Rejects with DatabaseFailure, and as `change` does.
 */
export async function changeCluster<T>(
  session: DatabaseSession,
  change: (mayTake: boolean) => Promise<T | undefined>,
): Promise<T | undefined> {
  const history = await historyOf(session);
  for (let attempt = 1; ; attempt++)
    try {
      return await transaction(session, () => changeLocked(session, history, change));
    } catch (error) {
      if (error instanceof NothingChanged) return undefined;
      const mayPass = error instanceof DatabaseFailure && error.isRetryable;
      if (!mayPass || attempt === ATTEMPTS_MAX) throw error;
    }
}

/** Notes the history of the database with each new connection: a server that was promoted is another connection. Rejects with DatabaseFailure. */
export async function noteHistory(session: DatabaseSession): Promise<void> {
  await changeCluster(session, () => Promise.resolve(undefined));
}

/** Returns undefined if the server does not name it: then a promotion goes unnoticed. */
async function historyOf(session: DatabaseSession): Promise<string | undefined> {
  try {
    return (await session.query(HISTORY))[0]![0] as string;
  } catch (error) {
    if (error instanceof DatabaseFailure && error.reason === 'answered') return undefined;
    throw error;
  }
}

async function changeLocked<T>(
  session: DatabaseSession,
  history: string | undefined,
  change: (mayTake: boolean) => Promise<T | undefined>,
): Promise<T | undefined> {
  await session.query(LIMIT_WAITS);
  const [known, pauseMs] = (await session.query(LOCK))[0] as readonly [string, number];
  const isAnother = history !== undefined && history !== known;
  if (isAnother) {
    await session.query(NOTE_HISTORY, [history]);
    await session.query(BEGIN_LEASES_AGAIN);
  }
  // The first history of a journal is no other one.
  const mayTake = pauseMs === 0 && (!isAnother || known === '');
  const result = await change(mayTake);
  if (result === undefined && !isAnother) throw new NothingChanged();
  if (!isAnother) await session.query(RAISE_VERSION);
  return result;
}

async function transaction<T>(session: DatabaseSession, work: () => Promise<T>): Promise<T> {
  await session.query({ text: 'BEGIN' });
  let result: T;
  try {
    result = await work();
  } catch (error) {
    // If the connection is lost, the server rolls back.
    await session.query({ text: 'ROLLBACK' }).catch(() => undefined);
    throw error;
  }
  await session.query({ text: 'COMMIT' });
  return result;
}
