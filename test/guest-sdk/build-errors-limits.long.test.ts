// A build that the compiler cannot finish ends with a BuildError, and the next build works.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { buildComponent, BuildError } from '../../guest-sdk/compiler/index.ts';
import { QUERY, UserProjects, entity } from './support/user-projects.ts';

let projects: UserProjects;

beforeAll(async () => {
  projects = await UserProjects.open();
});

afterAll(() => projects.remove());

const good = { 'index.ts': entity(QUERY) };
const failureOf = (build: Promise<unknown>): Promise<BuildError> =>
  build.then(
    () => {
      throw new Error('the build did not fail as it should');
    },
    (error: unknown) => {
      if (!(error instanceof BuildError)) throw error;
      return error;
    },
  );

test('a crash of the compiler is a BuildError that says so and what to do', async () => {
  const endless = 'class P<T> { constructor() { new P<P<T>>(); } }';
  const entryFile = await projects.write({
    'index.ts': entity(
      '@query("a") a(s: State): State { new P<i32>(); return s; }',
      `${endless}\nregister<Thing>();`,
    ),
  });
  const failure = await failureOf(buildComponent({ entryFile }));
  expect(failure.message).toMatch(
    // At the end of the stack there may be no room for its own message.
    /AssemblyScript's compiler crashed on .*index\.ts: in its step 'compile'(?:: RangeError: Maximum call stack|$)/m,
  );
  expect(failure.message).toMatch(/\nhelp: take back the last change/);
  expect(failure.message).not.toMatch(/^\s+at /m);
  const built = await buildComponent({ entryFile: await projects.write(good) });
  expect(built.descriptor.entities).toHaveLength(1);
});

test('an exception of the compiler that it does not catch itself is a BuildError too', async () => {
  const deep = `${'('.repeat(20_000)}1${')'.repeat(20_000)}`;
  const entryFile = await projects.write({ 'index.ts': `export const x: i32 = ${deep};` });
  const failure = await failureOf(buildComponent({ entryFile }));
  expect(failure.message).toMatch(/compiler crashed on .*: RangeError: Maximum call stack size/);
  expect(failure.message).not.toMatch(/^\s+at /m);
});

test('a build beyond its time is stopped, and says how long it had', async () => {
  const entryFile = await projects.write(good);
  const failure = await failureOf(buildComponent({ entryFile, timeoutMs: 1 }));
  expect(failure.message).toMatch(/did not end within 1 ms and was stopped\nhelp: .*timeoutMs$/);
  expect((await buildComponent({ entryFile })).descriptor.entities).toHaveLength(1);
});

test('a build beyond its memory is stopped, and says how much it had', async () => {
  const entryFile = await projects.write(good);
  const failure = await failureOf(buildComponent({ entryFile, heapMaxMb: 24 }));
  expect(failure.message).toMatch(/used up its memory of 24 MiB .*\nhelp: .*raise heapMaxMb$/);
  expect((await buildComponent({ entryFile })).descriptor.entities).toHaveLength(1);
});

test('builds at the same time do not meet', async () => {
  const entryFiles = await Promise.all([projects.write(good), projects.write(good)]);
  const bad = await projects.write({ 'index.ts': 'const a: i32 = "a";' });
  const [first, failure, second] = await Promise.all([
    buildComponent({ entryFile: entryFiles[0] }),
    failureOf(buildComponent({ entryFile: bad })),
    buildComponent({ entryFile: entryFiles[1] }),
  ]);
  expect(Buffer.from(first.component).equals(second.component)).toBe(true);
  expect(failure.problems).toHaveLength(1);
});
