// Connections to a database that are cut: those that are open end, and those that are being made.
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { connectDatabase } from '../../../../host/storage/postgres/connect-database.ts';
import { CutConnections } from '../../../../host/storage/postgres/cut-connections.ts';
import type { DatabaseSource } from '../../../../host/storage/postgres/database-source.ts';
import { urlFile } from '../../../support/postgres/fresh-database.ts';
import { PostgresServer } from '../../../support/postgres/postgres-server.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

const lost = expect.objectContaining({ code: 'SVC_JOURNAL_UNAVAILABLE' }) as Error;
let server: PostgresServer;

beforeAll(async () => {
  server = await PostgresServer.shared('18');
});

function connectionsTo(source: DatabaseSource): CutConnections {
  return new CutConnections((options) => connectDatabase(source, options));
}

test('an open connection ends, its statement fails, and no other one is made', async () => {
  const database = await server.freshDatabase();
  onTestFinished(() => database.end());
  const connections = connectionsTo(database.source);
  const session = await connections.connect();
  const asked = session.query({ text: 'SELECT pg_sleep(60)' }).catch((error: unknown) => error);
  connections.cut();
  expect(await asked).toMatchObject({ outcome: 'unknown' });
  await session.ended;
  await expect(connections.connect()).rejects.toEqual(lost);
});

test('an attempt to connect to a server that does not answer ends', async () => {
  const silent = createServer().listen(0, '127.0.0.1');
  onTestFinished(() => void silent.close());
  await once(silent, 'listening');
  const { port } = silent.address() as AddressInfo;
  const url = `postgresql://svc@127.0.0.1:${port}/svc?connect_timeout=600`;
  const connections = connectionsTo(urlFile(temporaryFolder(), 'silent', url));
  const connecting = connections.connect().catch((error: unknown) => error);
  await once(silent, 'connection');
  connections.cut();
  expect(await connecting).toEqual(lost);
});
