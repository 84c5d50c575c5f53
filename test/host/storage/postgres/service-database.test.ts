// Databases that are made for services: each role reaches its own alone, and making one again keeps its data.
import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { Client } from 'pg';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { connectDatabase } from '../../../../host/storage/postgres/connect-database.ts';
import type { DatabaseSource } from '../../../../host/storage/postgres/database-source.ts';
import { makeServiceDatabase as makeFor } from '../../../../host/storage/postgres/service-database.ts';
import { freePorts } from '../../../support/free-ports.ts';
import { urlFile } from '../../../support/postgres/fresh-database.ts';
import { PostgresServer } from '../../../support/postgres/postgres-server.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

let server: PostgresServer;
beforeAll(async () => {
  server = await PostgresServer.shared('18');
  await server.sql(`CREATE ROLE maker LOGIN CREATEDB CREATEROLE PASSWORD 'making'`);
});

const sourceOf = (url: string): DatabaseSource => urlFile(temporaryFolder(), 'url', url);
const maker = (): DatabaseSource => sourceOf(server.url('postgres', 'maker', 'making'));

const makeServiceDatabase = (source: DatabaseSource, name: string) => makeFor(source, name, 'one');

async function connected(url: string): Promise<Client> {
  const client = new Client({ connectionString: url });
  client.on('error', () => undefined);
  onTestFinished(() => client.end());
  await client.connect();
  return client;
}

test('a role without the rights of a superuser makes a database that svc can use', async () => {
  const url = await makeServiceDatabase(maker(), 'shop_cart_1');
  const session = await connectDatabase(sourceOf(url));
  await session.query({ text: 'CREATE SCHEMA svc' });
  expect(await session.query({ text: 'SELECT current_user::text' })).toEqual([['shop_cart_1']]);
  await session.close();
});

test('the role of a service reaches no other database, makes none, and makes no role', async () => {
  const one = await makeServiceDatabase(maker(), 'shop_cart_2');
  const other = await makeServiceDatabase(maker(), 'bank_vault_2');
  const stolen = new URL(one);
  stolen.pathname = new URL(other).pathname;
  await expect(connected(stolen.href)).rejects.toThrow(/permission denied for database/);
  const client = await connected(one);
  for (const statement of ['CREATE DATABASE mine', 'CREATE ROLE mine', 'SET ROLE bank_vault_2'])
    await expect(client.query(statement)).rejects.toMatchObject({ code: '42501' });
});

/** Returns the port of a proxy of the server, which resets a connection instead of sending a statement that contains the text. */
async function proxyWithout(text: string): Promise<number> {
  const proxy = createServer((client) => {
    const upstream = connect({ host: '127.0.0.1', port: server.port });
    for (const end of [client, upstream]) end.on('error', () => undefined);
    upstream.pipe(client);
    client.on('data', (sent) => {
      if (!sent.includes(text)) return void upstream.write(sent);
      client.resetAndDestroy();
      upstream.destroy();
    });
    client.on('close', () => upstream.destroy());
  });
  onTestFinished(() => void proxy.close());
  await once(proxy.listen(0, '127.0.0.1'), 'listening');
  return (proxy.address() as AddressInfo).port;
}

test('nobody connects to a database that is not finished, and the next attempt finishes it', async () => {
  const other = await makeServiceDatabase(maker(), 'bank_vault_6');
  const cut = new URL(server.url('postgres', 'maker', 'making'));
  cut.port = String(await proxyWithout('REVOKE'));
  await expect(makeServiceDatabase(sourceOf(cut.href), 'shop_cart_6')).rejects.toMatchObject({
    code: 'SVC_JOURNAL_UNAVAILABLE',
  });
  const early = new URL(other);
  early.pathname = '/shop_cart_6';
  await expect(connected(early.href)).rejects.toThrow(/not currently accepting connections/);
  const url = await makeServiceDatabase(maker(), 'shop_cart_6');
  await expect(connected(early.href)).rejects.toThrow(/permission denied for database/);
  await (await connected(url)).query('CREATE TABLE kept ()');
});

test('making a database again keeps what is in it, and the former password is of no use', async () => {
  const first = await makeServiceDatabase(maker(), 'shop_cart_3');
  await (await connected(first)).query('CREATE TABLE kept ()');
  const again = await makeServiceDatabase(maker(), 'shop_cart_3');
  expect(again).not.toBe(first);
  await expect(connected(first)).rejects.toMatchObject({ code: '28P01' });
  expect((await (await connected(again)).query('SELECT FROM kept')).rowCount).toBe(0);
});

test('another installation gets no database of a service of the same name, until the operator gives it the role', async () => {
  const url = await makeFor(maker(), 'shop_cart_7', 'staging');
  const refusal = { code: 'SVC_DATABASE_UNUSABLE', message: expect.stringMatching(/another inst/) };
  await expect(makeFor(maker(), 'shop_cart_7', 'production')).rejects.toMatchObject(refusal);
  // The password of the first one is as it was.
  await (await connected(url)).query('CREATE TABLE kept ()');
  await server.sql(`CREATE ROLE shop_cart_8 LOGIN`);
  await server.sql(`CREATE DATABASE shop_cart_9`);
  for (const name of ['shop_cart_8', 'shop_cart_9'])
    await expect(makeFor(maker(), name, 'production')).rejects.toMatchObject(refusal);
  await server.sql(`COMMENT ON ROLE shop_cart_7 IS 'svc installation production'`);
  const taken = await makeFor(maker(), 'shop_cart_7', 'production');
  expect((await (await connected(taken)).query('SELECT FROM kept')).rowCount).toBe(0);
});

test('a server that is away, and one whose role may make nothing, are refused with a code and without a secret', async () => {
  const [port] = await freePorts(1);
  const away = `postgresql://maker:Zq9Secret@127.0.0.1:${port}/postgres`;
  await expect(makeServiceDatabase(sourceOf(away), 'shop_cart_4')).rejects.toMatchObject({
    code: 'SVC_JOURNAL_UNAVAILABLE',
    message: expect.not.stringContaining('Zq9'),
  });
  await server.sql(`CREATE ROLE idle LOGIN PASSWORD 'Zq9Secret'`);
  const idle = sourceOf(server.url('postgres', 'idle', 'Zq9Secret'));
  await expect(makeServiceDatabase(idle, 'shop_cart_4')).rejects.toMatchObject({
    code: 'SVC_DATABASE_UNUSABLE',
    message: expect.not.stringContaining('Zq9'),
  });
});

test('a name that would have to be quoted, or that the server would cut off, is a mistake of the caller', async () => {
  for (const name of ['', 'a"b', 'Cart', '1cart', 'a'.repeat(64)])
    await expect(makeServiceDatabase(maker(), name)).rejects.toThrow(TypeError);
  for (const installation of ['', "a'b", 'a'.repeat(65)])
    await expect(makeFor(maker(), 'shop_cart_5', installation)).rejects.toThrow(TypeError);
});
