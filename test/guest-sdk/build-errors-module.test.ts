// The compiler's messages about a whole module: imports, registrations, errors of the language.
import { join, relative } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { buildComponent, problemText } from '../../guest-sdk/compiler/index.ts';
import { ENTITY, QUERY, UserProjects, entity, problemLine } from './support/user-projects.ts';

let projects: UserProjects;

beforeAll(async () => {
  projects = await UserProjects.open();
});

afterAll(() => projects.remove());

const firstLine = (source: string): Promise<string> => projects.firstLine(source);

describe('the module', () => {
  test('a failed build has a documented code', async () => {
    const entryFile = await projects.write({ 'index.ts': '' });
    await expect(buildComponent({ entryFile, optimizeLevel: 0 })).rejects.toMatchObject({
      code: 'SVC_BUILD_FAILED',
    });
  });

  test('nothing registered', async () => {
    const [problem] = await projects.problemsOf(entity(QUERY, ''));
    expect(problemLine(problem)).toMatch(
      /^nothing is registered: call register.*: add to index\.ts:\nregister<Thing>\(\);$/s,
    );
  });

  test('a class that cannot be registered', async () => {
    expect(await firstLine(entity(QUERY, 'register<State>();'))).toMatch(
      /^10:\d+ 'State' cannot be registered: it is no @entity, @endpoint, @view or @consumer class$/,
    );
  });

  test('a class that is registered where the module runs already', async () => {
    const inHandler = entity(
      '@query("a") a(s: State): State { register<Thing>(); return s; }',
      'register<Thing>();',
    );
    expect(await firstLine(inHandler)).toMatch(
      /^8:\d+ register must stand at the top level of a file/,
    );
  });

  test('a class that is not registered is remarked, with the line to add', async () => {
    const entryFile = await projects.write({
      'index.ts': `${entity(QUERY, '')}
@endpoint("/x") @access("local") class Other { @get("/") get(): Done { return new Done(); } }
import * as svc from "@svc/guest-sdk";
svc.register<Other>();`,
    });
    const { warnings } = await buildComponent({ entryFile, optimizeLevel: 0 });
    expect(warnings.map((warning) => problemText(warning))).toEqual([
      `index.ts:5:24: warning: entity 'Thing' is not registered: the module does not have it
  5 | @entity("thing") class Thing extends EventSourcedEntity<State, Event> {
    |                        ^^^^^
help: add to index.ts, at its top level: register<Thing>();`,
    ]);
  });

  test('a class that is registered again is remarked', async () => {
    const twice = entity(QUERY, 'register<Thing>();\nregister<Thing>();');
    const entryFile = await projects.write({ 'index.ts': twice });
    const { warnings } = await buildComponent({ entryFile, optimizeLevel: 0 });
    expect(warnings.map((warning) => problemText(warning))).toEqual([
      expect.stringMatching(/^index\.ts:\d+:1: warning: 'Thing' is registered already\n/),
    ]);
  });

  test('an error of the language is named with its file and line', async () => {
    const problems = await projects.problemsOf({
      'index.ts':
        'import { register } from "@svc/guest-sdk";\nimport { Thing } from "./parts/thing";\nregister<Thing>();',
      'parts/thing.ts': `${ENTITY}@entity("thing") export class Thing extends EventSourcedEntity<State, Event> {
  empty(id: string): State { return new State(); }
  apply(state: State, event: Event): State { state.n++; return stat; }
  ${QUERY}
}`,
    });
    expect(problems).toMatchObject([
      {
        file: 'parts/thing.ts',
        line: 7,
        column: expect.any(Number),
        message: "Cannot find name 'stat'. (AS2304)",
      },
    ]);
  });

  test('a file that is not there, and text that does not parse', async () => {
    expect((await projects.problemsOf('import "./missing";'))[0]?.message).toMatch(
      /^File 'missing.ts' not found/,
    );
    expect((await projects.problemsOf('class {'))[0]).toMatchObject({ file: 'index.ts', line: 1 });
    const nowhere = buildComponent({ entryFile: join(projects.folder, 'nowhere.ts') });
    await expect(nowhere).rejects.toThrow(/nowhere\.ts' cannot be read/);
    await expect(buildComponent({ entryFile: 'index.js' })).rejects.toThrow(
      'its name must end in .ts',
    );
  });

  test('what there is to say of declarations and of types is said at once, by file and line', async () => {
    const problems = await projects.problemsOf({
      'index.ts': `import { Done, register } from "@svc/guest-sdk";
import { Body } from "./body";
@endpoint("/things") class Things {
  @get("/{id}") one(): Done { return new Done(); }
  @get("bad") two(): Done { return new Done(); }
  @post("/") three(body: Body): Set<i32> { return new Set(); }
}
register<Things>();
register<Body>();`,
      'body.ts': '@data export class Body { a: Set<i32> = new Set(); }',
    });
    expect(problems.map(({ file, line }) => `${file}:${line}`)).toEqual([
      'body.ts:1',
      'index.ts:3',
      'index.ts:4',
      'index.ts:5',
      'index.ts:6',
      'index.ts:9',
    ]);
  });

  test('files are named as the caller names the entry file', async () => {
    const entryFile = relative('', await projects.write({ 'index.ts': 'const a: i32 = "a";' }));
    const failure = await buildComponent({ entryFile, optimizeLevel: 0 }).catch(
      (error: unknown) => error,
    );
    expect(failure).toMatchObject({ problems: [{ file: entryFile, line: 1, column: 16 }] });
  });

  test('what TypeScript has and AssemblyScript has not is named with what to use', async () => {
    const problems = await projects.problemsOf(
      entity(
        `@query("a") a(s: State): State { fetch("http://x"); return s; }
@query("b") b(s: State): State { setTimeout(0); return s; }
@query("c") c(s: State): Result<State> { return refuse<State>(3); }`,
      ),
    );
    const lines = problems.map((problem) => problemLine(problem));
    expect(lines[0]).toMatch(/^Cannot find name 'fetch'. \(AS2304\): a module has no network/);
    expect(lines[1]).toMatch(
      /^Cannot find name 'setTimeout'. \(AS2304\): a module runs while it is called; to do something later, set a timer/,
    );
    expect(lines[2]).toMatch(/'refuse'.*: add import \{ refuse \} from "@svc\/guest-sdk"/);
  });
});
