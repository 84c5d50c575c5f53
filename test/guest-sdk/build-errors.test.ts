// What the compiler says of files that cannot become a component: the file, the line, what to do.
// Each file is compiled for real, outside of the repository, as a user's files are.
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { BuildError, buildComponent, type Problem } from '../../guest-sdk/compiler/index.ts';
import { ENTITY, UserProjects, entity } from './support/user-projects.ts';

let projects: UserProjects;

beforeAll(async () => {
  projects = await UserProjects.open();
});

afterAll(() => projects.remove());

async function problemsOf(
  files: Readonly<Record<string, string>> | string,
): Promise<readonly Problem[]> {
  const entryFile = await projects.write(typeof files === 'string' ? { 'index.ts': files } : files);
  const failure = await buildComponent({ entryFile }).then(
    () => undefined,
    (error: unknown) => error,
  );
  if (!(failure instanceof BuildError))
    throw new Error('the build did not fail as it should', { cause: failure });
  return failure.problems;
}

async function firstLine(source: string): Promise<string> {
  const [problem] = await problemsOf(source);
  return `${problem?.line}:${problem?.column} ${problem?.message}`;
}

const endpoint = (members: string, head = '@access("internet")'): string =>
  `import { Context, Done, Request, Result, register } from "@svc/guest-sdk";
@data class Body { n: i32 = 0; }
@endpoint("/things") ${head} class Things {
${members}
}
register<Things>();`;

describe('endpoints', () => {
  test.each([
    [
      'no access rule',
      endpoint('@get("/") get(): Done { return new Done(); }', ''),
      /^3:\d+ endpoint 'Things' has no access rule: say who may call: @access\("internet"\)/,
    ],
    [
      'an unknown access rule',
      endpoint('@get("/") get(): Done { return new Done(); }', '@access("everyone")'),
      /^3:\d+ this access rule is not known/,
    ],
    [
      'an access rule with a bad service',
      endpoint('@get("/") get(): Done { return new Done(); }', '@access("services", "Orders")'),
      /^3:\d+ 'Orders' is not a service/,
    ],
    [
      'a template parameter that no one takes',
      endpoint('@get("/{id}") get(): Done { return new Done(); }'),
      /^4:\d+ 'get' does not take the path parameter \{id\}: add a parameter 'id'$/,
    ],
    [
      'a parameter that nothing binds',
      endpoint('@get("/{id}") get(id: string, name: string): Done { return new Done(); }'),
      /^4:\d+ 'name' is bound to nothing: the template has no \{name\}, and a GET has no body$/,
    ],
    [
      'two bodies',
      endpoint('@post("/") post(one: Body, two: Body): Done { return new Done(); }'),
      /^4:\d+ 'two' is bound to nothing: .* the body is taken by another parameter$/,
    ],
    [
      'a parameter twice in the template',
      endpoint('@get("/{id}/{id}") get(id: string): Done { return new Done(); }'),
      /^4:\d+ the template has the parameter \{id\} twice$/,
    ],
    [
      'a path that is none',
      endpoint('@get("items") get(): Done { return new Done(); }'),
      /^4:\d+ @get needs a path that begins with a slash/,
    ],
    [
      'a parameter that is not a whole segment',
      endpoint('@get("/a-{id}") get(id: string): Done { return new Done(); }'),
      /^4:\d+ @get needs a path/,
    ],
    [
      'a path parameter of a type that a path cannot have',
      endpoint('@get("/{id}") get(id: Body): Done { return new Done(); }'),
      /^4:\d+ path parameter 'id' must be a string, a bool, an integer or a float, not 'Body'$/,
    ],
    [
      'a decorator that is not known',
      endpoint('@gte("/") get(): Done { return new Done(); }'),
      /^4:\d+ a method of an endpoint has one of @get, .* not @gte$/,
    ],
    [
      'a body that has no JSON form',
      endpoint('@post("/") post(body: Set<i32>): Done { return new Done(); }'),
      /^4:\d+ type 'Set<i32>' has no JSON form/,
    ],
    [
      'a reply that has no JSON form',
      endpoint('@get("/") get(): StaticArray<i32> { return [1]; }'),
      /no JSON form/,
    ],
    [
      'no reply',
      endpoint('@get("/") get(): void {}'),
      /^4:\d+ a handler returns a value: Done when there is nothing to say/,
    ],
    [
      'the same route twice',
      endpoint(
        '@get("/{a}") one(a: string): Done { return new Done(); }\n@get("/{b}") two(b: string): Done { return new Done(); }',
      ),
      /^5:\d+ GET \/things\/\{b\} is served twice, by 'Things.one' and by 'Things.two'$/,
    ],
  ])('%s', async (_name, source, expected) => {
    expect(await firstLine(source)).toMatch(expected);
  });
});

const command = (text: string): string => entity(`  ${text}`);

describe('entities', () => {
  test.each([
    [
      'a wire name twice',
      entity(
        '@command("a") one(s: State): Effect<Done> { return this.reply(new Done()); }\n@query("a") two(s: State): State { return s; }',
      ),
      /^9:\d+ 'a' is declared twice, by 'one' and 'two'/,
    ],
    [
      'a command that returns no effect',
      command('@command("a") a(s: State): State { return s; }'),
      /^8:\d+ command 'a' must return Effect<Reply>/,
    ],
    [
      'a query with an effect',
      command('@query("a") a(s: State): Effect<Done> { return this.reply(new Done()); }'),
      /^8:\d+ query 'a' cannot have an effect/,
    ],
    [
      'a handler without a state',
      command('@query("a") a(): State { return new State(); }'),
      /^8:\d+ query 'a' needs the state as its first parameter$/,
    ],
    [
      'a first parameter that is not the state',
      command('@query("a") a(s: Added): State { return new State(); }'),
      /^8:\d+ the first parameter of a query is the state, 'State'$/,
    ],
    [
      'two inputs',
      command('@query("a") a(s: State, b: i32, c: i32): State { return s; }'),
      /^8:\d+ query 'a' has one input: put 'c' into the class of 'b'$/,
    ],
    [
      'a name that cannot be stored',
      command('@query("a b") a(s: State): State { return s; }'),
      /^8:\d+ @query needs the name it is called by/,
    ],
    [
      'an input that has no JSON form',
      command('@query("a") a(s: State, b: Set<i32>): State { return s; }'),
      /^8:\d+ type 'Set<i32>' has no JSON form/,
    ],
    [
      'a reply that has no JSON form',
      command('@query("a") a(s: State): Set<i32> { return new Set<i32>(); }'),
      /^8:\d+ type 'Set<i32>' has no JSON form/,
    ],
    [
      'a method that every client has',
      command('@query("a") events(s: State): State { return s; }'),
      /^8:\d+ every client has a member 'events'/,
    ],
    [
      'no component id',
      `${ENTITY}@entity class Thing extends EventSourcedEntity<State, Event> {}`,
      /^5:\d+ @entity needs the id of the component/,
    ],
    [
      'another base',
      `${ENTITY}@entity("thing") class Thing {}`,
      /^5:\d+ entity 'Thing' must extend EventSourcedEntity<State, Event>/,
    ],
    [
      'a state that is not data',
      `${ENTITY}class Plain {}\n@entity("thing") class Thing extends EventSourcedEntity<Plain, Event> {}`,
      /^6:\d+ the state 'Plain' must be a @data class: it is stored$/,
    ],
    [
      'an event that is not a sum type',
      `${ENTITY}@entity("thing") class Thing extends EventSourcedEntity<State, State> {}`,
      /^5:\d+ the event 'State' must be an abstract @data class with @variant cases/,
    ],
    [
      'a constructor with parameters',
      entity('constructor(n: i32) { super(); }'),
      /^8:\d+ the runtime makes the one object of 'Thing' itself/,
    ],
    [
      'a component id twice',
      `${entity('')}\n@entity("thing") class Other extends EventSourcedEntity<State, Event> {
  empty(id: string): State { return new State(); }
  apply(state: State, event: Event): State { return state; } }\nregister<Other>();`,
      /^11:\d+ component 'thing' is registered twice, as 'Thing' and as 'Other'/,
    ],
    [
      'a query that persists',
      command(
        '@query("a") a(s: State): State { this.persist(new Added()).thenReply(s); return 5; }',
      ),
      /^8:\d+ Type 'i32' is not assignable to type/,
    ],
  ])('%s', async (_name, source, expected) => {
    expect(await firstLine(source)).toMatch(expected);
  });
});

describe('data', () => {
  test.each([
    [
      'a case without a base',
      '@variant("a") class A {}',
      /^1:\d+ case 'A' must extend an abstract @data class that is declared in the same file$/,
    ],
    [
      'a case of a class that is not abstract',
      '@data class B {}\n@variant("a") class A extends B {}',
      /^2:\d+ case 'A' must extend an abstract @data class/,
    ],
    [
      'a base without a case',
      '@data abstract class B {}',
      /^1:\d+ abstract @data class 'B' has no case/,
    ],
    [
      'a subclass that is not a case',
      '@data abstract class B {}\n@variant("a") class A extends B {}\nclass C extends B {}',
      /^3:\d+ 'C' extends a @data class: give it @variant\("name"\)/,
    ],
    [
      'a case twice',
      '@data abstract class B {}\n@variant("a") class A extends B {}\n@variant("a") class C extends B {}',
      /^3:\d+ sum type 'B' has the case 'a' twice$/,
    ],
    [
      'a case without a name',
      '@data abstract class B {}\n@variant class A extends B {}',
      /^2:\d+ @variant needs the name that is stored/,
    ],
    [
      'a field `type` in a case',
      '@data abstract class B {}\n@variant("a") class A extends B { type: string = ""; }',
      /^2:\d+ the field `type` holds the name of the case/,
    ],
    [
      'a field of a type without a JSON form',
      '@data class A { s: Set<i32> = new Set(); }',
      /^1:\d+ type 'Set<i32>' has no JSON form: use bool, the integers/,
    ],
    [
      'a field of a plain class',
      'class P {}\n@data class A { p: P = new P(); }',
      /^2:\d+ type 'P' has no JSON form/,
    ],
    [
      'a map with keys that are not strings',
      '@data class A { m: Map<i32, i32> = new Map(); }',
      /^1:\d+ the keys of a Map must be strings/,
    ],
    [
      'a field as wide as the machine',
      '@data class A { n: usize = 0; }',
      /^1:\d+ type 'usize' has no JSON form/,
    ],
    [
      'an optional field without an initialiser',
      '@data class A { @optional n: i32; }',
      /^1:\d+ @optional field 'n' needs an initialiser/,
    ],
    ['two roles', '@data @entity("a") class A {}', /^1:\d+ a class has one role/],
  ])('%s', async (_name, source, expected) => {
    expect(await firstLine(source)).toMatch(expected);
  });
});

describe('the module', () => {
  test('an import of its own is refused with its name and place', async () => {
    const source = entity(
      '@query("a") a(s: State): i32 { return evil(); }',
      '@external("env", "evil") declare function evil(): i32;\nregister<Thing>();',
    );
    expect(await firstLine(source)).toMatch(
      /^10:\d+ the import 'evil' of 'env' is not there: a module reaches the runtime through @svc\/guest-sdk/,
    );
  });

  test('an import under the name of the contract, but not its own, is refused', async () => {
    const source = entity(
      '@query("a") a(s: State): i32 { return evil(); }',
      '@external("svc:runtime/clock@0.1.0", "evil") declare function evil(): i32;\nregister<Thing>();',
    );
    expect(await firstLine(source)).toMatch(
      /^10:\d+ the import 'evil' of 'svc:runtime\/clock@0.1.0' is not there/,
    );
  });

  test('what the standard library would import is refused with its name', async () => {
    const [problem] = await problemsOf(
      entity('@query("a") a(s: State): f64 { return performance.now(); }'),
    );
    expect(problem?.message).toMatch(/^the import 'performance.now' of 'env' is not there/);
  });

  test('a failed build has a documented code', async () => {
    const entryFile = await projects.write({ 'index.ts': '' });
    await expect(buildComponent({ entryFile })).rejects.toMatchObject({ code: 'SVC_BUILD_FAILED' });
  });

  test('nothing registered', async () => {
    const [problem] = await problemsOf(entity('', ''));
    expect(problem?.message).toMatch(/^nothing is registered: call register/);
  });

  test('a class that cannot be registered', async () => {
    expect(await firstLine(entity('', 'register<State>();'))).toMatch(
      /^10:\d+ 'State' cannot be registered: it is neither an @entity nor an @endpoint class$/,
    );
  });

  test('an error of the language is named with its file and line', async () => {
    const problems = await problemsOf({
      'index.ts':
        'import { register } from "@svc/guest-sdk";\nimport { Thing } from "./parts/thing";\nregister<Thing>();',
      'parts/thing.ts': `${ENTITY}@entity("thing") export class Thing extends EventSourcedEntity<State, Event> {
  empty(id: string): State { return new State(); }
  apply(state: State, event: Event): State { return stat; }
}`,
    });
    expect(problems).toEqual([
      {
        file: 'parts/thing.ts',
        line: 7,
        column: expect.any(Number),
        message: "Cannot find name 'stat'. (AS2304)",
      },
    ]);
  });

  test('a file that is not there, and text that does not parse', async () => {
    expect((await problemsOf('import "./missing";'))[0]?.message).toMatch(
      /^File 'missing.ts' not found/,
    );
    expect((await problemsOf('class {'))[0]).toMatchObject({ file: 'index.ts', line: 1 });
    const nowhere = buildComponent({ entryFile: join(projects.folder, 'nowhere.ts') });
    await expect(nowhere).rejects.toThrow(/nowhere\.ts' cannot be read/);
    await expect(buildComponent({ entryFile: 'index.js' })).rejects.toThrow(
      'its name must end in .ts',
    );
  });

  test('all problems of a step are said at once', async () => {
    const problems = await problemsOf(
      endpoint(
        '@get("/{id}") one(): Done { return new Done(); }\n@get("bad") two(): Done { return new Done(); }',
        '',
      ),
    );
    expect(problems.map((problem) => problem.line)).toEqual([3, 4, 5]);
  });
});
