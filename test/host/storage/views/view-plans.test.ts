// Queries of view files: each is one walk of one index, whatever its form.
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { afterEach, describe, expect, test, vi } from 'vitest';
import type { ViewQueryPlan } from '@svc/contract';
import { FileViews } from '../../../../host/storage/views/file-views.ts';
import {
  ViewsUnderTest,
  folded,
  indexOn,
  planned,
  row,
  viewOf,
} from '../../../suites/view-store/views-under-test.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

const ROWS = 2_000;
const view = viewOf(
  indexOn(['a', 'text'], ['n', 'integer']),
  indexOn(['n', 'integer'], ['a', 'text'], ['b', 'boolean'], ['t', 'time']),
);
const rows = Array.from({ length: ROWS }, (_, n) =>
  row(`k${n}`, {
    a: `a${n % 2}`,
    n: n >> 3,
    b: n % 2 === 0,
    t: new Date(n * 1_000).toISOString(),
  }),
);

type Status = 'vmStep' | 'fullscanStep' | 'sort' | 'autoindex';
interface Counted {
  stat(status: Status): number;
}

const views = new ViewsUnderTest((limits) => ({
  store: new FileViews(temporaryFolder(), limits),
  discard() {
    // The folder is deleted after the test.
  },
}));
afterEach(async () => {
  vi.restoreAllMocks();
  await views.discard();
});

/** The statements that are prepared from now on, by their SQL. */
function preparedStatements(): Map<string, StatementSync> {
  const prepared = new Map<string, StatementSync>();
  const prepare = Reflect.get(DatabaseSync.prototype, 'prepare');
  vi.spyOn(DatabaseSync.prototype, 'prepare').mockImplementation(function (
    this: DatabaseSync,
    sql,
  ) {
    const statement = prepare.call(this, sql);
    prepared.set(sql, statement);
    return statement;
  });
  return prepared;
}

const statOf = (statement: StatementSync, status: Status): number =>
  (statement as unknown as Counted).stat(status);

const bound = (parameter: string, isInclusive: boolean) => ({ parameter, isInclusive });
/** Every form of a range, of which the first column after those of `equals` is a text or not. */
const ranges = (isText: boolean): readonly ViewQueryPlan['range'][] => [
  undefined,
  ...[true, false].flatMap((isInclusive) => [
    { kind: 'between', lower: bound('from', isInclusive) } as const,
    { kind: 'between', upper: bound('to', isInclusive) } as const,
    { kind: 'between', lower: bound('from', isInclusive), upper: bound('to', true) } as const,
  ]),
  ...(isText ? [{ kind: 'prefix', parameter: 'from' } as const] : []),
];
const parameterOf = { a: 'a1', n: 20, b: true, t: '1970-01-01T00:05:00Z', key: 'k5' } as const;
const walks = (
  [
    ['key', ['key']],
    [0, ['a', 'n', 'key']],
    [1, ['n', 'a', 'b', 't', 'key']],
  ] as const
).flatMap(([index, columns]) =>
  [...columns, undefined].flatMap((open, at) => {
    const isText = open === 'a' || open === 'key';
    return (open === undefined ? [undefined] : ranges(isText)).flatMap((range) =>
      [false, true].map((descending) =>
        planned(
          { index, equals: columns.slice(0, at), range, descending },
          { ...parameterOf, from: open && parameterOf[open], to: open && parameterOf[open] },
        ),
      ),
    );
  }),
);

describe('the plan of a query', () => {
  test('is a search in one index without a sort, in every form, on every page', async () => {
    await views.use();
    const { reader } = await views.live(view, ...rows);
    const prepared = preparedStatements();
    for (const query of walks) {
      const first = await reader.find(query, 3);
      if (first.cursor !== undefined) await reader.find(query, 3, first.cursor);
      await reader.count(query);
    }
    const ofRows = [...prepared].filter(([sql]) => sql.includes('FROM row'));
    const explained = ofRows.filter(([sql]) => sql.startsWith('EXPLAIN'));
    const executed = ofRows.filter(([sql]) => !sql.startsWith('EXPLAIN'));
    expect(explained.length).toBeGreaterThan(100);
    for (const [, statement] of explained) {
      const steps = statement.all().map(({ detail }) => String(detail));
      expect(steps.join()).not.toMatch(/TEMP|AUTOMATIC|MULTI-INDEX/);
      expect(steps.filter((step) => / row /.test(step))).toHaveLength(1);
    }
    for (const [sql, statement] of executed) {
      const counts = (['sort', 'autoindex'] as const).map((status) => statOf(statement, status));
      expect([sql, ...counts]).toEqual([sql, 0, 0]);
    }
    // A walk without a condition begins at an end of its index.
    for (const [sql, statement] of executed.filter(([text]) => text.includes('WHERE')))
      expect([sql, statOf(statement, 'fullscanStep')]).toEqual([sql, 0]);
  });

  test('costs as much on the last page as on the first', async () => {
    await views.use();
    const { reader } = await views.live(view, ...rows);
    const query = planned(
      { equals: ['a'], range: { kind: 'between', lower: bound('from', true) } },
      { a: 'a1', from: 0 },
    );
    const prepared = preparedStatements();
    const steps: number[] = [];
    let before = 0;
    let cursor: string | undefined;
    do {
      const page = await reader.find(query, 10, cursor);
      ({ cursor } = page);
      const statement = [...prepared].findLast(([sql]) => sql.startsWith('SELECT key'))?.[1];
      // The first page has a statement of its own, and the numbers of the others add up.
      const total = statOf(statement!, 'vmStep');
      steps.push(total - before);
      before = steps.length === 1 ? 0 : total;
    } while (cursor !== undefined);
    expect(steps).toHaveLength(ROWS / 2 / 10);
    expect(Math.max(...steps.slice(1))).toBeLessThan(1.3 * Math.min(...steps.slice(1, -1)));
  });

  test('of a count ends after as many steps as it counts', async () => {
    await views.use();
    const { reader, writer } = await views.live(view, ...rows);
    const more = Array.from({ length: 20_000 }, (_, n) => row(`more${n}`, { a: 'a1', n }));
    await writer.put(more, folded(2));
    const prepared = preparedStatements();
    expect(await reader.count(planned({ equals: ['a'] }, { a: 'a1' }))).toMatchObject({
      hasMore: true,
    });
    const [, statement] = [...prepared].find(([sql]) => /^\s*SELECT count/.test(sql))!;
    expect(statOf(statement, 'vmStep')).toBeLessThan(12 * 10_000);
  });

  test('is refused as a bug if it is not one walk', async () => {
    await views.use();
    const { reader } = await views.live(view, ...rows);
    const prepare = Reflect.get(DatabaseSync.prototype, 'prepare');
    vi.spyOn(DatabaseSync.prototype, 'prepare').mockImplementation(function (
      this: DatabaseSync,
      sql,
    ) {
      return prepare.call(this, sql.replace(/ORDER BY .* LIMIT/, 'ORDER BY json LIMIT'));
    });
    expect(() => reader.find(planned({}), 10)).toThrow(
      'a query is not one walk of an index: USE TEMP B-TREE',
    );
  });
});

describe('a connection that reads', () => {
  test('writes nothing, attaches nothing and loads nothing', async () => {
    await views.use();
    const opened: DatabaseSync[] = [];
    const exec = Reflect.get(DatabaseSync.prototype, 'exec');
    const { reader } = await views.live(view, ...rows);
    vi.spyOn(DatabaseSync.prototype, 'exec').mockImplementation(function (this: DatabaseSync, sql) {
      opened.push(this);
      exec.call(this, sql);
    });
    expect(await reader.get('k1')).toBeDefined();
    const [database] = opened;
    for (const [sql, message] of [
      ["ATTACH ':memory:' AS other", /too many attached databases/],
      ["UPDATE row SET json = '{}'", /readonly database/],
      ['CREATE TABLE other (a)', /readonly database/],
      ['PRAGMA user_version = 7', /readonly database/],
      ['UPDATE sqlite_schema SET sql = NULL', /may not be modified/],
      ["SELECT load_extension('x')", /not authorized|no such function/],
      [`SELECT 1 -- ${'x'.repeat(20_000)}`, /too big/],
    ] as const)
      expect(() => database!.exec(sql)).toThrow(message);
    expect(await reader.get('k1')).toBeDefined();
  });
});
