// Queries of views in PostgreSQL: each is one walk of the index of its columns, whatever the server knows of the rows.
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { ViewQueryPlan } from '@svc/contract';
import type { DatabaseSession } from '../../../../../host/storage/postgres/database-session.ts';
import type { FreshDatabase } from '../../../../support/postgres/fresh-database.ts';
import { serverVersions } from '../../../../support/postgres/postgres-programs.ts';
import { PostgresServer } from '../../../../support/postgres/postgres-server.ts';
import {
  finish,
  folded,
  indexOn,
  planned,
  row,
  viewOf,
} from '../../../../suites/view-store/views-under-test.ts';
import { emptyDatabase, viewsIn } from './support/views-database.ts';

const ROWS = 2_000;
/** The last two indexes begin with the same column, and one of them has the order of a query of the other but for its key. */
const view = viewOf(
  indexOn(['a', 'text'], ['n', 'integer']),
  indexOn(['n', 'integer'], ['a', 'text'], ['b', 'boolean'], ['t', 'time']),
  indexOn(['n', 'integer']),
);
const rows = Array.from({ length: ROWS }, (_, n) =>
  row(`k${n}`, {
    a: `a${n % 2}`,
    n: n >> 3,
    b: n % 2 === 0,
    t: new Date(n * 1_000).toISOString(),
  }),
);

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
    [2, ['n', 'key']],
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

/** The statements that connections carry out, by their texts, with their values. */
type Statements = Map<string, readonly unknown[]>;

/** Makes a session write down its statements on rows. */
function spied(session: DatabaseSession, statements: Statements): void {
  const query = session.query.bind(session);
  session.query = (statement, values = []) => {
    if (/svc\.view_rows_\d/.test(statement.text)) statements.set(statement.text, values);
    return query(statement, values);
  };
}

/** A statement with values in place of its parameters. */
function withValues(text: string, values: readonly unknown[]): string {
  return text.replaceAll(/\$(\d+)/g, (_, at) => {
    const value = values[Number(at) - 1];
    return typeof value === 'number' ? String(value) : `'${String(value).replaceAll("'", "''")}'`;
  });
}

describe.each(serverVersions())('PostgreSQL %s', (version) => {
  let database: FreshDatabase;
  const statements: Statements = new Map();
  let sessions: DatabaseSession[];
  beforeAll(async () => {
    database = await emptyDatabase(await PostgresServer.shared(version));
  });
  afterAll(() => database.end());

  /** A live view with rows, of which the server knows what `analyzed` says. */
  async function store(analyzed: 'nothing' | 'few rows' | 'all rows') {
    await database.sql('DELETE FROM svc.view_definition');
    sessions = [];
    const views = viewsIn(database, {}, (session) => {
      sessions.push(session);
      spied(session, statements);
    });
    onTestFinished(() => views.close());
    const writer = await views.openWriter(view);
    if (analyzed === 'few rows') {
      await writer.put(rows.slice(0, 5), folded(1));
      await database.sql('ANALYZE');
    }
    await writer.put(rows, folded(2));
    await finish(writer);
    if (analyzed === 'all rows') await database.sql('ANALYZE');
    return { views, writer };
  }

  test.each(['nothing', 'few rows', 'all rows'] as const)(
    'a query is a walk of its index without a sort, in every form, if the server knows of %s',
    async (analyzed) => {
      const { views } = await store(analyzed);
      const reader = views.reader(view);
      for (const query of walks) {
        statements.clear();
        const first = await reader.find(query, 3);
        if (first.cursor !== undefined) await reader.find(query, 3, first.cursor);
        await reader.count(query);
        await reader.get('k7');
        expect(statements.size).toBeGreaterThanOrEqual(3);
        // Explaining them adds statements.
        for (const [text, values] of new Map(statements)) {
          const plan = await planOf(text, values);
          expect(plan.filter((line) => /Seq Scan on view_rows|Sort|Bitmap/.test(line))).toEqual([]);
          const scans = plan.filter((line) => /Index .*Scan.* on view_rows_/.test(line));
          expect([text, scans.length]).toEqual([text, 1]);
        }
      }
    },
    120_000,
  );

  /** The plan of a statement in a connection that reads. */
  async function planOf(text: string, values: readonly unknown[]): Promise<readonly string[]> {
    // It is made by the first query, after those that write.
    const reading = sessions.at(-1);
    const found = await reading.query({ text: `EXPLAIN ${withValues(text, values)}` });
    return found.map(([line]) => String(line));
  }

  test('a query reads no more of the table on its last page than on its first', async () => {
    const { views } = await store('nothing');
    const reader = views.reader(view);
    const range = { kind: 'between', lower: bound('from', true) } as const;
    const query = planned({ equals: ['a'], range }, { a: 'a1', from: 0 });
    statements.clear();
    const seen: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await reader.find(query, 10, cursor);
      seen.push(...page.rows.map(({ key }) => key));
      ({ cursor } = page);
    } while (cursor !== undefined);
    expect(seen).toHaveLength(ROWS / 2);
    const [, [text, values] = ['', []]] = [...statements];
    const plan = await sessions.at(-1).query({
      text: `EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) ${withValues(text, values)}`,
    });
    const scan = plan.map(([line]) => String(line)).find((line) => line.includes('on view_rows_'));
    // One row more than the page has, and the one that the window looks ahead for.
    expect(Number(/rows=(\d+)/.exec(scan!)![1])).toBeLessThanOrEqual(12);
  });

  test('the connection that reads writes nothing', async () => {
    const { views } = await store('nothing');
    await views.reader(view).get('k1');
    await expect(
      sessions.at(-1).query({ text: 'UPDATE svc.view_definition SET is_live = false' }),
    ).rejects.toMatchObject({ sqlState: '25006' });
  });
});
