// Connections to real servers: what is refused, and by which code, without a secret in any message.
import { createServer as createHttpServer } from 'node:http';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { inspect } from 'node:util';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import {
  connectDatabase,
  type ConnectOptions,
} from '../../../../host/storage/postgres/connect-database.ts';
import type { DatabaseSession } from '../../../../host/storage/postgres/database-session.ts';
import type { DatabaseSource } from '../../../../host/storage/postgres/database-source.ts';
import { migrateJournal } from '../../../../host/storage/postgres/migration.ts';
import { SvcError } from '../../../../kit/svc-error.ts';
import { freePorts } from '../../../support/free-ports.ts';
import { urlFile } from '../../../support/postgres/fresh-database.ts';
import { PostgresServer } from '../../../support/postgres/postgres-server.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

/** A user and a password that no other text contains. */
const USER = 'svc-user-Zq9';
const PASSWORD = 'pass-Zq9/@:#';

const sourceOf = (url: string): DatabaseSource => urlFile(temporaryFolder(), 'test', url);
const credentials = `${USER}:${encodeURIComponent(PASSWORD)}`;

const urlAt = (address: string) => `postgresql://${credentials}@${address}/shop?connect_timeout=1`;

async function connect(source: DatabaseSource, options?: ConnectOptions): Promise<DatabaseSession> {
  const session = await connectDatabase(source, options);
  onTestFinished(() => session.abort());
  return session;
}

/** Why there is no connection. Nothing of the error, however it is printed, holds a secret. */
async function refusal(source: DatabaseSource): Promise<SvcError> {
  const error: unknown = await connect(source).catch((failure: unknown) => failure);
  expect(error).toBeInstanceOf(SvcError);
  expect(inspect(error, { depth: 20, showHidden: true })).not.toContain('Zq9');
  return error as SvcError;
}

async function listening(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}

describe('a server that does not let the connection in', () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await PostgresServer.shared('18');
    // It goes with the server, as the databases do in which it has rights.
    await server.sql(`CREATE ROLE "${USER}" LOGIN PASSWORD '${PASSWORD}'`);
  });
  const urlOf = (database: string) =>
    `postgresql://${credentials}@127.0.0.1:${server.port}/${database}`;

  test('because the password is wrong', async () => {
    const url = `postgresql://${USER}:wrong-Zq9@127.0.0.1:${server.port}/postgres`;
    expect(await refusal(sourceOf(url))).toMatchObject({
      code: 'SVC_DATABASE_UNUSABLE',
      message:
        `The database postgresql://127.0.0.1:${server.port}/postgres cannot be used: the server answered 28P01 ` +
        '(user or password is wrong). Check user, password and client certificate in the URL, and pg_hba.conf of the server.',
    });
  });

  test('because there is no such user', async () => {
    const url = `postgresql://nobody-Zq9:wrong-Zq9@127.0.0.1:${server.port}/postgres`;
    expect((await refusal(sourceOf(url))).message).toContain('user or password is wrong');
  });

  test('because the URL has no password', async () => {
    const url = `postgresql://${USER}@127.0.0.1:${server.port}/postgres`;
    expect(await refusal(sourceOf(url))).toMatchObject({
      code: 'SVC_DATABASE_UNUSABLE',
      message: expect.stringContaining('the server asks for a password, and the URL has none'),
    });
  });

  test('because there is no such database', async () => {
    expect(await refusal(sourceOf(urlOf('missing')))).toMatchObject({
      code: 'SVC_DATABASE_UNUSABLE',
      message: expect.stringContaining('3D000 (there is no such database). Create the database'),
    });
  });

  test('because it has too many connections', async () => {
    await server.sql(`ALTER ROLE "${USER}" CONNECTION LIMIT 0`);
    const error = await refusal(sourceOf(urlOf('postgres')));
    await server.sql(`ALTER ROLE "${USER}" CONNECTION LIMIT -1`);
    expect(error).toMatchObject({
      code: 'SVC_JOURNAL_UNAVAILABLE',
      retryAfterMs: 1_000,
      message: expect.stringContaining('53300 (there are too many connections). Raise max_conn'),
    });
  });

  test('because the role may not connect to the database', async () => {
    const { name } = await server.freshDatabase();
    await server.sql(`REVOKE CONNECT ON DATABASE ${name} FROM PUBLIC`);
    expect(await refusal(sourceOf(urlOf(name)))).toMatchObject({ code: 'SVC_DATABASE_UNUSABLE' });
  });

  test('and a role that may not make tables is refused when there are none', async () => {
    const database = await server.freshDatabase();
    const session = await connect(sourceOf(urlOf(database.name)));
    await expect(migrateJournal(session)).rejects.toMatchObject({
      code: 'SVC_DATABASE_UNUSABLE',
      message: expect.stringContaining('execute GRANT CREATE ON DATABASE for the role'),
    });
    expect(await database.sql(`SELECT FROM pg_namespace WHERE nspname = 'svc'`)).toEqual([]);
    await database.sql(`GRANT CREATE ON DATABASE ${database.name} TO "${USER}"`);
    await migrateJournal(session);
    session.abort();
    await database.end();
  });
});

describe('an address at which there is no PostgreSQL', () => {
  test('because nothing listens', async () => {
    const [port] = await freePorts(1);
    expect(await refusal(sourceOf(urlAt(`127.0.0.1:${port}`)))).toMatchObject({
      code: 'SVC_JOURNAL_UNAVAILABLE',
      retryAfterMs: 1_000,
      message:
        `The database postgresql://127.0.0.1:${port}/shop is not available: nothing listens there (ECONNREFUSED). ` +
        'Check that the server runs and can be reached; the service tries again by itself.',
    });
  });

  test('because the name is unknown', async () => {
    expect((await refusal(sourceOf(urlAt('svc-test.invalid')))).message).toMatch(
      /the name (?:is unknown|could not be looked up)/,
    );
  });

  test('because there is no such socket', async () => {
    const folder = encodeURIComponent(temporaryFolder());
    expect((await refusal(sourceOf(urlAt(folder)))).message).toContain('there is no such socket');
  });

  test('because nothing answers', async () => {
    const port = await listening(createServer());
    expect(await refusal(sourceOf(urlAt(`127.0.0.1:${port}`)))).toMatchObject({
      code: 'SVC_JOURNAL_UNAVAILABLE',
      message: expect.stringContaining('there was no answer within 1 s'),
    });
  });

  test('because nothing answers once a connection for TLS is accepted', async () => {
    const port = await listening(createServer((socket) => socket.on('error', () => {}).write('S')));
    const url = `${urlAt(`127.0.0.1:${port}`)}&sslmode=verify-full`;
    expect((await refusal(sourceOf(url))).message).toContain('there was no answer within 1 s');
  });

  test('because nothing answers once the password is right', async () => {
    const ready = Buffer.from('R\0\0\0\x08\0\0\0\0Z\0\0\0\x05I', 'latin1');
    const port = await listening(
      createServer((socket) => socket.on('error', () => {}).write(ready)),
    );
    expect((await refusal(sourceOf(urlAt(`127.0.0.1:${port}`)))).message).toContain(
      'there was no answer within 1 s',
    );
  });

  test('because it sends more after it has accepted TLS, which was not encrypted', async () => {
    const port = await listening(
      createServer((socket) => socket.on('error', () => {}).write('SE\0\0\0\x05\0')),
    );
    const url = `${urlAt(`127.0.0.1:${port}`)}&sslmode=verify-full`;
    expect((await refusal(sourceOf(url))).message).toContain(
      'what answers there is not PostgreSQL',
    );
  });

  test('because the connection is closed at once', async () => {
    const port = await listening(createServer((socket) => socket.destroy()));
    expect(await refusal(sourceOf(urlAt(`127.0.0.1:${port}`)))).toMatchObject({
      code: 'SVC_JOURNAL_UNAVAILABLE',
    });
  });

  test('because it is an HTTP server', async () => {
    const port = await listening(createHttpServer());
    expect(await refusal(sourceOf(urlAt(`127.0.0.1:${port}`)))).toMatchObject({
      code: 'SVC_DATABASE_UNUSABLE',
      message: expect.stringContaining('what answers there is not PostgreSQL'),
    });
  });

  test.each([
    ['a length without end', Buffer.from('R\xff\xff\xff\xff', 'latin1')],
    ['an unknown message', Buffer.from('R\0\0\0\x08\0\0\0\0!\0\0\0\x04', 'latin1')],
    ['an unknown authentication', Buffer.from('R\0\0\0\x08\0\0\0\x7f', 'latin1')],
    ['rows before anything was asked', Buffer.from('R\0\0\0\x08\0\0\0\0D\0\0\0\x06\0\0', 'latin1')],
    [
      'a request for a password and its end',
      Buffer.from('R\0\0\0\x08\0\0\0\x03Z\0\0\0\x05I', 'latin1'),
    ],
    ['an offer of unknown mechanisms', Buffer.from('R\0\0\0\x0b\0\0\0\x0aX\0\0', 'latin1')],
    ['a broken error', Buffer.from('E\0\0\0\x06SX', 'latin1')],
  ])('because it sends %s', async (_, bytes) => {
    const port = await listening(
      createServer((socket) => socket.on('error', () => {}).write(bytes)),
    );
    const error = await refusal(sourceOf(urlAt(`127.0.0.1:${port}`)));
    expect(['SVC_JOURNAL_UNAVAILABLE', 'SVC_DATABASE_UNUSABLE']).toContain(error.code);
  });
});

describe('a database that is not fit for a journal', () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await PostgresServer.shared('18');
  });

  test.each([
    ['synchronous_commit', 'off'],
    ['synchronous_commit', 'local'],
    ['synchronous_commit', 'remote_write'],
  ])('because %s is %s', async (setting, value) => {
    const { name, source } = await server.freshDatabase();
    await server.sql(`ALTER DATABASE ${name} SET ${setting} = ${value}`);
    expect(await refusal(source)).toMatchObject({
      code: 'SVC_DATABASE_UNUSABLE',
      message: expect.stringContaining(
        `${setting} is ${value}, so that a commit may be lost after it was confirmed`,
      ),
    });
  });

  test('because its encoding is another one', async () => {
    await server.sql(
      `CREATE DATABASE latin OWNER svc_test ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0`,
    );
    expect((await refusal(sourceOf(server.url('latin')))).message).toContain(
      'its encoding is LATIN1. Create a database with ENCODING UTF8',
    );
    await server.sql('DROP DATABASE latin');
  });

  test('because its transactions may only read, until they may write', async () => {
    const { name, source } = await server.freshDatabase();
    await server.sql(`ALTER DATABASE ${name} SET default_transaction_read_only = on`);
    expect(await refusal(source)).toMatchObject({ code: 'SVC_JOURNAL_UNAVAILABLE' });
    await server.sql(`ALTER DATABASE ${name} SET default_transaction_read_only = off`);
    await connect(source);
  });

  test('remote_apply is fit, and stays what it is when the configuration is weakened', async () => {
    const { name, source } = await server.freshDatabase();
    await server.sql(`ALTER DATABASE ${name} SET synchronous_commit = remote_apply`);
    const session = await connect(source);
    expect(await session.query({ text: 'SHOW synchronous_commit' })).toEqual([['remote_apply']]);
  });

  test('settings of the database do not change what a session does', async () => {
    const { name, source } = await server.freshDatabase();
    for (const setting of [
      `default_transaction_isolation = serializable`,
      `search_path = pg_temp`,
      `statement_timeout = 60000`,
      `lock_timeout = 60000`,
      `client_encoding = LATIN1`,
      `DateStyle = German`,
    ])
      await server.sql(`ALTER DATABASE ${name} SET ${setting}`);
    const session = await connect(source);
    const settings = await session.query({
      text: `SELECT current_setting('transaction_isolation'), current_setting('search_path'), current_setting('statement_timeout'),
        current_setting('lock_timeout'), current_setting('application_name'), 'é€', DATE '2026-01-02'`,
    });
    expect(settings).toEqual([
      ['read committed', 'pg_catalog, pg_temp', '0', '0', 'svc', 'é€', '2026-01-02'],
    ]);
  });

  test('without a synchronous standby, a warning says what a 200 is worth', async () => {
    const { source } = await server.freshDatabase();
    const warnings: string[] = [];
    await connect(source, { warn: (message) => warnings.push(message) });
    expect(warnings).toEqual([expect.stringContaining('has no synchronous standby')]);
  });
});
