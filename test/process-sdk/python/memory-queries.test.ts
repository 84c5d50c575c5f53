// The test kit of the SDK for Python finds the rows of a query that the runtime finds, page by page, and refuses the queries that it refuses.
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { planViewQuery, type TypeSchema, type ViewDescriptor } from '../../../contract/index.ts';
import { MemoryViews } from '../../../host/storage/memory/memory-views.ts';
import { declaredViews } from '../../../host/views/view-definitions.ts';
import { python, PYTHON_ENVIRONMENT } from '../../support/python.ts';
import { folded } from '../../suites/view-store/views-under-test.ts';

/** A query that the test kit was asked. */
interface Asked {
  readonly where: string;
  readonly view: ViewDescriptor;
  readonly types: Readonly<Record<string, TypeSchema>>;
  /** JSON of the parameters. */
  readonly input: string;
  /** Why there are no pages. */
  readonly problem?: string;
  /** JSON of all rows by their keys. */
  readonly rows: Readonly<Record<string, string>>;
  /** JSON of the rows that it has found. */
  readonly pages: readonly (readonly string[])[];
  readonly count: unknown;
}

function askedInPython(): readonly Asked[] {
  if (python === undefined) return [];
  const program = join(import.meta.dirname, 'support', 'asked_views.py');
  const env = { ...process.env, ...PYTHON_ENVIRONMENT };
  return JSON.parse(execFileSync(python, [program], { encoding: 'utf8', env })) as Asked[];
}

/** Pages that the runtime finds. */
async function found({ view, types, input, rows, pages }: Asked) {
  const [declared] = declaredViews({ views: [view], types }, undefined);
  const { stored } = declared!.folded;
  const views = new MemoryViews();
  const writer = views.openWriter(stored);
  await writer.put(
    Object.entries(rows).map(([key, json]) => ({ key, json })),
    folded(1),
  );
  while (!(await writer.prepareIndexes(100)));
  await writer.goLive();
  const reader = views.reader(stored);
  const { plan } = declared!.queries.get('asked')!;
  const query = { plan, parameters: JSON.parse(input) as Record<string, unknown> };
  const all: string[][] = [];
  let cursor: string | undefined;
  do {
    const page = await reader.find(query, 4, cursor);
    all.push(page.rows.map(({ json }) => json));
    ({ cursor } = page);
  } while (cursor !== undefined && all.length <= pages.length);
  return { pages: all, count: await reader.count(query) };
}

describe.skipIf(python === undefined)('a query in the test kit', () => {
  const cases = askedInPython();

  test.each(cases.filter(({ problem }) => problem === undefined))(
    "'$where' finds the rows of the runtime",
    async (asked) => {
      const { pages, count } = asked;
      expect({ pages, count }).toEqual(await found(asked));
    },
  );

  test.each(cases)("'$where' is served or refused as by the runtime", (asked) => {
    const { where, view, types, problem } = asked;
    const { ok } = planViewQuery(where, view.queries[0]!.parameters, view, types);
    expect(ok).toBe(problem === undefined);
  });

  test('is served or refused in many cases', () => {
    expect(cases.filter(({ problem }) => problem === undefined).length).toBeGreaterThan(25);
    expect(cases.filter(({ problem }) => problem !== undefined).length).toBeGreaterThan(25);
  });
});
