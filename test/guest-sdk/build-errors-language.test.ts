// Habits from TypeScript: AssemblyScript's own messages, with help on what to write instead.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { UserProjects, entity } from './support/user-projects.ts';

let projects: UserProjects;

beforeAll(async () => {
  projects = await UserProjects.open();
});

afterAll(() => projects.remove());

const query = (body: string): string =>
  entity(`@query("get") get(s: State): State { ${body} return s; }`);
const holder = (field: string): string =>
  `${entity('@query("get") get(s: State): Holder { return new Holder(); }')}
@data enum Colour { Red }
@data class Holder { ${field} }`;

test.each([
  [
    'a number that may be null',
    holder('n: i32 | null = null;'),
    /'i32' cannot be nullable.*: only classes can be null: in a field of a @data class write NullablePatch/,
  ],
  [
    'a query parameter that is a number and may be null',
    `import { register } from "@svc/guest-sdk";
@endpoint("/books") @access("local") class Books {
  @get("/")
  search(text: string, limit: i32 | null): string { return text; }
}
register<Books>();`,
    /^4:\d+ Type 'i32' cannot be nullable.*: only classes can be null: give the parameter a default, limit: i32 = 20, or take a list/,
  ],
  ['an enum that may be null', holder('c: Colour | null = null;'), /or a member None of the enum$/],
  [
    'a variable that is null before it has a type',
    query('let found = null; found = s;'),
    /^8:\d+ Type 'State' is not assignable to type 'usize'.*: null by itself has no class: write the type/,
  ],
  [
    'a null without a type where text is wanted',
    query('const none = null; const text: string = none;'),
    /^8:\d+ Type 'usize' is not assignable to type 'string'.*: null by itself has no class/,
  ],
  ['a union', holder('u: string | i32 = 3;'), /a @variant class for each case, or a @data enum/],
  ['an optional property', holder('name?: string;'), /@optional name: string = ""/],
  [
    'a field without a value',
    holder('name: string;'),
    /^12:\d+ Property 'Holder.name' has no initializer .*: write a value: name: string = ""/,
  ],
  ['try and catch', query('try { s.n; } catch (e) {}'), /what can fail gives a Result/],
  ['a loop over values', query('for (const one of [1, 2]) s.n;'), /for \(let i = 0; i < list/],
  [
    'a package that is not there',
    `import { z } from "left-pad";\n${query('')}`,
    /^1:\d+ File 'left-pad.ts' not found.*: a module imports "@svc\/guest-sdk", its own files/,
  ],
  [
    'an async handler',
    entity('@query("a") async a(s: State): State { return s; }'),
    /^8:.* answer at once/,
  ],
  ['a wait', query('await s.n;'), /calls of entities answer at once: .* without async, await/],
  [
    'a field without a type',
    holder('n = 1;'),
    /^12:.*Type expected.*: write the type, name: i32 = 1/,
  ],
  [
    'a refusal of no type',
    entity('@query("a") a(s: State): Result<State> { return refuse("x"); }').replace(
      'ok, ',
      'ok, refuse, ',
    ),
    /write it out: this.refuse<Reply>/,
  ],
  [
    'an import with its ending',
    `import { a } from "./a.ts";\n${query('')}`,
    /leave the ending away: import … from "\.\/file"$/,
  ],
  [
    'a value without a JSON form',
    entity('@query("a") a(s: State): string { return toJson(new Set<i32>()); }').replace(
      'ok, ',
      'ok, toJson, ',
    ),
    /^8:42 toJson is called with a type that has no JSON form: give it a @data class/,
  ],
  [
    'a name of the SDK that is not imported',
    query('toJson(s);'),
    /add import \{ toJson \} from "@svc\/guest-sdk";$/,
  ],
])('%s', async (_name, source, expected) => {
  expect(await projects.firstLine(source)).toMatch(expected);
});

test('a field of a case that is taken from the event', async () => {
  const source = entity('@query("get") get(s: State): State { return s; }')
    .replace('extends Event {}', 'extends Event { by: i32 = 0; }')
    .replace('state.n += 1', 'state.n += event.by');
  expect(await projects.firstLine(source)).toMatch(
    /^7:\d+ Property 'by' does not exist on type 'Event'\. \(AS2339\): it is a member of 'Added': instanceof does not narrow the type, write \(event as Added\)\.by$/,
  );
});

test('an object literal without a type is an error beside others, and what uses its variable is none', async () => {
  const problems = await projects.problemsOf({
    'index.ts': `import { register } from "@svc/guest-sdk";
@data class Total { n: i32 = 0; }
@endpoint("/totals") @access("local") class Totals {
  @get("/a") a(): Total {
    const total = { n: 1 };
    total.n = 2;
    return total;
  }
  @get("/b") b(): Total {
    const total = new Total();
    total.n = unknown1;
    return total;
  }
}
register<Totals>();`,
  });
  expect(problems.map(({ line, message }) => [line, message])).toEqual([
    [5, "Type '<object>' is not assignable to type 'auto'. (AS2322)"],
    [11, "Cannot find name 'unknown1'. (AS2304)"],
  ]);
});

test('of errors of one line with the same help the first is named', async () => {
  const [problem, ...more] = await projects.problemsOf({
    'index.ts': entity('@query("get") get(s: State): State { s.mm = 1; s.kk = 2; return s; }'),
  });
  expect(problem?.message).toBe("Property 'mm' does not exist on type 'State'. (AS2339)");
  expect(more).toEqual([]);
});

test('a type that was not imported is named where it is written, not in what the SDK has written', async () => {
  const [problem, ...more] = await projects.problemsOf({
    'index.ts': `import { Result, register } from "@svc/guest-sdk";
import { Thing, ThingClient } from "./thing";
@endpoint("/things") @access("local") class Things {
  @get("/{id}") get(id: string): Result<State> { return new ThingClient(id).get(); }
}
register<Thing>();
register<Things>();`,
    'thing.ts': entity('@query("get") get(s: State): State { return s; }', '').replace(
      'class Thing ',
      'export class Thing ',
    ),
  });
  expect(problem).toMatchObject({
    file: 'index.ts',
    line: 4,
    message: "Cannot find name 'State'. (AS2304)",
  });
  expect(more).toEqual([]);
});

test('a class that its file keeps to itself', async () => {
  const [problem] = await projects.problemsOf({
    'index.ts': 'import { Own } from "./parts/own";\nconst own = new Own();',
    'parts/own.ts': 'class Own {}',
  });
  expect(problem).toMatchObject({
    line: 1,
    message: "Module 'parts/own' has no exported member 'Own'. (AS2305)",
    help: 'write export before its declaration there',
  });
});
