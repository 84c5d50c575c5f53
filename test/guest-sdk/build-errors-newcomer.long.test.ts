// Mistakes in a first component. Each has one message, at the line of the mistake and never in written code, with
// help on what to write instead.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { buildComponent } from '../../guest-sdk/compiler/index.ts';
import { UserProjects, entity, problemLine } from './support/user-projects.ts';

let projects: UserProjects;

beforeAll(async () => {
  projects = await UserProjects.open();
});

afterAll(() => projects.remove());

const QUERY = '@query("get") get(s: State): State { return s; }';
const query = (body: string, tail = ''): string =>
  `${entity(`@query("get") get(s: State): State { ${body} return s; }`)}\n${tail}`;
const command = (returned: string): string =>
  entity(`@command("c") c(s: State): Effect<Done> { return ${returned}; }`);
/** Returns a class with this name, whose field is on line 2. */
const field = (text: string, tail = ''): string =>
  `${entity(QUERY).replace('n: i32 = 0;', `n: i32 = 0; ${text}`)}\n${tail}`;
const reply = (text: string): string =>
  `${entity('@query("get") get(s: State): Reply { return new Reply(); }')}\n@data class Reply { ${text} }`;
const input = (text: string): string =>
  `${entity('@command("c") c(s: State, i: Input): Effect<Done> { return this.reply(new Done()); }')}\n@data class Input { ${text} }`;
const event = (text: string): string =>
  entity(QUERY).replace('extends Event {}', `extends Event { ${text} }`);
const endpoint = (handler: string): string =>
  `import { Done, Response, Result, ok, register } from "@svc/guest-sdk";
@data class Body { n: i32 = 0; }
@endpoint("/things") @access("internet") class Things {
${handler}
}
register<Things>();`;

async function theOnlyProblem(source: string): Promise<string> {
  const problems = await projects.problemsOf(source);
  const [problem] = problems;
  expect(problems.map((one) => problemLine(one))).toHaveLength(1);
  expect(problem).toMatchObject({ file: 'index.ts' });
  return `${problem!.line}:${problem!.column} ${problemLine(problem)}`;
}

const NOT_FOUND = (line: number): RegExp =>
  new RegExp(`^${line}:\\d+ Cannot find name 'Foo'\\. \\(AS2304\\): declare it, or import it`);
const NOT_NULLABLE = (line: number): RegExp =>
  new RegExp(
    `^${line}:\\d+ Type 'i32' cannot be nullable\\. \\(AS204\\): only classes can be null`,
  );

describe('types of fields', () => {
  test.each([
    ['a state: a type that is not imported', field('m: Foo = new Foo();'), NOT_FOUND(2)],
    ['a list of it', field('m: Foo[] = [];'), NOT_FOUND(2)],
    ['a map of it', field('m: Map<string, Foo> = new Map();'), NOT_FOUND(2)],
    ['one that may be null', field('m: Foo | null = null;'), NOT_FOUND(2)],
    ['a reply: a type that is not imported', reply('m: Foo = new Foo();'), NOT_FOUND(11)],
    ['an input: a type that is not imported', input('m: Foo = new Foo();'), NOT_FOUND(11)],
    ['an event: a type that is not imported', event('m: Foo = new Foo();'), NOT_FOUND(4)],
    ['a state: a number that may be null', field('k: i32 | null = null;'), NOT_NULLABLE(2)],
    ['a reply: a number that may be null', reply('k: i32 | null = null;'), NOT_NULLABLE(11)],
    ['an input: a number that may be null', input('k: i32 | null = null;'), NOT_NULLABLE(11)],
    ['an event: a number that may be null', event('k: i32 | null = null;'), NOT_NULLABLE(4)],
    [
      'in a class with type parameters',
      field('m: Page<i32> = new Page<i32>();', '@data class Page<T> { item: T | null = null; }'),
      NOT_NULLABLE(11),
    ],
    [
      'type arguments that are missing',
      field('m: Page = new Page();', '@data class Page<T> { items: T[] = []; }'),
      /^2:\d+ Expected 1 type arguments, but got 0\..*: write them: Response<Book>/,
    ],
    ['any', field('m: any = 0;'), /^2:\d+ Cannot find name 'any'.*: write the type: a @data class/],
    ['Record', field('m: Record<string, i32> = {};'), /^2:.*: use Map<string, T>/],
    [
      'a set',
      field('m: Set<string> = new Set();'),
      /^2:.*type 'Set<string>'.*use an array, string\[\]/,
    ],
    ['null without saying so', field('m: i32[] = null;'), /^2:.*: say that it may be null/],
    [
      'an object for a map',
      field('m: Map<string, i32> = {};'),
      /^2:.*: write new Map<string, i32>\(\)/,
    ],
    [
      'a type of an object',
      field('m: { a: i32 } = { a: 1 };'),
      /^2:.*: types of objects .* write a class/,
    ],
    ['undefined', field('m: string | undefined = undefined;'), /^2:.*: there is no undefined/],
    ['an unknown initial value', field('@optional m: i32 = foo;'), /^2:\d+ Cannot find name 'foo'/],
    [
      'an interface',
      field('m: Shape | null = null;', 'interface Shape { a: i32; }'),
      /^2:.*: write a @data class in the place of the interface$/,
    ],
    [
      'an enum of texts',
      field('m: Kind = Kind.A;', '@data enum Kind { A = "a", B = "b" }'),
      /^11:\d+ a member of an enum is a number: 'Kind\.A'.*: leave the values away: @data enum Kind \{ A, B \}/,
    ],
    [
      'the name of a member',
      field('m: Kind = "A";', '@data enum Kind { A, B }'),
      /^2:\d+ Type 'string' is not assignable to type 'Kind'.*: name a member: Kind\.A$/,
    ],
    [
      'a sum type itself',
      field(
        'm: Shape = new Shape();',
        '@data abstract class Shape {}\n@variant("c") class Circle extends Shape {}',
      ),
      /^2:.*abstract class.*: make an object of one of its cases: new Circle\(\)/,
    ],
    [
      'no @data',
      field('').replace('@data class State', 'class State'),
      /^5:\d+ the state 'State' must be a @data class/,
    ],
    [
      'no @variant',
      field('').replace('@variant("added")', ''),
      /^4:\d+ 'Added' extends a @data class: give it @variant\("name"\)/,
    ],
  ])('%s', async (_name, source, expected) => {
    expect(await theOnlyProblem(source)).toMatch(expected);
  });
});

describe('names', () => {
  test.each([
    [
      'a field, mistyped',
      query('if (s.count == 1) {}').replace('n: i32 = 0;', 'n: i32 = 0; counts: i32 = 0;'),
      /^8:.*: did you mean 'counts'\?$/,
    ],
    [
      'a field that is compared',
      query('const t = s.naem == "a" ? 1 : 2;').replace(
        'n: i32 = 0;',
        'n: i32 = 0; name: string | null = null;',
      ),
      /^8:\d+ Property 'naem' does not exist on type 'State'\. \(AS2339\): did you mean 'name'\?$/,
    ],
    ['a field that is like none', query('s.z;'), /^8:.*: it has n, clone$/],
    [
      'a member of the SDK',
      command('this.presist(new Added()).thenReply(new Done())'),
      /^8:.*: did you mean 'persist'\?$/,
    ],
    [
      'a member of an enum of the SDK',
      command('this.refuse<Done>("x", Code.TEAPOT)'),
      /^8:.*: it has BAD_REQUEST, /,
    ],
    [
      'a member of the standard library',
      query('const l: i32[] = []; l.pushh(1);'),
      /^8:.*: did you mean 'push'\?$/,
    ],
    ['a variable', query('const count = 1; cont;'), /^8:.*: did you mean 'count'\?$/],
    ['a class', query('const a = new Stat();'), /^8:.*: did you mean 'State'\?$/],
    [
      'the state of an entity',
      entity(QUERY).replace('<State, Event>', '<Stat, Event>'),
      /^5:.*'Stat'.*: did you mean 'State'\?$/,
    ],
    [
      'a case',
      entity(QUERY).replace('instanceof Added', 'instanceof Addd'),
      /^7:.*: did you mean 'Added'\?$/,
    ],
    [
      'the type of an event',
      entity(QUERY).replace('event instanceof Added', 'event.type == "added"'),
      /^7:.*: ask which case it is: if \(event instanceof Added\)/,
    ],
    [
      'no @entity',
      entity(QUERY).replace('@entity("thing")', ''),
      /^5:\d+ class 'Thing' has handlers, and does not say what it is: write @entity\("thing"\) before it$/,
    ],
    [
      'no @endpoint',
      endpoint('@get("/") get(): Done { return new Done(); }').replace(
        '@endpoint("/things") @access("internet")',
        '',
      ),
      /^3:\d+ class 'Things' has handlers, .*: write @endpoint\("\/things"\) @access\("internet"\) before it$/,
    ],
  ])('%s', async (_name, source, expected) => {
    expect(await theOnlyProblem(source)).toMatch(expected);
  });

  test('a class of another file that is not imported', async () => {
    const [problem, ...more] = await projects.problemsOf({
      'index.ts': `import "./shapes";\n${field('m: Shape = new Shape();')}`,
      'shapes.ts': '@data export class Shape { n: i32 = 0; }',
    });
    expect(problem).toMatchObject({ line: 3, help: 'import { Shape } from its file, shapes.ts' });
    expect(more).toEqual([]);
  });

  test('a class that its file keeps to itself is said once, where it is imported', async () => {
    const problems = await projects.problemsOf({
      'index.ts': `import { Shape } from "./shapes";\n${field('m: Shape = new Shape();')}`,
      'shapes.ts': 'class Shape { n: i32 = 0; }',
    });
    expect(problems.map(({ line, help }) => [line, help])).toEqual([
      [1, 'write export before its declaration there'],
    ]);
  });

  test.each([
    ['Lending', 'it is not declared there: import { Lending } from its file, state.ts'],
    ['Done', 'it is not declared there: add import { Done } from "@svc/guest-sdk";'],
    ['Titel', "did you mean 'Title'?"],
    ['Unknown', 'it is not declared there: declare it with export'],
  ])('%s, imported from a file that does not declare it', async (name, help) => {
    const problems = await projects.problemsOf({
      'index.ts': `import { ${name} } from "./title";\nconst made = new ${name}();`,
      'title.ts':
        'import { Lending } from "./state";\nimport { Done } from "@svc/guest-sdk";\nexport class Title { n: Lending = new Lending(); }\nexport function done(): Done { return new Done(); }',
      'state.ts': '@data export class Lending { n: i32 = 0; }',
    });
    expect(problems.map((one) => one.line)).toEqual([1]);
    expect(problems[0]?.help).toContain(help);
  });

  test('a conflict of a merge is named at its first marker, once for a file', async () => {
    const CONFLICT = '\n<<<<<<< HEAD\nconst a = 1;\n=======\nconst b = 1;\n>>>>>>> other\n';
    const problems = await projects.problemsOf({
      'index.ts': `import { x } from "./other";\n${entity(QUERY)}${CONFLICT}`,
      'other.ts': `export const x = 1;${CONFLICT}`,
    });
    expect(problems.map(({ file, line, message }) => [file, line, message])).toEqual([
      ['index.ts', 12, 'the file has a marker of a merge conflict'],
      ['other.ts', 2, 'the file has a marker of a merge conflict'],
    ]);
    expect(problems[0]?.help).toMatch(/^resolve the conflict/);
  });

  test('a conflict inside of a class is named, too', async () => {
    const CONFLICT = `<<<<<<< HEAD\n${QUERY}\n=======\n${QUERY.replaceAll('get', 'look')}\n>>>>>>> other`;
    expect(await projects.firstLine(entity(CONFLICT))).toMatch(
      /^8:1 the file has a marker of a merge conflict: resolve the conflict/,
    );
  });
});

/** Returns a handler that has checked whether `loan` is null. */
const looked = (handler: string): string =>
  `${entity(handler).replace('ok, ', 'ok, refuse, ')}
@data class Loan { n: i32 = 0; }
function find(s: State): Loan | null { return s.n > 0 ? new Loan() : null; }`;
const AFTER_CHECK = (returned: string): string =>
  looked(
    `@command("c") c(s: State): Effect<Loan> { const loan = find(s); if (loan) return ${returned}; return this.refuse<Loan>("no"); }`,
  );
const QUERY_AFTER_CHECK = (body: string): string =>
  looked(`@query("c") c(s: State): Result<Loan> { const loan = find(s); ${body} }`);

describe('a value after its check for null', () => {
  const KEEPS = 'an inferred type argument keeps the \\| null, also after a check: write it, ';
  test.each([
    ['a reply', AFTER_CHECK('this.reply(loan)'), `${KEEPS}reply<Loan>\\(value\\); or declare`],
    [
      'a reply after an event',
      AFTER_CHECK('this.persist(new Added()).thenReply(loan)'),
      `${KEEPS}thenReply<Loan>\\(value\\); or declare`,
    ],
    [
      'an answer',
      QUERY_AFTER_CHECK('if (loan) return ok(loan); return refuse<Loan>("no");'),
      `${KEEPS}ok<Loan>\\(value\\); or declare`,
    ],
    [
      'one of two answers',
      QUERY_AFTER_CHECK('return loan ? ok(loan) : refuse<Loan>("no");'),
      'the two sides of \\? : have no common type, .*write it on both',
    ],
  ])('%s: its type argument is written out', async (_name, source, help) => {
    expect(await theOnlyProblem(source)).toMatch(new RegExp(`^8:.*: ${help}`));
  });

  test.each([
    ['a reply', AFTER_CHECK('this.reply<Loan>(loan)')],
    ['a reply after an event', AFTER_CHECK('this.persist(new Added()).thenReply<Loan>(loan)')],
    ['an answer', QUERY_AFTER_CHECK('return loan ? ok<Loan>(loan) : refuse<Loan>("no");')],
  ])('%s with the type argument builds', async (_name, source) => {
    const entryFile = await projects.write({ 'index.ts': source });
    expect((await buildComponent({ entryFile, optimizeLevel: 0 })).warnings).toEqual([]);
  });
});

describe('what handlers return', () => {
  test.each([
    [
      'events without a reply',
      command('this.persist(new Added())'),
      /^8:.*: say what the caller gets: /,
    ],
    [
      'a refusal of a query',
      command('refuse<Done>("x")').replace('ok, ', 'ok, refuse, '),
      /^8:.*: a command makes its effect with this/,
    ],
    [
      'a reply of another type',
      command('this.reply(s)'),
      /^8:.*: it replies State: declare the command as Effect<State>/,
    ],
    ['nothing', command('this.reply()'), /^8:.*: when there is nothing to say: new Done\(\)$/],
    ['null', command('this.reply(null)'), /^8:.*: when there is nothing to say: new Done\(\)$/],
    ['an object', command('this.reply({ n: 1 })'), /^8:.*: an object literal needs a type/],
    [
      'a state as an event',
      command('this.persist(s).thenReply(new Done())'),
      /^8:.*: an event is an object of one of the cases/,
    ],
    [
      'a list as an event',
      command('this.persist([new Added()]).thenReply(new Done())'),
      /^8:.*persistAll/,
    ],
    [
      'a class as an event',
      command('this.persist(Added).thenReply(new Done())'),
      /^8:.*: make an object of the class/,
    ],
    [
      'a code as text',
      command('this.refuse<Done>("x", "CONFLICT")'),
      /^8:.*: the code is a member of Code/,
    ],
    [
      'a type without JSON',
      command('this.reply(new Set<i32>())'),
      /^8:50 toJson is called with a type that has no JSON form: give it/,
    ],
    [
      'void',
      entity('@query("c") c(s: State): void {}'),
      /^8:.*: return Done when there is nothing to say$/,
    ],
    [
      'a value for a Result',
      endpoint('@get("/") p(): Result<Body> { return new Body(); }'),
      /^4:.*: return ok\(value\)$/,
    ],
    [
      'a Result for a value',
      endpoint('@get("/") p(): Body { return ok(new Body()); }'),
      /^4:.*: look first, if \(!result\.isOk\)/,
    ],
    [
      'another type',
      endpoint('@get("/") p(): Body { return new Done(); }'),
      /^4:.*: a function returns what it names/,
    ],
    [
      'a Response of what',
      endpoint('@get("/") p(): Response { return new Response(new Body()); }'),
      /^4:.*: write them: Response<Book>/,
    ],
    [
      'no value',
      entity('@query("c") c(s: State): State { }'),
      /^8:.*: return a value on every way/,
    ],
  ])('%s', async (_name, source, expected) => {
    expect(await theOnlyProblem(source)).toMatch(expected);
  });
});

describe('what the SDK and the standard library cannot do with a type', () => {
  test.each([
    [
      'JSON of a set',
      query('toJson(new Set<i32>());').replace('ok, ', 'ok, toJson, '),
      /^8:38 toJson is called with a type that has no JSON form: give it a @data class/,
    ],
    [
      'the order of objects',
      query('const l: State[] = []; l.sort();'),
      /^8:\d+ Operator '>'.*: say what comes first/,
    ],
    [
      'the text of objects',
      query('const l: State[] = []; l.join();'),
      /^8:\d+ Property 'toString'.*: write a method toString/,
    ],
  ])('%s stands where it was asked for', async (_name, source, expected) => {
    expect(await theOnlyProblem(source)).toMatch(expected);
  });
});
