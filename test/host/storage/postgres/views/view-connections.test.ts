// The connections of a store of views in PostgreSQL: lost ones are made again, and changes of a table hold nobody up.
import {
  afterAll,
  beforeAll,
  beforeEach,
  describe,
  expect,
  onTestFinished,
  test,
  vi,
} from 'vitest';
import type { DatabaseSession } from '../../../../../host/storage/postgres/database-session.ts';
import { connectDatabase } from '../../../../../host/storage/postgres/connect-database.ts';
import { PostgresViews } from '../../../../../host/storage/postgres/views/postgres-views.ts';
import { ViewDatabase } from '../../../../../host/storage/postgres/views/view-database.ts';
import { VIEW_LIMITS_DEFAULT } from '../../../../../model/view-limits.ts';
import type { FreshDatabase } from '../../../../support/postgres/fresh-database.ts';
import { serverVersions } from '../../../../support/postgres/postgres-programs.ts';
import { PostgresServer } from '../../../../support/postgres/postgres-server.ts';
import {
  OTHER,
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

test('a connection is replaced before it has prepared too many statements', async () => {
  const open: Set<string | undefined>[] = [];
  let closed = 0;
  const connect = (): Promise<DatabaseSession> => {
    const names = new Set<string | undefined>();
    open.push(names);
    const { promise: ended, resolve } = Promise.withResolvers<void>();
    return Promise.resolve({
      shown: '',
      ended,
      query: ({ name, text }) => {
        names.add(name);
        return Promise.resolve([[text]]);
      },
      close() {
        closed++;
        resolve();
        return ended;
      },
      abort: resolve,
    });
  };
  const database = new ViewDatabase(connect, '');
  for (let round = 0; round < 2; round++)
    for (let n = 0; n < 2_500; n += 5) {
      const texts = Array.from({ length: 5 }, (_, at) => `SELECT ${n + at}`);
      const answers = await Promise.all(texts.map((text) => database.read(text, [])));
      expect(answers).toEqual(texts.map((text) => [[text]]));
    }
  expect(open.length).toBeGreaterThanOrEqual(5);
  expect(closed).toBe(open.length - 1);
  // Statements that are sent together may exceed the number together.
  expect(Math.max(...open.map(({ size }) => size))).toBeLessThanOrEqual(1_006);
});

describe.each(serverVersions())('PostgreSQL %s', (version) => {
  let database: FreshDatabase;
  let store: PostgresViews;
  let sessions: DatabaseSession[];
  beforeAll(async () => {
    database = await emptyDatabase(await PostgresServer.shared(version));
  });
  afterAll(() => database.end());
  beforeEach(async () => {
    await database.sql('DELETE FROM svc.view_definition');
    sessions = [];
    store = viewsIn(database, {}, (session) => sessions.push(session));
    onTestFinished(() => store.close());
  });

  const view = viewOf(indexOn(['n', 'integer']));
  const table = async () => {
    const text = "SELECT 'svc.view_rows_' || number AS name FROM svc.view_definition";
    return String((await database.sql(text))[0]!['name']);
  };

  test('that were ended are made again', async () => {
    const writer = await store.openWriter(view);
    await writer.put([row('a', { n: 1 })], folded(1));
    await finish(writer);
    const reader = store.reader(view);
    expect(await reader.get('a')).toBeDefined();
    for (const session of sessions) session.abort();
    expect(await reader.get('a')).toBeDefined();
    await Promise.all(sessions.slice(0, 2).map((session) => session.ended));
    await writer.put([row('b', { n: 2 })], folded(2));
    expect(await keysOf(reader, planned({}))).toEqual(['a', 'b']);
  });

  test('are made again after a minute, because the server may not be the primary any more', async () => {
    const writer = await store.openWriter(view);
    await writer.put([row('a', { n: 1 })], folded(1));
    await finish(writer);
    const reader = store.reader(view);
    expect(await reader.get('a')).toBeDefined();
    const before = sessions.length;
    const reading = sessions.at(-1);
    expect(await reader.get('a')).toBeDefined();
    expect(sessions).toHaveLength(before);
    const nowMs = performance.now() + 60_000;
    vi.spyOn(performance, 'now').mockReturnValue(nowMs);
    onTestFinished(() => void vi.restoreAllMocks());
    expect(await reader.get('a')).toBeDefined();
    await reading.ended;
    expect(sessions).toHaveLength(before + 1);
    await writer.put([row('b', { n: 2 })], folded(2));
    expect(sessions).toHaveLength(before + 2);
  });

  test('that cannot be made fail each call with the reason, and none is left open', async () => {
    let isDown = true;
    let count = 0;
    const flaky = new PostgresViews({
      connect: () => {
        count++;
        if (!isDown) return connectDatabase(database.source);
        return connectDatabase({ kind: 'environment', variable: 'NO_SUCH_DATABASE' });
      },
      shown: 'postgresql://test',
      limits: VIEW_LIMITS_DEFAULT,
      owner: 'test',
    });
    onTestFinished(() => flaky.close());
    const reader = flaky.reader(view);
    const failed = { code: 'SVC_DATABASE_URL_INVALID' };
    expect(await failureOf(() => reader.get('a'))).toMatchObject(failed);
    expect(await reader.status()).toMatchObject({
      state: 'missing',
      reason: expect.stringContaining('NO_SUCH_DATABASE') as string,
    });
    expect(await failureOf(() => flaky.openWriter(view))).toMatchObject(failed);
    expect(await failureOf(() => flaky.list())).toMatchObject(failed);
    expect(count).toBe(4);
    isDown = false;
    const writer = await flaky.openWriter(view);
    await finish(writer);
    expect(await reader.get('a')).toBeUndefined();
  });

  test.each([
    ['columns are added', viewOf(indexOn(['n', 'integer']), indexOn(['text', 'text']))],
    ['an index is dropped', viewOf()],
  ])('are not held up while %s and a statement reads the table for long', async (_, changed) => {
    const writer = await store.openWriter(view);
    await writer.put([row('a', { n: 1, text: 'x' })], folded(1));
    await finish(writer);
    writer.close();
    const reader = store.reader(view);
    expect(await reader.get('a')).toBeDefined();
    await database.sql('BEGIN');
    await database.sql(`SELECT count(*) FROM ${await table()}`);
    const second = await store.openWriter(changed);
    const [isReady, found] = await Promise.all([second.prepareIndexes(10), reader.get('a')]);
    expect([isReady, found]).toEqual([false, { key: 'a', json: '{"n":1,"text":"x"}' }]);
    await second.put([row('b', { n: 2, text: 'y' })], folded(2));
    await database.sql('COMMIT');
    while (!(await second.prepareIndexes(10)));
    const keys = await keysOf(store.reader(changed), planned({ index: 'key' }));
    expect(keys).toEqual(['a', 'b']);
  });

  test('write other views while an index waits to be made, and renew leases', async () => {
    const writer = await store.openWriter(view);
    await writer.put([row('a', { n: 1 })], folded(1));
    await database.sql('BEGIN');
    await database.sql(`LOCK TABLE ${await table()} IN ROW EXCLUSIVE MODE`);
    const made = writer.prepareIndexes(10);
    const other = await store.openWriter({ ...viewOf(), definition: OTHER });
    await other.put([row('x', {})], folded(1));
    expect(await made).toBe(false);
    await database.sql('COMMIT');
    await finish(writer);
    expect(await keysOf(store.reader(view), planned({}))).toEqual(['a']);
  });

  test('end with the store, once the leases of closed writers are given back', async () => {
    const writer = await store.openWriter(view);
    await writer.put([row('a', { n: 1 })], folded(1));
    writer.close();
    await store.close();
    expect(await database.sql('SELECT owner FROM svc.view_definition')).toEqual([{ owner: null }]);
    await Promise.all(sessions.map((session) => session.ended));
  });

  test('that was ended while an index is made leaves none', async () => {
    const writer = await store.openWriter(view);
    await writer.put([row('a', { n: 1 })], folded(1));
    await database.sql('BEGIN');
    await database.sql(`LOCK TABLE ${await table()} IN ROW EXCLUSIVE MODE`);
    const count = sessions.length;
    const made = failureOf(() => writer.prepareIndexes(10));
    while (sessions.length === count) await store.list();
    writer.close();
    expect(await made).toMatchObject({ code: 'SVC_JOURNAL_UNAVAILABLE' });
    await database.sql('COMMIT');
    const next = await store.openWriter(view);
    expect([next.discarded, next.rowCount]).toEqual([undefined, 1]);
    await finish(next);
    expect(await keysOf(store.reader(view), planned({}))).toEqual(['a']);
  });
});
