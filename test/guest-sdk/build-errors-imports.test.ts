// An import outside of the contract is refused, at the author's line that leads to it.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { QUERY, UserProjects, entity, problemLine } from './support/user-projects.ts';

let projects: UserProjects;

beforeAll(async () => {
  projects = await UserProjects.open();
});

afterAll(() => projects.remove());

const firstLine = (source: string): Promise<string> => projects.firstLine(source);

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
    '@external("svc:runtime/clock@0.2.0", "evil") declare function evil(): i32;\nregister<Thing>();',
  );
  expect(await firstLine(source)).toMatch(
    /^10:\d+ the import 'evil' of 'svc:runtime\/clock@0.2.0' is not there/,
  );
});

test('what the standard library would import is refused at the lines that call it', async () => {
  const problems = await projects.problemsOf({
    'index.ts': entity(
      `@query("a") a(s: State): f64 {
  return performance.now() + elsewhere([1.5]);
}
@query("b") b(s: State): i32 { process.exit(1); return 1; }
@query("c") c(s: State): u64 { return process.hrtime(); }`,
      'import { elsewhere } from "./elsewhere";\nregister<Thing>();',
    ),
    'elsewhere.ts': `export function elsewhere(list: f64[]): f64 {
  const bytes = new Uint8Array(1);
  crypto.getRandomValues(bytes);
  return list.map<f64>((n) => n * performance.now())[0];
}`,
  });
  expect(problems.map(({ file, line, message }) => `${file}:${line} ${message}`)).toEqual([
    expect.stringMatching(/^elsewhere\.ts:3 the import 'crypto\.getRandomValuesN' of 'env'/),
    expect.stringMatching(/^elsewhere\.ts:4 the import 'performance\.now' of 'env'/),
    expect.stringMatching(/^index\.ts:9 the import 'performance\.now' of 'env'/),
    expect.stringMatching(/^index\.ts:11 the import 'process\.exit' of 'env'/),
    expect.stringMatching(/^index\.ts:12 the import 'performance\.now' of 'env'/),
  ]);
  expect(problemLine(problems[1])).toMatch(/: use Date\.now\(\), the clock of the runtime/);
  expect(problems[2]).toMatchObject({ column: 10, length: 'performance.now'.length });
});

test('an import that is handed on as a function is found where it is named', async () => {
  const source = entity(
    `@query("a") a(s: State): f64 {
  return use(performance.now);
}`,
    'function use(clock: () => f64): f64 { return clock(); }\nregister<Thing>();',
  );
  expect(await firstLine(source)).toMatch(/^9:14 the import 'performance\.now' of 'env'/);
});

test('an import that the start of the module leads to is found', async () => {
  const source = entity(
    QUERY,
    'const started: f64 = performance.now();\nregister<Thing>();\nexport function at(): f64 { return started; }',
  );
  expect(await firstLine(source)).toMatch(/^10:22 the import 'performance\.now' of 'env'/);
});
