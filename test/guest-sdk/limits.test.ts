// @limit: its entries in the descriptor, and the messages about mistakes.
import { parseModuleDescriptor } from '@svc/contract';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { compileFixture } from '../support/compile-fixture.ts';
import { descriptorText } from '../support/descriptor-text.ts';
import { problemLine, UserProjects } from './support/user-projects.ts';

let projects: UserProjects;

beforeAll(async () => {
  projects = await UserProjects.open();
});

afterAll(() => projects.remove());

test('the descriptor has the limits where they stand', async () => {
  const result = parseModuleDescriptor(descriptorText(await compileFixture('limited')));
  if (!result.ok) throw new Error(result.problems.join('\n'));
  const [quotes, orders] = result.descriptor.endpoints;
  expect(quotes).toMatchObject({ limits: [{ count: 60, per: 'minute', by: 'address' }] });
  expect(orders).toMatchObject({ limits: [{ count: 60, per: 'minute', by: 'subject' }] });
  expect(quotes!.routes.map(({ handler, limits }) => [handler, limits])).toEqual([
    ['read', undefined],
    ['price', undefined],
    ['sample', [{ count: 2, per: 'hour', by: 'address' }]],
    ['ask', [{ count: 3, per: 'hour', by: 'route' }]],
  ]);
});

const service = (limit: string) =>
  `import { Done, register } from "@svc/guest-sdk";
@endpoint("/a") @access("internet")
${limit}
class A { @get("/a") a(): Done { return new Done(); } }
register<A>();`;

const FORM = /^this is no limit of requests: @limit\("60\/minute", By\.subject\)/;
const FIVE = [1, 2, 3, 4, 5].map((count) => `@limit("${count}/day", By.route)`).join(' ');
const BAD: readonly (readonly [limit: string, column: number, problem: RegExp])[] = [
  ['@limit()', 1, FORM],
  ['@limit', 1, FORM],
  ['@limit("60/minute")', 1, FORM],
  ['@limit(By.route, "60/minute")', 1, FORM],
  ['@limit("60/minute", By.route, By.address)', 1, FORM],
  ['@limit("60/week", By.route)', 1, FORM],
  ['@limit("60 / minute", By.route)', 1, FORM],
  ['@limit("60/minutes", By.route)', 1, FORM],
  ['@limit("0/minute", By.route)', 1, FORM],
  ['@limit("-1/minute", By.route)', 1, FORM],
  ['@limit("1.5/minute", By.route)', 1, FORM],
  ['@limit("1e3/minute", By.route)', 1, FORM],
  ['@limit("60/toString", By.route)', 1, FORM],
  ['@limit("60/minute", By.caller)', 1, FORM],
  ['@limit("60/minute", "subject")', 1, FORM],
  [
    '@limit("1000001/day", By.route)',
    8,
    /^a limit counts 1 to 1000000 requests, and this one 1000001/,
  ],
  [
    '@limit("5/day", By.route) @limit("5/day", By.route)',
    27,
    /^this @limit stands here twice: keep one/,
  ],
  [FIVE, 105, /^there are more than 4 limits: keep the strictest/],
  [
    '@limit("5/day", By.subject)',
    1,
    /^By\.subject counts the requests of each caller, and 'a' asks for no access token.*: add @bearer\(\), or count with By\.address/,
  ],
];

test('what cannot be read is named with its place', async () => {
  const endpoints = BAD.map(
    ([limit], at) => `@endpoint("/a${at}") @access("internet")
${limit}
class A${at} { @get("/a") a(): Done { return new Done(); } }`,
  );
  const problems = await projects.problemsOf(
    `import { Done, register } from "@svc/guest-sdk";\n${endpoints.join('\n')}`,
  );
  for (const [at, [limit, column, expected]] of BAD.entries()) {
    const found = problems.filter(({ line }) => line === 3 * at + 3);
    expect([limit, found.map((problem) => problem.column)]).toEqual([limit, [column]]);
    expect(problemLine(found[0])).toMatch(expected);
  }
});

/** An endpoint with a limit by subject of two routes, of which the second asks for no token. */
const HALF_GUARDED = `import { Done, register } from "@svc/guest-sdk";
@endpoint("/a") @access("internet")
class A {
  @bearer() @limit("5/day", By.subject) @get("/a") a(): Done { return new Done(); }
  @limit("5/day", By.subject) @get("/b") b(): Done { return new Done(); }
}
register<A>();`;

test('a limit by subject of a route needs a token of the route or of its endpoint', async () => {
  expect(await projects.firstLine(HALF_GUARDED)).toMatch(
    /^5:3 By\.subject counts .* 'b' asks for no/,
  );
  expect(await projects.firstLine(service('@limit("5/day", By.subject) @bearer("x")'))).toMatch(
    /^3:37 this is no rule of @bearer/,
  );
});

test('it means nothing elsewhere', async () => {
  expect(await projects.firstLine('@limit("5/day", By.route) class Plain {}')).toMatch(
    /@limit means .* an @endpoint class or one of its routes/,
  );
  const routeless = `import { Done, register } from "@svc/guest-sdk";
@endpoint("/a") @access("internet")
class A {
  @get("/a") a(): Done { return new Done(); }
  @limit("5/day", By.route) b(): void {}
}
register<A>();`;
  expect(await projects.firstLine(routeless)).toMatch(/^5:3 @limit means nothing here: 'b' has no/);
});
