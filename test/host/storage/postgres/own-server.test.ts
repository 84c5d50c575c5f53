// Servers that are weak, standbys, or end: what a connection makes of them, and what becomes of the statements under way.
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { connectDatabase } from '../../../../host/storage/postgres/connect-database.ts';
import type { DatabaseSession } from '../../../../host/storage/postgres/database-session.ts';
import type { DatabaseSource } from '../../../../host/storage/postgres/database-source.ts';
import { freePorts } from '../../../support/free-ports.ts';
import { urlFile } from '../../../support/postgres/fresh-database.ts';
import { missStandby } from '../../../support/postgres/missing-standby.ts';
import { serverVersions } from '../../../support/postgres/postgres-programs.ts';
import { PostgresServer } from '../../../support/postgres/postgres-server.ts';
import { finish, folded, row, viewOf } from '../../../suites/view-store/views-under-test.ts';
import { emptyDatabase, viewsIn } from './views/support/views-database.ts';

async function connect(source: DatabaseSource): Promise<DatabaseSession> {
  const session = await connectDatabase(source);
  onTestFinished(() => session.abort());
  return session;
}

async function processOf(session: DatabaseSession): Promise<number> {
  const [[pid]] = (await session.query({ text: 'SELECT pg_backend_pid()' })) as [[number]];
  return pid;
}

describe.each(serverVersions())('PostgreSQL %s', (version) => {
  let server: PostgresServer;
  let source: DatabaseSource;
  beforeAll(async () => {
    server = await PostgresServer.start(version);
    ({ source } = await server.freshDatabase());
  });
  afterAll(() => server.stop());

  /** Waits until the session waits for something, by the server's own view. */
  const untilWaiting = async (pid: number, event: string): Promise<void> => {
    await expect
      .poll(() => server.sql('SELECT wait_event FROM pg_stat_activity WHERE pid = $1', [pid]))
      .toEqual([{ wait_event: event }]);
  };

  test('a commit whose wait for the standby is cancelled has an unknown outcome', async () => {
    const session = await connect(source);
    await session.query({ text: 'CREATE TABLE public.kept (n integer)' });
    const pid = await processOf(session);
    await missStandby(server);
    const insert = session.query({ text: 'INSERT INTO public.kept VALUES (1)' });
    const outcome = Promise.allSettled([insert]);
    await untilWaiting(pid, 'SyncRep');
    await server.sql('SELECT pg_cancel_backend($1)', [pid]);
    expect(await outcome).toMatchObject([{ reason: { outcome: 'unknown', sqlState: '01000' } }]);
    await session.ended;
    // It is stored on the primary alone.
    const other = await connect(source);
    expect(await other.query({ text: 'SELECT n FROM public.kept' })).toEqual([[1]]);

    const otherPid = await processOf(other);
    const terminated = other.query({ text: 'INSERT INTO public.kept VALUES (2)' });
    const end = Promise.allSettled([terminated]);
    await untilWaiting(otherPid, 'SyncRep');
    await server.sql('SELECT pg_terminate_backend($1)', [otherPid]);
    expect(await end).toMatchObject([{ reason: { outcome: 'unknown' } }]);
  });

  test('rows of views are neither confirmed nor seen before the standby has them', async () => {
    const database = await emptyDatabase(server);
    const store = viewsIn(database);
    onTestFinished(() => store.close());
    const view = viewOf();
    const writer = await store.openWriter(view);
    await writer.put([row('a', { n: 1 })], folded(1));
    await finish(writer);
    const findStandby = await missStandby(server);
    const put = writer.put([row('a', { n: 2 })], folded(2));
    await expect
      .poll(() =>
        server.sql('SELECT datname FROM pg_stat_activity WHERE wait_event = $1', ['SyncRep']),
      )
      .toContainEqual({ datname: database.name });
    const reader = store.reader(view);
    expect(await reader.status()).toMatchObject({ foldedTo: folded(1) });
    expect(await reader.get('a')).toMatchObject({ json: '{"n":1}' });
    await findStandby();
    await put;
    expect(await reader.get('a')).toMatchObject({ json: '{"n":2}' });
  });

  test('a connection that ends in the middle of a commit leaves its outcome unknown', async () => {
    const session = await connect(source);
    for (const text of [
      `CREATE TABLE public.slow (n integer)`,
      `CREATE FUNCTION public.wait() RETURNS trigger LANGUAGE plpgsql
         AS 'BEGIN PERFORM pg_sleep(600); RETURN NULL; END'`,
      `CREATE CONSTRAINT TRIGGER wait AFTER INSERT ON public.slow DEFERRABLE INITIALLY DEFERRED
         FOR EACH ROW EXECUTE FUNCTION public.wait()`,
    ])
      await session.query({ text });
    const pid = await processOf(session);
    await session.query({ text: 'BEGIN' });
    await session.query({ text: 'INSERT INTO public.slow VALUES (1)' });
    const commit = session.query({ text: 'COMMIT' });
    const waiting = session.query({ text: 'SELECT 1' });
    const settled = Promise.allSettled([commit, waiting]);
    await untilWaiting(pid, 'PgSleep');
    await server.sql('SELECT pg_terminate_backend($1)', [pid]);
    expect(await settled).toMatchObject([
      { reason: { outcome: 'unknown', sqlState: '57P01' } },
      { reason: { outcome: 'not-done' } },
    ]);
  });

  test('a transaction that waits too long for its next statement loses its locks', async () => {
    const session = await connectDatabase(source, { idleInTransactionMs: 50 });
    await session.query({ text: 'BEGIN' });
    await session.query({ text: 'SELECT 1' });
    await session.ended;
    await expect(session.query({ text: 'COMMIT' })).rejects.toMatchObject({
      outcome: 'not-done',
      sqlState: '25P03',
    });
  });

  test('a statement that takes longer than it may is not done', async () => {
    const session = await connectDatabase(source, { statementTimeoutMs: 50 });
    onTestFinished(() => session.abort());
    await expect(session.query({ text: 'SELECT pg_sleep(600)' })).rejects.toMatchObject({
      outcome: 'not-done',
      sqlState: '57014',
    });
    expect(await session.query({ text: 'SELECT 1' })).toEqual([[1]]);
  });

  test('a server that is killed leaves the outcome of a statement unknown, and the next connection finds it again', async () => {
    const session = await connect(source);
    const pid = await processOf(session);
    const sleeping = session.query({ text: 'SELECT pg_sleep(600)' });
    const outcome = Promise.allSettled([sleeping]);
    await untilWaiting(pid, 'PgSleep');
    await server.kill();
    expect(await outcome).toMatchObject([{ reason: { outcome: 'unknown', reason: 'lost' } }]);
    await session.ended;
    await expect(connect(source)).rejects.toMatchObject({ code: 'SVC_JOURNAL_UNAVAILABLE' });
    await server.restart();
    await (await connect(source)).query({ text: 'SELECT 1' });
  });

  test('a server that is shut down ends its connections', async () => {
    const session = await connect(source);
    await server.shutDown();
    await session.ended;
    await expect(session.query({ text: 'SELECT 1' })).rejects.toMatchObject({
      outcome: 'not-done',
      sqlState: '57P01',
    });
    await server.restart();
  });
});

describe('a server', () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await PostgresServer.start('18', { configuration: { fsync: 'off' } });
  });
  afterAll(() => server.stop());
  const sourceOf = (hosts: string) =>
    urlFile(
      server.folder,
      'hosts',
      server.url('postgres').replace(/@[^/]*/, `@${hosts}`) + '?connect_timeout=1',
    );
  const own = () => `127.0.0.1:${server.port}`;

  test.each([
    ['fsync', 'on'],
    ['full_page_writes', 'off'],
  ])('that is weak is refused: %s', async (setting) => {
    if (setting === 'full_page_writes') {
      server.configure({ fsync: 'on', full_page_writes: 'off' });
      await server.restart();
    }
    await expect(connect(sourceOf(own()))).rejects.toMatchObject({
      code: 'SVC_DATABASE_UNUSABLE',
      message: expect.stringContaining(
        `${setting} is off, so that a commit may be lost after it was confirmed. Set ${setting} to on`,
      ),
    });
  });

  test('that is paused is given up after the time for a connection', async () => {
    server.configure({ fsync: 'on', full_page_writes: 'on' });
    await server.restart();
    await server.pause();
    await expect(connect(sourceOf(own()))).rejects.toThrow('there was no answer within 1 s');
    server.resume();
    await connect(sourceOf(own()));
  });

  test('that is a standby is passed over, and so are dead hosts', async () => {
    const primary = await PostgresServer.shared('18');
    await server.sql(`ALTER ROLE svc_test PASSWORD 'p%ss/w:rd@1'`);
    await server.becomeStandby();
    const [dead] = await freePorts(1);
    const hosts = `127.0.0.1:${dead},${own()}`;
    await expect(connect(sourceOf(hosts))).rejects.toMatchObject({
      code: 'SVC_JOURNAL_UNAVAILABLE',
      message: expect.stringContaining(
        `127.0.0.1:${dead}: nothing listens there (ECONNREFUSED); ${own()}: the server is a standby`,
      ),
    });
    const session = await connect(sourceOf(`${hosts},127.0.0.1:${primary.port}`));
    expect(await session.query({ text: 'SHOW port' })).toEqual([[String(primary.port)]]);
    expect(session.shown).toBe(`postgresql://${hosts},127.0.0.1:${primary.port}/postgres`);

    // A standby that has become the primary is used.
    await server.sql('SELECT pg_promote()');
    const promoted = await connect(sourceOf(hosts));
    expect(await promoted.query({ text: 'SHOW port' })).toEqual([[String(server.port)]]);
  });
});
