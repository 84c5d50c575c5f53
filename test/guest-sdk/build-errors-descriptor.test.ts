// What a host would refuse of a module's descriptor fails the build, at the declaration that it is about.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { UserProjects } from './support/user-projects.ts';

let projects: UserProjects;

beforeAll(async () => {
  projects = await UserProjects.open();
});

afterAll(() => projects.remove());

const LONG = 'x'.repeat(101);
const module = (route: string, name = 'Things', head = ''): string =>
  `import { register } from "@svc/guest-sdk";
${head}
@endpoint("/things") @access("internet") class ${name} {
${route}
}
register<${name}>();`;
const route = (path: string, handler = 'get', parameters = ''): string =>
  `@get("${path}") ${handler}(${parameters}): string { return ""; }`;
const parameters = Array.from({ length: 33 }, (_, at) => `p${at}`);

test.each([
  [
    'a handler whose name is not ASCII',
    module(route('/', 'größe')),
    /^4:11 .*\/handler: must match/,
  ],
  ['a handler with a long name', module(route('/', LONG)), /^4:11 .*\/handler: must match/],
  [
    'an endpoint whose name is not ASCII',
    module(route('/'), 'Größe'),
    /^3:48 .*\/name: must match/,
  ],
  [
    'a query parameter with a long name',
    module(route('/', 'get', `${LONG}: string`)),
    /^4:11 .*\/query\/0\/name: must match/,
  ],
  [
    'a path parameter with a long name',
    module(route(`/{${LONG}}`, 'get', `${LONG}: string`)),
    /^4:\d+ .*\/parameters\/0\/name: must match/,
  ],
  ['a long path', module(route(`/${'a'.repeat(1000)}`)), /^4:\d+ .*\/path: must /],
  ['a path of too many segments', module(route('/a'.repeat(64))), /^4:\d+ .* the path /],
  ['a segment that is resolved away', module(route('/a/../b')), /^4:\d+ .* the path /],
  ['a segment that is empty', module(route('/a//b')), /^4:\d+ .* the path /],
  [
    'too many path parameters',
    module(
      route(
        parameters.map((name) => `/{${name}}`).join(''),
        'get',
        parameters.map((name) => `${name}: i32`).join(', '),
      ),
    ),
    /^4:\d+ .*\/parameters: must have 0 to 32 items/,
  ],
  [
    'a data class whose name is not ASCII',
    module(
      '@post("/") add(body: Länge): Länge { return body; }',
      'Things',
      '@data class Länge { m: i32 = 0; }',
    ),
    /^2:13 .*may not have this name: "Länge"/,
  ],
  [
    'too many routes',
    module(Array.from({ length: 1001 }, (_, at) => route(`/${at}`, `r${at}`)).join('\n')),
    /^3:48 .*\/routes: must have 0 to 1000 items/,
  ],
])('%s', async (_what, source, expected) => {
  const line = await projects.firstLine(source);
  expect(line).toMatch(expected);
  expect(line).toContain('a host would refuse the module: ');
});

test.each([
  ['a constructor', '@get("/") constructor() {}', /^4:11 a constructor cannot be a handler: /],
  [
    'a getter',
    '@get("/") get all(): string { return ""; }',
    /^4:15 handler 'all' cannot be a getter or a setter/,
  ],
  [
    'typographic quotes',
    '@get(“/”) get(): string { return ""; }',
    /^4:6 Invalid character.*straight quotes/,
  ],
])('%s that is a route', async (_what, members, expected) => {
  expect(await projects.firstLine(module(members))).toMatch(expected);
});

test('a class with a role that is exported as default', async () => {
  const source = module(route('/')).replace('class Things', 'export default class Things');
  expect(await projects.firstLine(source)).toMatch(
    /^3:63 @endpoint means nothing before a declaration that is exported as default: write export without default/,
  );
});

test('a data class of a package', async () => {
  const [problem] = await projects.problemsOf({
    'index.ts': `import { A } from "dep/assembly";\n${module('@post("/") add(body: A): string { return ""; }')}`,
    'node_modules/dep/assembly/index.ts': '@data export class A { n: i32 = 0; }',
  });
  expect(problem?.message).toMatch(/type 'A' has no JSON form: its file is part of a package/);
});

test('what follows from a name that a package lacks is left out', async () => {
  const problems = await projects.problemsOf({
    'index.ts': `import { A } from "dep/assembly";\n${module('@get("/") get(): string { const a = new A(); return a.x; }')}`,
    'node_modules/dep/assembly/index.ts': 'export class A {\n  x: Strin = "";\n}',
  });
  expect(problems).toEqual([
    expect.objectContaining({
      file: '~lib/dep/assembly/index.ts',
      line: 2,
      message: expect.stringContaining("Cannot find name 'Strin'") as string,
    }),
  ]);
});
