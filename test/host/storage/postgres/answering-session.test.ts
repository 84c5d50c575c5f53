import { expect, onTestFinished, test } from 'vitest';
import { AnsweringSession } from '../../../../host/storage/postgres/answering-session.ts';
import { connectDatabase } from '../../../../host/storage/postgres/connect-database.ts';
import { urlFile } from '../../../support/postgres/fresh-database.ts';
import { PostgresServer } from '../../../support/postgres/postgres-server.ts';
import { TcpFaultProxy } from '../../../support/tcp-fault-proxy.ts';

async function opened(answerMs: number) {
  const server = await PostgresServer.shared('18');
  const database = await server.freshDatabase();
  const proxy = await TcpFaultProxy.to(server.port);
  const url = new URL(database.url);
  url.port = String(proxy.port);
  const source = urlFile(server.folder, database.name, url.href);
  const session = new AnsweringSession(await connectDatabase(source), answerMs);
  onTestFinished(async () => {
    session.abort();
    await proxy.close();
    await database.end();
  });
  return { session, proxy };
}

test('a server that does not answer in time is left, with an outcome that is not known', async () => {
  const { session, proxy } = await opened(50);
  proxy.holdAnswers();
  await expect(session.query({ text: 'SELECT 1' })).rejects.toMatchObject({ outcome: 'unknown' });
  await session.ended;
});

test('statements that wait behind others have time as long as the server answers', async () => {
  const { session } = await opened(1_000);
  const slow = { text: 'SELECT 1 FROM pg_sleep(0.3)' };
  expect(await Promise.all(Array.from({ length: 5 }, () => session.query(slow)))).toHaveLength(5);
  await session.close();
});
