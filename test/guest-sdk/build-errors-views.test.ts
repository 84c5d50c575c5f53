// The compiler's messages about views that would have no rows, and queries that no index serves.
import { buildComponent } from '@svc/guest-sdk/compiler';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { QUERY, UserProjects, entity, problemLine } from './support/user-projects.ts';

let projects: UserProjects;

beforeAll(async () => {
  projects = await UserProjects.open();
});

afterAll(() => projects.remove());

interface Parts {
  readonly role?: string;
  readonly fold?: string;
  readonly query?: string;
  readonly more?: string;
  readonly registered?: string;
}

const FOLD =
  '@from("thing") on(row: Row | null, event: Event, context: EventContext): RowChange<Row> { return this.keep(); }';

/** Returns a module with an entity and a view: the fold is on line 4, and the class of the query on line 6. */
const view = ({
  role = '@view("things") @index("owner", "at")',
  fold = FOLD,
  query = '@data @find("things", "of-owner", "owner = :owner order by at desc") class OfOwner { owner: string = ""; }',
  more = '',
  registered = 'register<Things>();',
}: Parts): string => `import { EventContext, RowChange, View } from "@svc/guest-sdk";
@data class Row { owner: string = ""; at: Date = new Date(0); tags: string[] = []; }
${role} class Things extends View<Row> {
${fold}
}
${query}
${entity(QUERY)}
${registered}
${more}`;
const query = (where: string, fields = ''): Parts => ({
  query: `@data @find("things", "q", "${where}") class Q { ${fields} }`,
});

async function onlyProblem(source: Parameters<UserProjects['problemsOf']>[0]): Promise<string> {
  const problems = await projects.problemsOf(source);
  expect(problems.map((one) => problemLine(one))).toHaveLength(1);
  const [problem] = problems;
  const { line, column, sourceLine = '', length = 0 } = problem!;
  return `${line} ${sourceLine.slice(column! - 1, column! - 1 + length)} | ${problemLine(problem)}`;
}

const HEAD = '(row: Row | null, event: Event, context: EventContext): RowChange<Row>';

describe('a view', () => {
  test.each<[string, Parts, string]>([
    [
      'without an id',
      { role: '@view', query: '' },
      `3 @view | @view needs the id of the view: @view("orders"), of letters, digits, '.', '_', '-', beginning with a letter`,
    ],
    [
      'with a version that is no text',
      { role: '@view("things", "")', query: '' },
      `3 @view("things", "") | the version of a view is one text of 1 to 100 characters: @view("orders", "2"); without a version, the rows are folded again when the code of the view changes`,
    ],
    [
      'with the id of an entity',
      { role: '@view("thing")', query: '' },
      `3 Things | view 'thing' has the id of the entity 'Thing': give it another: entities, views and consumers share their ids`,
    ],
    [
      'with the id of another',
      {
        query: '',
        more: `@view("things") class Others extends View<Row> { ${FOLD} }\nregister<Others>();`,
      },
      `18 Others | view 'things' is registered twice, as 'Things' and as 'Others': give each its own id: @view("id")`,
    ],
    [
      'without a source',
      { fold: '', query: '' },
      `3 Things | view 'Things' has no @from: it would have no rows: add @from("order") onOrder(row: Row | null, event: OrderEvent, context: EventContext): RowChange<Row> { … }`,
    ],
    [
      'of an unknown source',
      { fold: FOLD.replace('thing', 'think') },
      `4 @from("think") | view 'Things': there is no entity 'think'. Did you mean 'thing'?: @from names the id of an @entity: thing`,
    ],
    [
      'with two methods for a source',
      { fold: `${FOLD} ${FOLD.replace(' on(', ' again(')}` },
      `4 @from("thing") | @from("thing") stands before two methods, 'on' and 'again': write one method for the events of a component`,
    ],
    [
      'with another handler',
      { fold: `${FOLD} @command("c") c(): void {}` },
      `4 @command("c") | a method of a view is a @from("component") or a @keys("component"), not @command`,
    ],
    [
      'whose client has the name of another class',
      { more: 'class ThingsClient {}' },
      `18 ThingsClient | 'ThingsClient' is the client that the compiler writes for 'Things': give this another name`,
    ],
  ])('%s', async (_what, parts, message) => {
    expect(await onlyProblem(view(parts))).toBe(message);
  });

  test('of rows that are no data', async () => {
    const source = view({ query: '', role: '@view("things")' }).replace(
      '@data class Row',
      'class Row',
    );
    expect(await onlyProblem(source)).toBe(
      `3 Row | the row 'Row' must be a @data class with fields of its own: a row is stored as JSON, and indexes are of its fields`,
    );
  });

  test.each([
    [
      'a row that is never null',
      'on(row: Row, event: Event): RowChange<Row> { return this.keep(); }',
    ],
    ['another event', 'on(row: Row | null, event: Row): RowChange<Row> { return this.keep(); }'],
    [
      'another context',
      'on(row: Row | null, event: Event, context: Context): RowChange<Row> { return this.keep(); }',
    ],
    ['a row in place of a change', 'on(row: Row | null, event: Event): Row { return new Row(); }'],
    [
      'a change of other rows',
      'on(row: Row | null, event: Event): RowChange<State> { return new RowChange<State>(2, null); }',
    ],
    [
      'more',
      'on(row: Row | null, event: Event, context: EventContext, n: i32): RowChange<Row> { return this.keep(); }',
    ],
  ])('whose fold takes or returns %s', async (_what, fold) => {
    expect(await onlyProblem(view({ fold: `@from("thing") ${fold}` }))).toBe(
      `4 on | 'on' of view 'Things' has other parameters or another type than the runtime calls it with: write on${HEAD}`,
    );
  });

  test('whose fold takes no event', async () => {
    const fold = '@from("thing") on(row: Row | null): RowChange<Row> { return this.keep(); }';
    expect(await onlyProblem(view({ fold }))).toMatch(/^4 on \| 'on' takes no event: write on\(/);
  });

  test('with keys for a source that it does not fold', async () => {
    const fold = `${FOLD} @keys("other") k(event: Event): string[] { return []; }`;
    const problems = await projects.problemsOf(view({ fold }));
    expect(problems.map((one) => problemLine(one))).toEqual([
      `view 'Things' has keys for 'other', and folds none of its events: add a method @from("other"), or remove this one`,
    ]);
  });

  test('of an entity that is not registered', async () => {
    const source = view({}).replace('register<Thing>();', '');
    expect(await onlyProblem(source)).toBe(
      `4 @from("thing") | view 'things' gets the events of 'thing', which is not registered: register the entity too, at the top level of the entry file`,
    );
  });

  test('whose keys are no texts', async () => {
    const fold = `@keys("thing") k(event: Event): i32[] { return []; } ${FOLD}`;
    expect(await onlyProblem(view({ fold }))).toBe(
      `4 k | 'k' of view 'Things' has other parameters or another type than the runtime calls it with: write k(event: Event, context: EventContext): string[]`,
    );
  });

  test('that calls', async () => {
    const fold = FOLD.replace('return', 'new ThingClient("a"); return');
    expect(await onlyProblem(view({ fold }))).toBe(
      `4 new ThingClient("a") | view 'Things' cannot call with 'ThingClient': only endpoints and consumers can: fold what the events say`,
    );
  });
});

describe('a view that is not registered', () => {
  const HANDLER = `
@endpoint("/things") @access("nobody") class Api {
  @get("/{id}") one(id: string): Result<Row | null> {
    return ok<Row | null>(new ThingsClient().get(id).value.row);
  }
}`;

  test('and is queried', async () => {
    const more = `${HANDLER}\nregister<Api>();`;
    expect(await onlyProblem(view({ registered: '', more }))).toBe(
      `21 new ThingsClient() | the view 'things' is queried, and not registered: the service would not have it: add to index.ts, at its top level: register<Things>();`,
    );
  });

  test('while another one is, and is queried by a function of another file', async () => {
    const files = {
      'index.ts': `${view({}).replace('class Things extends', 'export class Things extends')}
import { other } from "./other";
${HANDLER.replace('new ThingsClient().get(id).value.row', 'other(id)')}
register<Api>();`,
      'other.ts': `import { EventContext, RowChange, View } from "@svc/guest-sdk";
import { Event, Row } from "./index";
@view("others") export class Others extends View<Row> { ${FOLD} }
export function other(id: string): Row | null { return new OthersClient().get(id).value.row; }`,
    };
    files['index.ts'] = files['index.ts']
      .replace('class Row', 'export class Row')
      .replace('abstract class Event', 'export abstract class Event');
    expect(await onlyProblem(files)).toBe(
      `4 new OthersClient() | the view 'others' is queried, and not registered: the service would not have it: add to index.ts, at its top level: register<Others>();`,
    );
  });

  test('is a warning if no code queries it that the module has', async () => {
    const source = view({ registered: '', more: HANDLER });
    const { warnings } = await buildComponent({
      entryFile: await projects.write({ 'index.ts': source }),
    });
    expect(warnings.map(({ message }) => message)).toEqual([
      "view 'Things' is not registered: the module does not have it",
      "endpoint 'Api' is not registered: the module does not have it",
    ]);
  });
});

describe('an index', () => {
  test.each([
    [
      'a list',
      '@view("things") @index("tags")',
      `3 "tags" | no index can have 'tags': it is a list: only texts, booleans, numbers, times and durations are compared`,
    ],
    [
      'a field that is not there',
      '@view("things") @index("ownr")',
      `3 "ownr" | no index can have 'ownr': it is no field of 'Row'. Did you mean 'owner'?`,
    ],
    [
      'a field twice',
      '@view("things") @index("at", "at")',
      `3 "at" | the field 'at' stands twice in the index`,
    ],
    [
      'no fields',
      '@view("things") @index',
      '3 @index | @index needs the names of fields of the row, as strings: @index("customer", "placedAt")',
    ],
    [
      'the fields of another',
      '@view("things") @index("at") @index("at")',
      '3 @index("at") | the index is declared twice: remove one of them',
    ],
  ])('of %s', async (_what, role, message) => {
    expect(await onlyProblem(view({ role, query: '' }))).toBe(message);
  });
});

describe('a query', () => {
  test.each<[string, Parts, string]>([
    [
      'that no index serves',
      query('at >= :since', 'since: Date = new Date(0);'),
      `6 "at >= :since" | the query 'q' of view 'things': no index serves it: write @index("at") before the class 'Things'`,
    ],
    [
      'of a field that is not there',
      query('owner = :owner order by a', 'owner: string = "";'),
      `6 a | the query 'q' of view 'things': the row has no field 'a'. Did you mean 'at'?`,
    ],
    [
      'with a parameter of another type',
      query('owner = :owner', 'owner: i32 = 0;'),
      `6 :owner | the query 'q' of view 'things': the parameter 'owner' is an integer from -2147483648 to 2147483647, and the field 'owner' is a text: both need the same type`,
    ],
    [
      'of an unknown view',
      { query: '@data @find("thins", "q", "") class Q {}' },
      `6 "thins" | there is no view 'thins'. Did you mean 'things'?: @find("orders", …) names the id of a @view`,
    ],
    [
      'without a text',
      { query: '@data @find("things", "q") class Q {}' },
      `6 @find("things", "q") | @find needs the id of a view, the name of the query, and the query: @find("orders", "of-customer", "customer = :customer order by placedAt desc"); an empty query finds all rows`,
    ],
    [
      'with the name of another',
      {
        query:
          '@data @find("things", "q", "") class Q {} @data @find("things", "q", "") class R {}',
      },
      `6 "q" | view 'things' has two queries 'q', of 'Q' and of 'R': give each a name of its own; both would be the method 'q' of 'ThingsClient'`,
    ],
    [
      'with the name of a method of every client',
      { query: '@data @find("things", "get", "") class Q {}' },
      `6 "get" | the query of 'Q' cannot be named 'get': give it another name: 'get' of 'ThingsClient' finds the row of a key`,
    ],
    [
      'with the name of the method that counts the rows of another',
      {
        query:
          '@data @find("things", "q", "") class Q {} @data @find("things", "count-q", "") class R {}',
      },
      `6 "q" | the queries of 'Q' and of 'R' need the same method of the client: give one of them another name: 'countQ' counts the rows of 'q'`,
    ],
  ])('%s', async (_what, parts, message) => {
    expect(await onlyProblem(view(parts))).toBe(message);
  });

  test('in another file than its view', async () => {
    const source = view({ query: '', more: 'import "./q";' });
    const files = {
      'index.ts': source,
      'q.ts': '@data @find("things", "q", "") export class Q {}',
    };
    expect(await onlyProblem(files)).toBe(
      `1 "things" | the class of a query stands in the file of its view 'Things': move it to index.ts, where the compiler writes the client 'ThingsClient'`,
    );
  });
});
