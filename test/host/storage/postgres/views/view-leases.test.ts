// The one writer of a view's rows in PostgreSQL: its lease, and its epoch, which each statement compares.
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import type { DatabaseSession } from '../../../../../host/storage/postgres/database-session.ts';
import type { SvcError } from '../../../../../kit/svc-error.ts';
import type { ViewWriter } from '../../../../../host/engine/needs/views.ts';
import type { PostgresViews } from '../../../../../host/storage/postgres/views/postgres-views.ts';
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
  row,
  viewOf,
} from '../../../../suites/view-store/views-under-test.ts';
import { emptyDatabase, viewsIn } from './support/views-database.ts';

describe.each(serverVersions())('PostgreSQL %s', (version) => {
  let database: FreshDatabase;
  beforeAll(async () => {
    database = await emptyDatabase(await PostgresServer.shared(version));
  });
  afterAll(() => database.end());
  beforeEach(async () => void (await database.sql('DELETE FROM svc.view_definition')));

  /** A store of another process. */
  function opened(opens: DatabaseSession[] = []): PostgresViews {
    const store = viewsIn(database, {}, (session) => opens.push(session));
    onTestFinished(() => store.close());
    return store;
  }

  const view = viewOf(indexOn(['n', 'integer']));
  const endLease = () => database.sql('UPDATE svc.view_definition SET lease_until = now()');
  const lease = async () => {
    const rows = await database.sql(
      'SELECT owner, extract(epoch FROM lease_until - clock_timestamp())::float8 AS seconds FROM svc.view_definition',
    );
    return rows[0] as { readonly owner: string | null; readonly seconds: number | null };
  };

  test('another process opens no writer while the lease holds, and does once it is given back', async () => {
    const [one, other] = [opened(), opened()];
    const writer = await one.openWriter(view);
    expect(await failureOf(() => other.openWriter(view))).toMatchObject({
      code: 'SVC_VIEW_IN_USE',
    });
    await writer.put([row('a', { n: 1 })], folded(1));
    writer.close();
    await one.close();
    expect(await lease()).toEqual({ owner: null, seconds: null });
    const next = await other.openWriter(view);
    expect([next.foldedTo, next.rowCount]).toEqual([folded(1), 1]);
  });

  test('a writer whose lease has ended goes on until another one takes over, and then stores nothing', async () => {
    const [one, other] = [opened(), opened()];
    const first = await one.openWriter(view);
    await first.put([row('a', { n: 1 })], folded(1));
    await endLease();
    await first.put([row('b', { n: 2 })], folded(2));
    // The put has renewed it.
    expect((await lease()).seconds).toBeGreaterThan(5);
    expect(await failureOf(() => other.openWriter(view))).toMatchObject({
      code: 'SVC_VIEW_IN_USE',
    });
    await endLease();
    const second = await other.openWriter(view);
    expect([second.foldedTo, second.rowCount]).toEqual([folded(2), 2]);
    for (const call of [
      () => first.put([row('c', { n: 3 })], folded(3)),
      () => first.prepareIndexes(10),
      () => first.clear(),
      () => first.skip({ entity: { component: 'a', id: 'b' }, seq: 1, reason: '', timeMs: 1 }),
      () => first.rows(['a']),
    ])
      expect(await failureOf(call)).toMatchObject({ code: 'SVC_VIEW_IN_USE' });
    // Its lease is no more its own to give back.
    first.close();
    await one.close();
    expect((await lease()).owner).toBe('test');
    await second.put([{ key: 'a', json: undefined }, row('d', { n: 4 })], folded(4));
    await finish(second);
    expect(await keysOf(other.reader(view), ALL_KEYS)).toEqual(['b', 'd']);
    expect([second.rowCount, second.skips]).toEqual([2, []]);
  });

  test('a writer that takes over has the rows at once, and the former one stores nothing', async () => {
    const [one, other] = [opened(), opened()];
    const first = await one.openWriter(view);
    await first.put([row('a', { n: 1 })], folded(1));
    const second = await other.openWriter(view, true);
    expect([second.foldedTo, second.rowCount]).toEqual([folded(1), 1]);
    expect(await failureOf(() => first.put([row('b', { n: 2 })], folded(2)))).toMatchObject({
      code: 'SVC_VIEW_IN_USE',
    });
    await second.put([row('c', { n: 3 })], folded(2));
    await finish(second);
    expect(await keysOf(other.reader(view), ALL_KEYS)).toEqual(['a', 'c']);
  });

  test.each(['prepareIndexes', 'goLive', 'clear', 'skip'] as const)(
    'the first statement of a writer that was replaced may be `%s`',
    async (method) => {
      const [one, other] = [opened(), opened()];
      const first = await one.openWriter(view);
      await first.put([row('a', { n: 1 })], folded(1));
      if (method === 'goLive') while (!(await first.prepareIndexes(10)));
      await endLease();
      await other.openWriter(view);
      const state = 'SELECT version, layout, is_live, skips, number FROM svc.view_definition';
      const before = await database.sql(state);
      const calls = {
        prepareIndexes: () => first.prepareIndexes(10),
        goLive: () => first.goLive(),
        clear: () => first.clear(),
        skip: () =>
          first.skip({ entity: { component: 'a', id: 'b' }, seq: 1, reason: '', timeMs: 1 }),
      };
      expect(await failureOf(calls[method])).toMatchObject({ code: 'SVC_VIEW_IN_USE' });
      expect(await database.sql(state)).toEqual(before);
    },
  );

  test('another process sees that an event was skipped and rows were made new, and not that events were folded', async () => {
    const [one, other] = [opened(), opened()];
    expect(await other.progress(view)).toEqual({ revision: '', foldedTo: undefined });
    const writer = await one.openWriter(view);
    const begun = writer.revision;
    await writer.put([row('a', { n: 1 })], folded(1));
    expect(await other.progress(view)).toEqual({ revision: begun, foldedTo: folded(1) });
    await writer.put([row('b', { n: 1 })], folded(2));
    expect(await other.progress(view)).toEqual({ revision: begun, foldedTo: folded(2) });
    const event = { entity: { component: 'a', id: 'b' }, seq: 1, reason: '', timeMs: 1 };
    const changes = [() => writer.skip(event), () => writer.skip(event), () => writer.clear()];
    const revisions = new Set([begun]);
    for (const change of changes) {
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      await change();
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      expect((await other.progress(view)).revision).toBe(writer.revision);
      revisions.add(writer.revision);
    }
    expect(revisions.size).toBe(changes.length + 1);
  });

  test('of writers that are opened at once, one is', async () => {
    const stores = Array.from({ length: 8 }, () => opened());
    const outcomes = await Promise.allSettled(stores.map((store) => store.openWriter(view)));
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    const reasons = outcomes.flatMap((outcome) =>
      outcome.status === 'rejected' ? [outcome.reason as unknown] : [],
    );
    expect(reasons).toHaveLength(7);
    for (const reason of reasons) expect(reason).toMatchObject({ code: 'SVC_VIEW_IN_USE' });
  });

  test('a put that another writer waits for is stored before it reads, and one that comes after is not', async () => {
    const [one, other] = [opened(), opened()];
    const first = await one.openWriter(view);
    await first.put([row('a', { n: 1 })], folded(1));
    await endLease();
    // Its lock holds the put up, and then the opening behind it.
    await database.sql('BEGIN; SELECT FROM svc.view_definition FOR UPDATE');
    const put = first.put([row('b', { n: 2 })], folded(2));
    await waiting(1);
    const refused = failureOf(() => other.openWriter(view));
    await waiting(2);
    await database.sql('COMMIT');
    await put;
    // The put has renewed the lease.
    expect(await refused).toMatchObject({ code: 'SVC_VIEW_IN_USE' });
    await endLease();
    await database.sql('BEGIN; SELECT FROM svc.view_definition FOR UPDATE');
    const taking = other.openWriter(view);
    await waiting(1);
    const late = failureOf(() => first.put([row('c', { n: 3 })], folded(3)));
    await waiting(2);
    await database.sql('COMMIT');
    const second = await taking;
    expect(await late).toMatchObject({ code: 'SVC_VIEW_IN_USE' });
    expect([second.foldedTo, second.rowCount]).toEqual([folded(2), 2]);
    expect(await second.rows(['a', 'b', 'c'])).toEqual(['{"n":1}', '{"n":2}', undefined]);
  });

  /** Resolves once so many statements wait for a lock. */
  async function waiting(count: number): Promise<void> {
    const text = 'SELECT count(DISTINCT pid)::integer AS count FROM pg_locks WHERE NOT granted';
    for (;;) {
      const [found] = await database.sql(text);
      if (found!['count'] === count) return;
    }
  }

  test('a writer that is killed in the middle of a put leaves all of it or nothing', async () => {
    const sessions: DatabaseSession[] = [];
    let stored = 0;
    let before: readonly (string | undefined)[] = [];
    for (let round = 0; round < 12; round++) {
      const killed = opened(sessions);
      const writer = await killed.openWriter(view);
      const position = Number(writer.foldedTo?.position ?? 0);
      const rows = Array.from({ length: 300 }, (_, n) => row(`k${n}`, { n: round, of: n }));
      const put = writer.put(rows, folded(position + 1));
      // From the time at which it is sent to that at which it is answered.
      const abort = new Promise<void>((resolve) => {
        setTimeout(resolve, round * 4);
      });
      await Promise.race([put, abort]).catch(() => {});
      for (const session of sessions.splice(0)) session.abort();
      const failure = await failureOf(() => put);
      const code = (failure as SvcError | undefined)?.code;
      expect([undefined, 'SVC_JOURNAL_UNAVAILABLE']).toContain(code);
      // After an unknown outcome it stores nothing more.
      const later = failure && (await failureOf(() => writer.put([], folded(99))));
      expect(later).toBe(failure);
      const next = await takenOver(opened());
      const json = await next.rows(rows.map(({ key }) => key));
      const isStored = next.foldedTo?.position === String(position + 1);
      expect(isStored || failure !== undefined).toBe(true);
      const stays = before.length === 0 ? rows.map(() => undefined) : before;
      expect(json).toEqual(isStored ? rows.map((change) => change.json) : stays);
      expect(next.rowCount).toBe(json.filter((text) => text !== undefined).length);
      expect(next.foldedTo?.position ?? '0').toBe(String(position + Number(isStored)));
      before = json;
      if (isStored) stored++;
      next.close();
      await endLease();
    }
    expect(stored).toBeGreaterThan(0);
  });

  /** Opens the writer in place of a dead one, whose last statement may still be under way, and renew the lease. */
  function takenOver(store: PostgresViews): Promise<ViewWriter> {
    return until(async () => {
      await endLease();
      return store.openWriter(view).catch((error: SvcError) => {
        if (error.code !== 'SVC_VIEW_IN_USE') throw error;
        return undefined;
      });
    });
  }

  test('the lease of an open writer is renewed', async () => {
    const store = opened();
    await store.openWriter(view);
    await endLease();
    const { seconds } = await until(async () => {
      const found = await lease();
      return (found.seconds ?? 0) > 5 ? found : undefined;
    });
    expect(seconds).toBeLessThanOrEqual(10);
  });

  test('a definition with a living writer is not removed as unused, and one with a dead writer is', async () => {
    const [one, other] = [opened(), opened()];
    await one.openWriter(view);
    const later = Date.now() + 100 * 86_400_000;
    expect(await other.removeUnused(new Set(), later)).toEqual([]);
    await endLease();
    expect(await other.removeUnused(new Set(), later)).toEqual([view.definition]);
    const tables = "SELECT relname FROM pg_class WHERE relname LIKE 'view\\_rows\\_%'";
    expect(await database.sql(tables)).toEqual([]);
  });
});

/** Resolves to the first result that is defined. */
async function until<T>(ask: () => Promise<T | undefined>): Promise<T> {
  for (;;) {
    const found = await ask();
    if (found !== undefined) return found;
  }
}
