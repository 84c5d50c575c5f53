// docs/reference/from-typescript.md: what it says does not compile fails with the help that it shows, what it says to
// write instead compiles, and what no error reports gives the results in its table.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { buildComponent } from '../../guest-sdk/compiler/index.ts';
import { testEntity, testModule } from '../../guest-sdk/testing/index.ts';
import { UserProjects } from '../guest-sdk/support/user-projects.ts';

const page = readFileSync(
  join(import.meta.dirname, '..', '..', 'docs', 'reference', 'from-typescript.md'),
  'utf8',
);
const snippets = [...page.matchAll(/^```ts\n(.*?)^```/gms)].map((match) => match[1]!);
const [book] = snippets;
const pairs = snippets
  .map((snippet) => /^\/\/ Not\n(.*)^\/\/ Help: (.*)\n\/\/ But\n(.*)/ms.exec(snippet))
  .filter((match) => match !== null)
  .map(([, wrong, help, right]) => ({
    title: wrong!.trim().split('\n').at(-1),
    wrong: wrong!,
    help: help!,
    right: right!,
  }));
const silent = [...page.matchAll(/^\| `([^|]+)` \| `([^|]+)` \|/gm)].map((match) => ({
  code: match[1]!,
  result: match[2]!,
}));

let projects: UserProjects;

beforeAll(async () => {
  projects = await UserProjects.open();
});

afterAll(() => projects.remove());

const HEAD = `import { Code, Done, Effect, EventSourcedEntity, NullablePatch, Result, ok, refuse, register } from "@svc/guest-sdk";
import { checkedAdd, checkedMul, checkedSub, parseF64, parseI32, parseI64, toJson } from "@svc/guest-sdk";
${book}@data class Shelf0 { count: i32 = 0; text: string = ""; }
@data abstract class Event0 {}
@variant("added") class Added0 extends Event0 {}
`;

/** A module whose entity has these queries. */
const moduleOf = (queries: string, declarations: string): string => `${HEAD}
@entity("thing") class Thing extends EventSourcedEntity<Shelf0, Event0> {
  empty(id: string): Shelf0 { return new Shelf0(); }
  apply(state: Shelf0, event: Event0): Shelf0 { if (event instanceof Added0) state.count += 1; return state; }
${queries}
}
register<Thing>();
${declarations}`;

const isDeclaration = (line: string): boolean =>
  /^(?:@|abstract |async |class |interface |type |enum |function )/.test(line);

/** Declarations stand at the top level, everything else in a query. */
function split(code: string): { readonly declarations: string; readonly body: string } {
  const lines = code.split('\n');
  return {
    declarations: lines.filter((line) => isDeclaration(line)).join('\n'),
    body: lines.filter((line) => !isDeclaration(line)).join('\n'),
  };
}

const query = (name: string, body: string): string =>
  `@query("${name}") ${name}(state: Shelf0): Shelf0 {
const book = new Book();
const list: i32[] = [1, 2];
${body}
return state;
}`;

function moduleWith(code: string): string {
  const { declarations, body } = split(code);
  return moduleOf(query('q', body), declarations);
}

test('the page shows what is not taken, and what to write', () => {
  expect(pairs.length).toBeGreaterThan(35);
});

describe.each(pairs)('$title', ({ wrong, help, right }) => {
  test('does not compile, with the help that the page shows', async () => {
    const problems = await projects.problemsOf(moduleWith(wrong));
    expect(problems.map((problem) => problem.help)).toEqual([expect.stringContaining(help)]);
    expect(wrong).toContain(problems[0]!.sourceLine);
  });

  test('has something in its place that compiles', async () => {
    const entryFile = await projects.write({ 'index.ts': moduleWith(right) });
    await expect(buildComponent({ entryFile, optimizeLevel: 0 })).resolves.toMatchObject({
      warnings: [],
    });
  });
});

test('the command of the page takes a number that fits, and refuses every other', async () => {
  const source = `import { Code, Effect, EventSourcedEntity, checkedAdd, parseI32, register } from "@svc/guest-sdk";
@data class Stock { ordered: i32 = 0; }
@data class Order { quantity: string = ""; }
@data abstract class StockEvent {}
@variant("ordered") class Ordered extends StockEvent { quantity: i32 = 0; }
@entity("stock") class StockEntity extends EventSourcedEntity<Stock, StockEvent> {
  empty(id: string): Stock { return new Stock(); }
  apply(state: Stock, event: StockEvent): Stock {
    if (event instanceof Ordered) state.ordered += (event as Ordered).quantity;
    return state;
  }
${snippets.at(-1)}
}
register<StockEntity>();`;
  const stock = testEntity(
    await testModule(await projects.write({ 'index.ts': source })),
    'stock',
    's1',
  );
  stock.when('order', { quantity: '3' }).thenReply({ ordered: 3 });
  stock
    .when('order', { quantity: '3 boxes' })
    .thenRefused({ code: 'BAD_REQUEST', message: /^quantity: must be an integer from/ });
  stock
    .when('order', { quantity: '2147483647' })
    .thenRefused({ code: 'UNPROCESSABLE', message: '3 + 2147483647 does not fit into i32' });
});

test('what no error reports gives the results of the table', async () => {
  expect(silent.length).toBeGreaterThan(8);
  const queries = silent.map(
    ({ code }, index) => `@query("q${index}") q${index}(state: Shelf0): string {
const n: i32 = 2147483647;
const a = new Book();
const b = new Book();
return (${code}).toString();
}`,
  );
  const module = await testModule(
    await projects.write({ 'index.ts': moduleOf(queries.join('\n'), '') }),
  );
  const entity = testEntity(module, 'thing', 't1');
  const results = silent.map((row, index) => ({
    code: row.code,
    result: entity.query(`q${index}`).reply<string>(),
  }));
  expect(results).toEqual(silent);
});
