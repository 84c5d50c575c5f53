// PoolerCheck finds out whether something between this process and the server gives the statements of one connection to several
// sessions, as a pooler does that pools transactions. Prepared statements and settings would be missing in the next session.
import type { DatabaseSession } from './database-session.ts';

export interface PooledSession extends DatabaseSession {
  /** The number of the server's process as it was given when the connection was made. */
  readonly processId: number | undefined;
}

const ROUNDS = 3;

/**
 * Returns whether another connection is given the session of this one. A pooler is recognized by the number that it gives for the
 * server's process, which is not that process' own. `open` makes another connection, which has to end by itself if nothing answers.
 */
export async function sharesSessions(
  session: PooledSession,
  processId: number,
  open: () => Promise<DatabaseSession>,
): Promise<boolean> {
  if (session.processId === processId) return false;
  let other: DatabaseSession | undefined;
  try {
    // The session that was used last is given to whoever asks next.
    other = await open();
    for (let round = 0; round < ROUNDS; round++)
      if ((await processOf(session)) === (await processOf(other))) return true;
    return false;
  } catch {
    // The pooler has no second session while this connection keeps the first one, so it is not shared.
    return false;
  } finally {
    other?.abort();
  }
}

async function processOf(session: DatabaseSession): Promise<unknown> {
  const [row] = await session.query({ text: 'SELECT pg_backend_pid()' });
  return row![0];
}
