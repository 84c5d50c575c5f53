// Views in the test kit: finding rows, and the check that rows do not depend on the order of events of different entities.
import { afterAll, describe, expect, test } from 'vitest';
import { testEndpoints, testModule } from '@svc/guest-sdk/testing';
import { QUERY, UserProjects, entity } from '../support/user-projects.ts';
import { laterFailureOf } from './failure.ts';

const projects = await UserProjects.open();
afterAll(() => projects.remove());

const BEFORE = { type: 'added' };

/** Returns a module with a view of things. `row`: fields of the row. `fold`: the body of its method. */
async function viewModule(row: string, fold: string, more = '') {
  return testModule(
    await projects.write({
      'index.ts': `import { EventContext, Page, RowChange, View } from "@svc/guest-sdk";
@data class Row { ${row} }
let counted: i32 = 0;
@view("things") class Things extends View<Row> {
  @keys("thing") all(event: Event): string[] { return ["all"]; }
  @from("thing") on(row: Row | null, event: Event, context: EventContext): RowChange<Row> { ${fold} }
}
@data @find("things", "all", "") class AllThings {}
${entity(`${QUERY} @command("add") add(s: State): Effect<Done> { return this.persist(new Added()).thenReply(new Done()); }`)}
@endpoint("/things") @access("internet") class Endpoint {
  @post("/{id}") add(id: string): Result<Page<Row>> { new ThingClient(id).add(); return new ThingsClient().all(new AllThings()); }
}
register<Things>();
register<Endpoint>();
${more}`,
    }),
  );
}

const COUNT = 'const next = row === null ? new Row() : row; next.n += 1; return this.put(next);';
const counts = await viewModule('n: i32 = 0;', COUNT);

describe('find', () => {
  test('finds what is stored', async () => {
    const api = testEndpoints(counts);
    await api.given('thing', 'a', [BEFORE, BEFORE]);
    expect(await api.find('things', 'all')).toEqual({ rows: [{ n: 2 }], cursor: undefined });
    const adding = api.post('/things/b');
    expect(await api.find('things', 'all', {}, { limit: 1 })).toEqual({
      rows: [{ n: 3 }],
      cursor: undefined,
    });
    // A handler finds what it has stored itself.
    expect((await adding).json).toEqual({ rows: [{ n: 3 }], cursor: null, asOf: null });
  });

  test('finds the row of a key, and counts', async () => {
    const api = testEndpoints(counts);
    expect(await api.row('things', 'all')).toBeUndefined();
    expect(await api.count('things', 'all')).toEqual({ count: 0, hasMore: false });
    await api.given('thing', 'a', [BEFORE, BEFORE]);
    expect(await api.row('things', 'all')).toEqual({ n: 2 });
    expect(await api.row('things', 'a')).toBeUndefined();
    expect(await api.count('things', 'all')).toEqual({ count: 1, hasMore: false });
    const { message } = await laterFailureOf(() => api.count('things', 'some'));
    expect(message).toContain("has no query 'some'");
  });

  test('says what is wrong with a query', async () => {
    const api = testEndpoints(counts);
    const message = async (...query: Parameters<typeof api.find>) =>
      (await laterFailureOf(() => api.find(...query))).message;
    expect(await message('thngs', 'all')).toContain("the service has no view 'thngs'");
    expect(await message('thngs', 'all')).toContain('things');
    expect(await message('things', 'some')).toContain("has no query 'some'");
    expect(await message('things', 'all', {}, { limit: 0 })).toContain('limit');
    expect(await message('things', 'all', [1])).toContain('do not fit');
    const cart = testEndpoints(await testModule('fixtures/shopping-cart/assembly/index.ts'));
    expect((await laterFailureOf(() => cart.find('x', 'y'))).message).toMatch(/has no views\.$/);
  });
});

describe('a view', () => {
  test('whose rows depend on the order of entities fails the test', async () => {
    const module = await viewModule(
      'ids: string[] = [];',
      'const next = row === null ? new Row() : row; next.ids.push(context.entityId); return this.put(next);',
    );
    const api = testEndpoints(module);
    await api.given('thing', 'a', [BEFORE]);
    await api.given('thing', 'b', [BEFORE]);
    await api.given('thing', 'a', [BEFORE, BEFORE]);
    // At the end of a test this is called by itself.
    const failure = await laterFailureOf(() => api.close());
    expect(failure.message).toMatch(
      /^The rows of view 'things' are others when its events are folded entity after entity\. The runtime keeps the order/,
    );
    expect(failure.expected).toEqual({ all: { ids: ['a', 'b', 'a', 'a'] } });
    expect(failure.actual).toEqual({ all: { ids: ['a', 'a', 'a', 'b'] } });
    api.close = async () => {};
  });

  test('that counts in a variable fails the test', async () => {
    const module = await viewModule(
      'n: i32 = 0;',
      'counted += 1; const next = new Row(); next.n = counted; return this.put(next);',
    );
    const api = testEndpoints(module);
    await api.given('thing', 'a', [BEFORE, BEFORE, BEFORE]);
    const failure = await laterFailureOf(() => api.close());
    expect(failure.message).toContain('are others when its events are folded one by one.');
    api.close = async () => {};
  });

  test('whose rows are the same in any order passes', async () => {
    const api = testEndpoints(counts);
    for (const id of ['a', 'b', 'a', 'c']) await api.given('thing', id, [BEFORE]);
    await expect(api.close()).resolves.toBeUndefined();
    api.close = async () => {};
  });

  test('that stops says why', async () => {
    const api = testEndpoints(counts);
    await api.given('thing', 'a', [BEFORE, '{"type":"exploded"}']);
    const { message } = await laterFailureOf(() => api.find('things', 'all'));
    expect(message).toMatch(
      /^find: the view 'things' has stopped at event 2 of thing 'a': .*exploded/,
    );
    expect(api.faults).toEqual([
      expect.stringMatching(/^view 'things', event 2 of thing 'a': .*exploded/),
    ]);
    api.close = async () => {};
  });
});
