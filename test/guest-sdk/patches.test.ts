// `Patch` and `NullablePatch`: fields that distinguish absent, null and a value when they are read, written and
// described, and invalid uses. The handlers of the page about partial updates run here.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseModuleDescriptor } from '@svc/contract';
import { buildComponent } from '@svc/guest-sdk/compiler';
import {
  type ModuleUnderTest,
  testEndpoints,
  testEntity,
  testModule,
} from '@svc/guest-sdk/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { UserProjects } from './support/user-projects.ts';

const fixture = join(import.meta.dirname, '../../fixtures/member/assembly/index.ts');
const EVERY = `import { Done, Effect, EventSourcedEntity, NullablePatch, Patch as Maybe, register } from "@svc/guest-sdk";
@data enum Colour { Red, Green }
@data class Inner { a: i32 = 0; deeper: Maybe<Inner> = new Maybe(); }
@data class Every {
  flag: Maybe<bool> = new Maybe(); colour: NullablePatch<Colour> = new NullablePatch();
  big: NullablePatch<u64> = new NullablePatch(); list: NullablePatch<i32[]> = new NullablePatch();
  @alias("old") inner: Maybe<Inner> = new Maybe(); readonly when: NullablePatch<Date> = new NullablePatch();
}
@data class Mixed { first: Maybe<i32> = new Maybe(); always: i32 = 1; last: Maybe<i32> = new Maybe(); }
@data abstract class Change {}
@variant("changed") class Changed extends Change { every: Every = new Every(); text: Maybe<string> = new Maybe(); }
@data class State { changes: Change[] = []; }
@entity("every") class Everys extends EventSourcedEntity<State, Change> {
  empty(id: string): State { return new State(); }
  apply(state: State, change: Change): State { if (change instanceof Changed) state.changes.push(change); return state; }
  @command("change") change(state: State, every: Every): Effect<Done> {
    const changed: Changed = { every: every.clone(), text: Maybe.of("x") };
    return this.persist(changed).thenReply(new Done());
  }
  @query("get") get(state: State): State { return state; }
  @query("copy") copy(state: State): State { return state.clone(); }
  @query("mixed") mixed(state: State, mixed: Mixed): Mixed { return mixed; }
  @query("numbers") numbers(state: State, every: Every): string {
    return every.flag.orElse(true).toString() + " " + every.big.orElse(1, 2).toString() + " " +
      every.colour.isPresent.toString() + " " + every.colour.isNull.toString();
  }
  @query("value") value(state: State, every: Every): u64 { return every.big.value; }
}
register<Everys>();
`;

let projects: UserProjects;
let every: ModuleUnderTest;
let types: Record<string, unknown>;

beforeAll(async () => {
  projects = await UserProjects.open();
  const entryFile = await projects.write({ 'index.ts': EVERY });
  const { component, descriptor } = await buildComponent({ entryFile, optimizeLevel: 0 });
  every = await testModule(component);
  const parsed = parseModuleDescriptor(JSON.stringify(descriptor));
  types = parsed.ok ? parsed.descriptor.types : {};
});

afterAll(() => projects.remove());

const entity = () => testEntity(every, 'every', 'one');

test.each([
  [{}],
  [{ flag: false }],
  [{ colour: null }],
  [{ colour: 'Green', big: '18446744073709551615' }],
  [{ big: null, list: null, when: null }],
  [{ list: [1, 2], inner: { a: 1, deeper: { a: 2 } } }],
  [{ when: '2026-02-28T12:30:00.000Z' }],
])('%j is stored as it came, and copied', (input) => {
  const stored = { type: 'changed', every: input, text: 'x' };
  entity()
    .when('change', input)
    .thenEvents([stored])
    .query('get')
    .thenReply({ changes: [stored] })
    .query('copy')
    .thenReply({ changes: [stored] });
  const bare = { type: 'changed', every: input };
  entity()
    .given([bare])
    .query('get')
    .thenReply({ changes: [bare] });
});

test.each([
  [{ always: 1 }],
  [{ first: 1, always: 2 }],
  [{ always: 2, last: 3 }],
  [{ first: 1, always: 2, last: 3 }],
])('commas stand where they are due: %j', (mixed) => {
  entity().query('mixed', mixed).thenReply(mixed);
});

test.each([
  [{}, 'true 1 false false'],
  [{ flag: false, big: null, colour: null }, 'false 2 true true'],
  [{ big: 3, colour: 'Red' }, 'true 3 true false'],
])('what %j holds is told apart', (input, expected) => {
  entity().query('numbers', input).thenReply(expected);
});

test.each([
  [{ flag: null }, 'flag: must be true or false, found null'],
  [{ flag: 'true' }, 'flag: must be true or false, found "true"'],
  [{ colour: 'Blue' }, 'colour: must be "Red" or "Green", found "Blue"'],
  [{ list: [1, 'x'] }, 'list[1]: must be an integer from -2147483648 to 2147483647, found "x"'],
  [{ inner: {} }, 'inner.a: is missing'],
  [{ inner: { a: 1, deeper: null } }, 'inner.deeper: must be an object, found null'],
  [
    { old: { a: 1 }, inner: { a: 1 } },
    "inner: is given twice: 'inner' and 'old' are names of one field",
  ],
])('%j is refused', (input, message) => {
  entity().query('numbers', input).thenRefused({ code: 'BAD_REQUEST', message });
});

test.each([[{}], [{ big: null }]])('there is no value in %j', (input) => {
  expect(() => entity().query('value', input)).toThrow(
    /the field is absent or null: ask isPresent/,
  );
});

test('the schema says that they may be missing, and which may be null', () => {
  expect(types['Every']).toEqual({
    type: 'object',
    properties: {
      flag: { type: 'boolean' },
      colour: { anyOf: [{ $ref: '#/types/Colour' }, { type: 'null' }] },
      big: { anyOf: [{ type: ['integer', 'string'], format: 'uint64' }, { type: 'null' }] },
      list: { anyOf: [expect.objectContaining({ type: 'array' }), { type: 'null' }] },
      inner: { $ref: '#/types/Inner' },
      when: { anyOf: [{ type: 'string', format: 'date-time' }, { type: 'null' }] },
    },
    required: [],
    aliases: { inner: ['old'] },
  });
});

describe('is no patch:', () => {
  const HEAD = 'import { NullablePatch, Patch } from "@svc/guest-sdk";\n';
  test.each([
    [
      '@data class A { a: Patch<string | null> = new Patch(); }',
      /^2:17 field 'a' cannot be 'Patch<string \| null>': write NullablePatch<string>/,
    ],
    [
      '@data class A { a: Patch<i32> | null = null; }',
      /^2:17 field 'a' cannot be 'Patch<i32> \| null': write NullablePatch<i32>/,
    ],
    [
      '@data class A { @optional a: Patch<i32> = new Patch(); }',
      /^2:17 field 'a' is a patch: remove @optional/,
    ],
    [
      '@data class A { a: Patch<i32> = Patch.of<i32>(5); }',
      /^2:33 field 'a' starts absent: write new Patch<i32>\(\)/,
    ],
    [
      'let none = new NullablePatch<i32>();\n@data class A { a: NullablePatch<i32> = none; }',
      /^3:41 field 'a' starts absent: write new NullablePatch<i32>\(\)/,
    ],
    [
      '@data class A { a: Patch<i32>[] = []; }',
      /^2:17 type 'Patch<i32>' has no JSON form: it stands as the type of a field, written out/,
    ],
    [
      'type P = Patch<i32>;\n@data class A { a: P = new Patch<i32>(); }',
      /^3:17 type 'Patch<i32>' has no JSON form: it stands as the type of a field, written out/,
    ],
    [
      '@data class A { a: Patch<Set<i32>> = new Patch(); }',
      /^2:17 type 'Set<i32>' has no JSON form/,
    ],
  ])('%s', async (source, expected) => {
    expect(await projects.firstLine(HEAD + source)).toMatch(expected);
  });
});

test('a partial update changes what it names, and clears what is null', async () => {
  const entryFile = await projects.write({ 'index.ts': readFileSync(fixture, 'utf8') });
  const api = testEndpoints(
    await testModule((await buildComponent({ entryFile, optimizeLevel: 0 })).component),
  );
  const patched = async (body: unknown) => (await api.patch('/members/m1', body)).json as unknown;
  expect(await patched({ name: 'Ada', phone: '1', loansMax: 3 })).toEqual({
    name: 'Ada',
    phone: '1',
    loansMax: 3,
  });
  expect(await patched({})).toEqual({ name: 'Ada', phone: '1', loansMax: 3 });
  expect(await patched({ phone: null })).toEqual({ name: 'Ada', phone: null, loansMax: 3 });
  expect(await patched({ loansMax: null })).toEqual({ name: 'Ada', phone: null, loansMax: 5 });
  expect(await patched({ name: null })).toMatchObject({
    status: 400,
    error: 'name: must be a string, found null',
  });
});
