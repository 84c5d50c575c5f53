// MissingStandby: a standby for which every commit of a server waits, and which does not exist. Only for a server of the test's own.
import { expect, onTestFinished } from 'vitest';
import type { PostgresServer } from './postgres-server.ts';

/**
 * Lets every commit wait until the function that is returned is called, or the test ends. The server takes the setting over at some time after it was
 * asked to, so that a session of the database postgres commits until it waits.
 */
export async function missStandby(server: PostgresServer): Promise<() => Promise<void>> {
  const session = await server.client('postgres');
  const { rows } = await session.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
  const found = new AbortController();
  const end = async (): Promise<void> => {
    found.abort();
    await server.sql('ALTER SYSTEM RESET synchronous_standby_names');
    await server.sql('SELECT pg_reload_conf()');
    await commits;
    await session.end();
  };
  await server.sql(`ALTER SYSTEM SET synchronous_standby_names = 'nobody'`);
  await server.sql('SELECT pg_reload_conf()');
  const commits = (async () => {
    while (!found.signal.aborted)
      await session.query(`SELECT pg_logical_emit_message(true, 'test', '')`);
  })();
  onTestFinished(() => (found.signal.aborted ? undefined : end()));
  const waiting = 'SELECT wait_event FROM pg_stat_activity WHERE pid = $1';
  await expect.poll(() => server.sql(waiting, [rows[0]!.pid])).toEqual([{ wait_event: 'SyncRep' }]);
  return end;
}
