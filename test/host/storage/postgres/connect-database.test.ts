// Connections to real servers: what is refused, and how a statement ends when the connection does.
import { beforeAll, describe, expect, test } from 'vitest';
import { connectDatabase } from '../../../../host/storage/postgres/connect-database.ts';
import { serverVersions } from '../../../support/postgres/postgres-programs.ts';
import { PostgresServer } from '../../../support/postgres/postgres-server.ts';

describe.each(serverVersions())('PostgreSQL %s', (version) => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await PostgresServer.shared(version);
  });

  test('a statement is answered with rows of values', async () => {
    const { source } = await server.freshDatabase();
    const session = await connectDatabase(source);
    const text = `SELECT $1::int8, $2::text, $3::int8[], $4::bool, NULL::text, '{"a" : 1}'::json, $5::text[]`;
    const values = [2 ** 40, 'é\u{1F600}', [1n, null, -3], true, ['a,"b', null, '']] as const;
    expect(await session.query({ name: 'values', text }, values)).toEqual([
      [2 ** 40, 'é\u{1F600}', [1, null, -3], true, null, '{"a" : 1}', ['a,"b', null, '']],
    ]);
    await session.close();
    await expect(session.query({ text: 'SELECT 1' })).rejects.toMatchObject({
      name: 'DatabaseFailure',
      outcome: 'not-done',
      reason: 'lost',
    });
  });

  test('a connection that ends in a statement leaves its outcome unknown, and what waits is not done', async () => {
    const database = await server.freshDatabase();
    const session = await connectDatabase(database.source);
    const [[pid]] = (await session.query({ text: 'SELECT pg_backend_pid()' })) as [[number]];
    const sleeping = session.query({ text: 'SELECT pg_sleep(600)' });
    const waiting = session.query({ text: 'SELECT 1' });
    const settled = Promise.allSettled([sleeping, waiting]);
    await database.sql(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid = $1`, [
      pid,
    ]);
    expect(await settled).toMatchObject([
      { reason: { outcome: 'unknown', sqlState: '57P01' } },
      { reason: { outcome: 'not-done' } },
    ]);
    await session.ended;
  });

  test('an aborted connection leaves the outcome of its statement unknown', async () => {
    const { source } = await server.freshDatabase();
    const session = await connectDatabase(source);
    const sleeping = session.query({ text: 'SELECT pg_sleep(600)' });
    session.abort();
    await expect(sleeping).rejects.toMatchObject({ outcome: 'unknown', reason: 'lost' });
    await session.ended;
  });

  test('an error of a statement is not done, and the connection goes on', async () => {
    const { source } = await server.freshDatabase();
    const session = await connectDatabase(source);
    await expect(session.query({ text: 'SELECT 1 / 0' })).rejects.toMatchObject({
      outcome: 'not-done',
      sqlState: '22012',
    });
    expect(await session.query({ text: 'SELECT 1' })).toEqual([[1]]);
    await session.close();
  });
});
