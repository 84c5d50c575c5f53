// Mistakes in decorators that AssemblyScript itself would silently ignore.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { buildComponent } from '../../guest-sdk/compiler/index.ts';
import { QUERY, UserProjects, entity } from './support/user-projects.ts';

let projects: UserProjects;

beforeAll(async () => {
  projects = await UserProjects.open();
});

afterAll(() => projects.remove());

const firstLine = (source: string): Promise<string> => projects.firstLine(source);

test.each([
  ['@dta class Typo {}', /^\d+:1 @dta is not known; there are @data, @variant, /],
  ['@data class Typo { @optinal a: i32 = 1; }', /^\d+:20 @optinal is not known; there are /],
  ['class Plain { @optional a: i32 = 1; }', /@optional means nothing here: .* a field of a @data/],
  [
    'class Plain { @command("a") a(): void {} }',
    /^11:7 class 'Plain' has handlers, and does not say what it is: write @entity\("plain"\) before it$/,
  ],
  [
    'class Plain { @get("/a") a(): void {} }',
    /^11:7 class 'Plain' has handlers, .*: write @endpoint\("\/plain"\) @access\("internet"\) before it$/,
  ],
  ['@access("local") class Plain {}', /@access means .* an @endpoint class or one of its routes$/],
  ['@data interface Color {}', /@data means nothing here: it stands before a class or an enum$/],
  ['@query("a") function a(): void {}', /@query means nothing here/],
  ['namespace N { @data class A {} }', /^\d+:15 @data means nothing in a namespace: move /],
  [
    'namespace N { namespace M { @entity("a") class A {} } }',
    /@entity means nothing in a namespace/,
  ],
  [
    '@data class A { @optional @optional a: i32 = 1; }',
    /:27 @optional stands here twice: keep one$/,
  ],
  ['class ThingClient {}', /'ThingClient' is the client that the compiler writes for 'Thing'/],
])('what would be passed over in silence: %s', async (declaration, expected) => {
  expect(await firstLine(`${entity(QUERY)}\n${declaration}`)).toMatch(expected);
});

test.each([
  [
    '@query("a") @query("b") a(state: State): State { return state; }',
    /:13 @query stands here twice/,
  ],
  [
    '@query("a") @command("b") a(state: State): State { return state; }',
    /:1 a method is a @command or a/,
  ],
  [
    '@query("a") a(state: State, n): State { return state; }',
    /:29 parameter 'n' of 'a' has no type: write it/,
  ],
  [
    '@query("a") a(state: State, n: i32 = 1): State { return state; }',
    /parameter 'n' of 'a' cannot have a default/,
  ],
  [
    '@query("a") a(state: State, n?: i32): State { return state; }',
    /parameter 'n' of 'a' cannot have a default/,
  ],
  ['@query("a", "b") a(state: State): i32 { return 1; }', /@query needs the name it is called by/],
  ['@query("a") static a(state: State): i32 { return 1; }', /handler 'a' cannot be static/],
  ['@query("a") a<T>(state: State): i32 { return 1; }', /handler 'a' cannot have type parameters/],
])('a handler that cannot be called: %s', async (member, expected) => {
  expect(await firstLine(entity(member))).toMatch(expected);
});

test('the language has decorators of its own', async () => {
  const entryFile = await projects.write({
    'index.ts': entity(
      `${QUERY} @inline private twice(n: i32): i32 { return n * 2; }`,
      '@final class Pair { @inline sum(): i32 { return 1; } @operator("+") add(o: Pair): Pair { return o; } }\n@inline const N = 1;\n@inline function one(): i32 { return N; }\nregister<Thing>();',
    ),
  });
  expect((await buildComponent({ entryFile, optimizeLevel: 0 })).descriptor.entities).toHaveLength(
    1,
  );
});

const endpoint = (rules: string, ofRoute: string): string =>
  `import { Done, register } from "@svc/guest-sdk";
@endpoint("/things") ${rules} class Things {
  @get("/") ${ofRoute} get(): Done { return new Done(); }
}
register<Things>();`;

test('a second access rule is not passed over, whichever is the stricter', async () => {
  expect(await firstLine(endpoint('@access("nobody") @access("internet")', ''))).toBe(
    '2:40 @access stands here twice: keep one',
  );
  expect(await firstLine(endpoint('@access("nobody")', '@access("local") @access("local")'))).toBe(
    '3:30 @access stands here twice: keep one',
  );
});

test('a class with its role twice is named once, and not where it is used', async () => {
  const problems = await projects.problemsOf(
    entity(QUERY)
      .replace('@data class State', '@data @data class State')
      .replace('@entity("thing")', '@entity("thing") @endpoint("/a")'),
  );
  expect(problems.map(({ line, column, message }) => [line, column, message])).toEqual([
    [2, 7, 'a class has one role: remove this decorator'],
    [5, 18, 'a class has one role: remove this decorator'],
  ]);
});
