// Rows of views in PostgreSQL that were changed by hand or damaged: a query never gives them, and a writer makes them new.
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import type { ViewRow } from '../../../../../host/engine/needs/views.ts';
import { connectDatabase } from '../../../../../host/storage/postgres/connect-database.ts';
import type { PostgresViews } from '../../../../../host/storage/postgres/views/postgres-views.ts';
import { scanViewRows } from '../../../../../host/storage/postgres/views/view-scan.ts';
import type { TakeRows } from '../../../../../host/storage/view-walk/scanned-view.ts';
import type { FreshDatabase } from '../../../../support/postgres/fresh-database.ts';
import { serverVersions } from '../../../../support/postgres/postgres-programs.ts';
import { PostgresServer } from '../../../../support/postgres/postgres-server.ts';
import {
  ALL_KEYS,
  failureOf,
  finish,
  folded,
  indexOn,
  keysOf,
  planned,
  row,
  viewOf,
} from '../../../../suites/view-store/views-under-test.ts';
import { emptyDatabase, viewsIn } from './support/views-database.ts';

const skipped = { entity: { component: 'a', id: 'b' }, seq: 3, reason: 'bad', timeMs: 5 };
const REBUILT = expect.stringContaining('Build the view again') as string;

describe.each(serverVersions())('PostgreSQL %s', (version) => {
  let database: FreshDatabase;
  let store: PostgresViews;
  beforeAll(async () => {
    database = await emptyDatabase(await PostgresServer.shared(version));
  });
  afterAll(() => database.end());
  beforeEach(async () => {
    await database.sql('DELETE FROM svc.view_definition');
    store = viewsIn(database);
    onTestFinished(() => store.close());
  });

  const view = viewOf(indexOn(['n', 'integer']));

  /** Makes a live view, and returns the name of its table. */
  async function live(): Promise<string> {
    const writer = await store.openWriter(view);
    await writer.put([row('a', { n: 2 }), row('b', { n: 1 })], folded(1));
    await finish(writer);
    await writer.skip(skipped);
    writer.close();
    return table();
  }

  async function table(): Promise<string> {
    const text = "SELECT 'svc.view_rows_' || number AS name FROM svc.view_definition";
    return String((await database.sql(text))[0]!['name']);
  }

  test.each([
    ['its JSON text', 'json = \'{"n":3}\''],
    ['its checksum', 'crc = crc + 1'],
    ['its key', "key = 'c'"],
  ])('a row that was changed in %s is found by queries and by the writer', async (_, set) => {
    await database.sql(`UPDATE ${await live()} SET ${set} WHERE key = 'a'`);
    const reader = store.reader(view);
    const damage = { code: 'SVC_VIEW_CORRUPT', message: REBUILT };
    const key = set.startsWith('key') ? 'c' : 'a';
    expect(await failureOf(() => reader.get(key))).toMatchObject(damage);
    expect(await failureOf(() => reader.find(ALL_KEYS, 10))).toMatchObject(damage);
    expect(await failureOf(() => reader.find(planned({}), 10))).toMatchObject(damage);
    expect(await reader.get('b')).toEqual({ key: 'b', json: '{"n":1}' });
    const writer = await store.openWriter(view);
    expect(await failureOf(() => writer.rows(['b', key]))).toMatchObject(damage);
    await writer.clear();
    await writer.put([row('a', { n: 2 })], folded(1));
    await finish(writer);
    expect(await keysOf(reader, planned({}))).toEqual(['a']);
    expect(writer.skips).toEqual([skipped]);
  });

  test.each<readonly [what: string, change: (table: string) => string, reason: string]>([
    ['a table that was dropped', (rows) => `DROP TABLE ${rows}`, 'their table is missing'],
    ['an index that was dropped', (rows) => `DROP INDEX ${rows}_c1`, 'not those of the layout'],
    ['a column that was dropped', (rows) => `ALTER TABLE ${rows} DROP c0`, 'not those of the'],
    [
      'a column with another collation',
      (rows) => `ALTER TABLE ${rows} ALTER c0 TYPE text COLLATE "POSIX"`,
      'not those of the layout',
    ],
    ['an added column', (rows) => `ALTER TABLE ${rows} ADD more text`, 'not those of the layout'],
    [
      'a damaged layout',
      () => `UPDATE svc.view_definition SET layout = replace(layout, '"n"', '"m"')`,
      'their layout is damaged',
    ],
    [
      'a damaged position',
      () => `UPDATE svc.view_definition SET folded_to = replace(folded_to, '"1"', '"2"')`,
      'the position of their events is damaged',
    ],
    ['another format', () => 'UPDATE svc.view_definition SET format = 2', 'another version of svc'],
  ])('%s is noticed when a writer is opened, which makes the rows new', async (_, change, why) => {
    const before = await live();
    await database.sql(change(before));
    const writer = await store.openWriter(view);
    expect(writer.discarded).toContain(why);
    expect([writer.foldedTo, writer.rowCount, writer.isLive]).toEqual([undefined, 0, false]);
    expect(writer.skips).toEqual([skipped]);
    await writer.put([row('a', { n: 2 })], folded(1));
    await finish(writer);
    const reader = store.reader(view);
    expect(await reader.status()).toEqual({ state: 'live', foldedTo: folded(1) });
    expect(await keysOf(reader, planned({}))).toEqual(['a']);
    // The table that is no longer used goes with the unused ones.
    await store.removeUnused(new Set([view.definition]), Date.now());
    const tables =
      "SELECT relname FROM pg_class WHERE relname LIKE 'view\\_rows\\_%' AND relkind = 'r'";
    expect(await database.sql(tables)).toEqual([{ relname: (await table()).slice('svc.'.length) }]);
  });

  test('a table that is dropped under a reader and a writer is damage for both', async () => {
    await live();
    const reader = store.reader(view);
    expect(await reader.get('a')).toBeDefined();
    const writer = await store.openWriter(view);
    await database.sql(`DROP TABLE ${await table()}`);
    const damage = { code: 'SVC_VIEW_CORRUPT', message: REBUILT };
    expect(await failureOf(() => reader.get('a'))).toMatchObject(damage);
    expect(await failureOf(() => reader.count(planned({})))).toMatchObject(damage);
    expect(await reader.status()).toMatchObject({ state: 'missing' });
    expect(await failureOf(() => writer.rows(['a']))).toMatchObject(damage);
    expect(await failureOf(() => writer.put([row('c', { n: 1 })], folded(2)))).toMatchObject(
      damage,
    );
    await writer.clear();
    await writer.put([row('c', { n: 1 })], folded(2));
    await finish(writer);
    expect(await keysOf(reader, planned({}))).toEqual(['c']);
    expect(await store.former({ ...view, definition: 'e1'.repeat(16) })).toHaveLength(1);
  });

  test('a scan for a tool gives all rows of one moment, and finds damage', async () => {
    const connect = () => connectDatabase(database.source);
    const scanned: ViewRow[] = [];
    const take: TakeRows = (rows, isFirst) => {
      if (isFirst) scanned.length = 0;
      scanned.push(...rows);
    };
    expect(await scanViewRows(connect, 'here', view, take)).toBeUndefined();
    const writer = await store.openWriter(view);
    expect(await scanViewRows(connect, 'here', view, take)).toEqual({
      foldedTo: undefined,
      skips: [],
    });
    const text = 'x'.repeat(1_000);
    const rows = Array.from({ length: 6_000 }, (_, n) => row(`k${10_000 + n}\0`, { n, text }));
    await writer.put(rows, folded(1));
    await writer.skip(skipped);
    const written: Promise<void>[] = [];
    const result = await scanViewRows(connect, 'here', view, (part, isFirst) => {
      take(part, isFirst);
      // A change that is stored meanwhile is not part of it.
      const changes = [row('k20000', {}), { key: 'k15999\0', json: undefined }];
      if (isFirst) written.push(Promise.resolve(writer.put(changes, folded(2))));
    });
    await Promise.all(written);
    expect(result).toEqual({ foldedTo: folded(1), skips: [skipped] });
    expect(scanned).toEqual(rows);
    await database.sql(`UPDATE ${await table()} SET crc = 0 WHERE key = 'k20000'`);
    expect(await failureOf(() => scanViewRows(connect, 'here', view, take))).toMatchObject({
      code: 'SVC_VIEW_CORRUPT',
    });
  });

  test('skipped events whose list is damaged are gone, with the rows', async () => {
    await live();
    await database.sql(`UPDATE svc.view_definition SET skips = replace(skips, 'bad', 'good')`);
    expect(await store.reader(view).skips()).toEqual([]);
    const writer = await store.openWriter(view);
    expect(writer.discarded).toContain('list of skipped events is damaged');
    expect([writer.skips, writer.rowCount]).toEqual([[], 0]);
  });
});
