// Values in a database: the first one under a name stays, and one that is removed is gone, also over lost connections.
import { writeFileSync } from 'node:fs';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { ErasableValues } from '../../../../host/storage/postgres/erasable-values.ts';
import { type FreshDatabase, urlFile } from '../../../support/postgres/fresh-database.ts';
import { PostgresServer } from '../../../support/postgres/postgres-server.ts';

let server: PostgresServer;
beforeAll(async () => {
  server = await PostgresServer.shared('18');
});

async function newDatabase(): Promise<FreshDatabase> {
  const database = await server.freshDatabase();
  onTestFinished(() => database.end());
  return database;
}

async function valuesIn({ source }: FreshDatabase): Promise<ErasableValues> {
  const values = await ErasableValues.open({ ...source, schema: 'secrets' });
  onTestFinished(() => values.close());
  return values;
}

test('a value is found by whoever opens the database later, until it is removed', async () => {
  const database = await newDatabase();
  const values = await valuesIn(database);
  expect(await values.find('a/1')).toBeUndefined();
  expect(await values.add('a/1', 'one')).toBe('one');
  const later = await valuesIn(database);
  expect(await later.find('a/1')).toBe('one');
  expect([await later.hasAny('a/'), await later.hasAny('b/')]).toEqual([true, false]);
  await later.remove('a/1');
  await later.remove('a/1');
  expect(await values.find('a/1')).toBeUndefined();
  expect(await values.hasAny('')).toBe(false);
  expect(await values.add('a/1', 'two')).toBe('two');
});

test('of values that are added under one name at the same time, all get the first', async () => {
  const database = await newDatabase();
  const opened = await Promise.all(Array.from({ length: 4 }, () => valuesIn(database)));
  const added = await Promise.all(opened.map((values, index) => values.add('key', String(index))));
  expect(new Set(added).size).toBe(1);
});

test('a lost connection is made again', async () => {
  const database = await newDatabase();
  const values = await valuesIn(database);
  await values.add('key', 'value');
  await database.sql(
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE datname = current_database() AND pid <> pg_backend_pid()`,
  );
  expect(await values.find('key')).toBe('value');
});

/** Values whose URL was changed from one database to another one, while a connection to the first is kept. */
async function turnedAway() {
  const [former, promoted] = [await newDatabase(), await newDatabase()];
  const source = urlFile(server.folder, former.name, former.url);
  const clock = { nowMs: 0, monotonicMs: () => clock.nowMs };
  const values = await ErasableValues.open({ ...source, schema: 'secrets' }, clock);
  onTestFinished(() => values.close());
  const [there, here] = [await valuesIn(former), await valuesIn(promoted)];
  await Promise.all([there, here].map((one) => one.add('key', 'value')));
  expect(await values.find('key')).toBe('value');
  writeFileSync((source as { path: string }).path, promoted.url);
  return { values, there, here, clock };
}

describe('a server from which the URL has turned away, and which still answers', () => {
  test('gets no value any more', async () => {
    const { values, there, here } = await turnedAway();
    expect(await values.add('other', 'value')).toBe('value');
    expect([await there.find('other'), await here.find('other')]).toEqual([undefined, 'value']);
  });

  test('keeps what is removed from the other one', async () => {
    const { values, there, here } = await turnedAway();
    await values.remove('key');
    expect([await there.find('key'), await here.find('key')]).toEqual(['value', undefined]);
  });

  test('is read for a minute at most', async () => {
    const { values, here, clock } = await turnedAway();
    await here.remove('key');
    clock.nowMs = 59_999;
    expect(await values.find('key')).toBe('value');
    clock.nowMs = 60_000;
    expect(await values.find('key')).toBeUndefined();
  });
});

test('a schema without a table is used, and a role without rights is refused by name', async () => {
  const database = await newDatabase();
  await database.sql('CREATE SCHEMA secrets');
  await expect(
    ErasableValues.open({ ...database.source, schema: 'secrets' }),
  ).rejects.toMatchObject({ code: 'SVC_DATABASE_UNUSABLE' });
  await database.sql('ALTER SCHEMA secrets OWNER TO svc_test');
  const values = await valuesIn(database);
  expect(await values.add('key', 'value')).toBe('value');
});
