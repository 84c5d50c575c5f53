// TLS to the server: its certificate and host name are verified, and a certificate of the client's own is presented.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { connectDatabase } from '../../../../host/storage/postgres/connect-database.ts';
import type { DatabaseSession } from '../../../../host/storage/postgres/database-session.ts';
import { CertificateAuthority } from '../../../support/certificates/certificate-authority.ts';
import { urlFile } from '../../../support/postgres/fresh-database.ts';
import { PostgresServer } from '../../../support/postgres/postgres-server.ts';
import { temporaryFolderOfFile } from '../../../support/temporary-folder.ts';

const folder = temporaryFolderOfFile();
const fileOf = (name: string, content: string): string => {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
};
let server: PostgresServer;
let root: string;
let otherRoot: string;
let client: string;

beforeAll(async () => {
  const [authority, other] = await Promise.all([
    CertificateAuthority.create('ca'),
    CertificateAuthority.create('other'),
  ]);
  const own = await authority.issue({ dnsNames: ['localhost'] });
  server = await PostgresServer.start('18', {
    configuration: { ssl: 'on', ssl_ca_file: 'ca.crt' },
    files: {
      'server.crt': own.certificate,
      'server.key': own.key,
      'ca.crt': authority.certificate,
    },
    hba: [
      'local all all scram-sha-256',
      'hostssl all leaf all cert',
      'hostnossl all postgres 127.0.0.1/32 scram-sha-256',
      'hostssl all all all scram-sha-256',
    ],
  });
  // The certificates of the authority name this user.
  await server.sql('CREATE ROLE leaf LOGIN');
  root = fileOf('root.pem', authority.certificate);
  otherRoot = fileOf('other.pem', other.certificate);
  const issued = await authority.issue({});
  client = `sslcert=${fileOf('client.pem', issued.certificate)}&sslkey=${fileOf('client.key', issued.key)}`;
});
afterAll(() => server.stop());

async function connect(host: string, parameters: string, user?: string): Promise<DatabaseSession> {
  const url = server.url('postgres', user).replace('127.0.0.1', host);
  const session = await connectDatabase(
    urlFile(
      folder,
      'tls',
      `${url}?sslmode=verify-full${parameters === '' ? '' : `&${parameters}`}`,
    ),
  );
  onTestFinished(() => session.abort());
  return session;
}

test('a server whose certificate is verified is connected to with TLS', async () => {
  const session = await connect('localhost', `sslrootcert=${root}`);
  const text = 'SELECT ssl, version FROM pg_stat_ssl WHERE pid = pg_backend_pid()';
  expect(await session.query({ text })).toEqual([[true, 'TLSv1.3']]);
  // Rows of several records of TLS come whole.
  const [[long]] = (await session.query({ text: `SELECT repeat('x', 1000000)` })) as [[string]];
  expect(long).toHaveLength(1_000_000);
  await session.close();
});

test('a setting names the authorities for a URL that names none', async () => {
  const url = `${server.url('postgres').replace('127.0.0.1', 'localhost')}?sslmode=verify-full`;
  const connected = (parameters: string, authoritiesFile: string) =>
    connectDatabase({ ...urlFile(folder, 'authorities', `${url}${parameters}`), authoritiesFile });
  await (await connected('', root)).close();
  await (await connected(`&sslrootcert=${root}`, otherRoot)).close();
  await expect(connected('', otherRoot)).rejects.toMatchObject({
    code: 'SVC_DATABASE_UNUSABLE',
    message: expect.stringContaining('is not trusted'),
  });
  const missing = join(folder, 'no-authorities.pem');
  await expect(connected('', missing)).rejects.toMatchObject({
    code: 'SVC_DATABASE_URL_INVALID',
    message: expect.stringContaining(
      `The file ${missing}, which the setting svc.database.authorities-file names`,
    ),
  });
  // A connection without TLS needs none.
  const plain = urlFile(folder, 'plain', (await PostgresServer.shared('18')).url('postgres'));
  await (await connectDatabase({ ...plain, authoritiesFile: missing })).close();
});

test.each([
  ['another authority', 'localhost', () => `sslrootcert=${otherRoot}`, 'is not trusted'],
  ['no authority', 'localhost', () => '', 'is not trusted'],
  ['another host name', '127.0.0.1', () => `sslrootcert=${root}`, 'is for another host name'],
])('a certificate for %s is refused', async (_, host, parameters, problem) => {
  await expect(connect(host, parameters())).rejects.toMatchObject({
    code: 'SVC_DATABASE_UNUSABLE',
    message: expect.stringContaining(`the certificate of the server ${problem}`),
  });
});

test('a server without TLS is refused', async () => {
  const plain = await PostgresServer.shared('18');
  const url = `${plain.url('postgres')}?sslmode=verify-full&sslrootcert=${root}`;
  await expect(connectDatabase(urlFile(folder, 'plain', url))).rejects.toMatchObject({
    code: 'SVC_DATABASE_UNUSABLE',
    message: expect.stringContaining('the server does not speak TLS'),
  });
});

test('a certificate of the client is presented', async () => {
  const session = await connect('localhost', `sslrootcert=${root}&${client}`, 'leaf');
  expect(await session.query({ text: 'SELECT session_user::text' })).toEqual([['leaf']]);
  await expect(connect('localhost', `sslrootcert=${root}`, 'leaf')).rejects.toMatchObject({
    code: 'SVC_DATABASE_UNUSABLE',
  });
});

test('files of the URL that are missing, or hold something else, are named', async () => {
  const missing = join(folder, 'missing.pem');
  await expect(connect('localhost', `sslrootcert=${missing}`)).rejects.toMatchObject({
    code: 'SVC_DATABASE_URL_INVALID',
    message: expect.stringContaining(`The file ${missing}, which sslrootcert`),
  });
  const garbage = fileOf('garbage.pem', 'this is no certificate');
  for (const parameters of [
    `sslrootcert=${garbage}`,
    `sslrootcert=${root}&sslcert=${garbage}&sslkey=${garbage}`,
    `sslrootcert=${folder}`,
  ])
    await expect(connect('localhost', parameters)).rejects.toMatchObject({
      code: 'SVC_DATABASE_URL_INVALID',
    });
});
