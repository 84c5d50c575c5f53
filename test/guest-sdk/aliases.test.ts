// `@alias`: reading and writing a field that has further names, its schema, and invalid aliases.
import { parseModuleDescriptor } from '@svc/contract';
import { buildComponent } from '@svc/guest-sdk/compiler';
import { type ModuleUnderTest, testEntity, testModule } from '@svc/guest-sdk/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { UserProjects } from './support/user-projects.ts';

const LOANS = `import { Done, Effect, EventSourcedEntity, register } from "@svc/guest-sdk";
@data class Terms { @alias("fee", "price per day") feePerDay: i32 = 0; @alias("max") @optional readonly daysMax: i32 = 30; }
@data abstract class Lent { @alias("by") lender: string = ""; }
@variant("book") class Book extends Lent { @alias("conditions") terms: Terms = new Terms(); }
@variant("map") class Sheet extends Lent { @alias("remark") note: string | null = null; @alias("flags") marks: bool[] = []; }
@data class State { lent: Lent[] = []; }
@entity("loans") class Loans extends EventSourcedEntity<State, Lent> {
  empty(id: string): State { return new State(); }
  apply(state: State, event: Lent): State {
    if (event instanceof Book || event instanceof Sheet) state.lent.push(event);
    return state;
  }
  @command("lend") lend(state: State, lent: Lent): Effect<Done> { return this.persist(lent).thenReply(new Done()); }
  @query("get") get(state: State): State { return state; }
  @query("terms") terms(state: State, terms: Terms): Terms { return terms; }
}
register<Loans>();
`;

let projects: UserProjects;
let descriptorTypes: Record<string, unknown>;
let module: ModuleUnderTest;

beforeAll(async () => {
  projects = await UserProjects.open();
  const entryFile = await projects.write({ 'index.ts': LOANS });
  const { component, descriptor } = await buildComponent({ entryFile, optimizeLevel: 0 });
  const parsed = parseModuleDescriptor(JSON.stringify(descriptor));
  descriptorTypes = parsed.ok ? parsed.descriptor.types : {};
  module = await testModule(component);
});

afterAll(() => projects.remove());

const loans = () => testEntity(module, 'loans', 'one');

test('a name of before is read as the field, and the field is written under its own', () => {
  loans()
    .given([
      { by: 'Ada', type: 'book', conditions: { fee: 3, max: 5 } },
      { type: 'book', lender: 'Bob', terms: { 'price per day': 4 } },
      { type: 'map', by: 'Cyd', remark: 'torn', flags: [true] },
      { type: 'map', by: 'Cyd', remark: null, marks: [] },
      { type: 'map', by: 'Cyd', marks: [] },
    ])
    .query('get')
    .thenReply({
      lent: [
        { type: 'book', lender: 'Ada', terms: { feePerDay: 3, daysMax: 5 } },
        { type: 'book', lender: 'Bob', terms: { feePerDay: 4, daysMax: 30 } },
        { type: 'map', lender: 'Cyd', note: 'torn', marks: [true] },
        { type: 'map', lender: 'Cyd', note: null, marks: [] },
        { type: 'map', lender: 'Cyd', note: null, marks: [] },
      ],
    })
    .when('lend', { type: 'map', by: 'Ada', flags: [] })
    .thenEvents([{ type: 'map', lender: 'Ada', note: null, marks: [] }]);
});

const FEE = "'feePerDay' and 'fee' and 'price per day'";

test.each([
  [{ feePerDay: 1, fee: 1 }, `fee: is given twice: ${FEE} are names of one field`],
  [{ fee: 1, 'price per day': 1 }, `price per day: is given twice: ${FEE} are names of one field`],
  [
    { fee: null, feePerDay: 1 },
    'fee: must be an integer from -2147483648 to 2147483647, found null',
  ],
  [{ Fee: 1 }, 'feePerDay: is missing'],
  [{ fee: 1, max: '1' }, 'max: must be an integer from -2147483648 to 2147483647, found "1"'],
  [
    { fee: 1, max: 1, daysMax: 1 },
    "daysMax: is given twice: 'daysMax' and 'max' are names of one field",
  ],
])('%j is refused', (terms, message) => {
  loans().query('terms', terms).thenRefused({ code: 'BAD_REQUEST', message });
});

test('the name that was sent stands in the path of a problem', () => {
  loans()
    .when('lend', { type: 'book', by: 'Ada', conditions: { fee: 'x' } })
    .thenRefused({
      code: 'BAD_REQUEST',
      message: 'conditions.fee: must be an integer from -2147483648 to 2147483647, found "x"',
    });
});

test('the schema has the names, and none where there are none', () => {
  expect(descriptorTypes).toMatchObject({
    Terms: {
      properties: { feePerDay: {}, daysMax: {} },
      required: ['feePerDay'],
      aliases: { feePerDay: ['fee', 'price per day'], daysMax: ['max'] },
    },
    Book: { aliases: { lender: ['by'], terms: ['conditions'] } },
  });
  expect(descriptorTypes['State']).not.toHaveProperty('aliases');
});

describe('is no alias:', () => {
  test.each([
    [
      '@data class A { @alias() a: i32 = 0; }',
      /^1:17 @alias needs the names that the field had before/,
    ],
    ['@data class A { @alias(1) a: i32 = 0; }', /^1:17 @alias needs the names/],
    [
      '@data class A { @alias("") a: i32 = 0; }',
      /^1:17 the alias "" cannot be the name of a field/,
    ],
    ['@data class A { @alias("x\\ny") a: i32 = 0; }', /^1:17 the alias "x\\ny" cannot be/],
    [
      '@data class A { @alias("__proto__") a: i32 = 0; }',
      /^1:17 what @alias names cannot be named/,
    ],
    [
      '@data class A { @alias("a") a: i32 = 0; }',
      /^1:17 the alias 'a' of field 'a' is the name of the field 'a'/,
    ],
    [
      '@data class A { @alias("b") a: i32 = 0; b: i32 = 0; }',
      /^1:17 the alias 'b' of field 'a' is the name of the field 'b': a name is read as one field/,
    ],
    [
      '@data class A { @alias("c") a: i32 = 0; @alias("c") b: i32 = 0; }',
      /^1:41 the alias 'c' of field 'b' is an alias of the field 'a'/,
    ],
    ['@data class A { @alias("c", "c") a: i32 = 0; }', /is an alias of the field 'a'/],
    [
      '@data abstract class A { x: i32 = 0; }\n@variant("b") class B extends A { @alias("x") y: i32 = 0; }',
      /^2:35 the alias 'x' of field 'y' is the name of the field 'x'/,
    ],
    [
      '@data abstract class A { @alias("y") x: i32 = 0; }\n@variant("b") class B extends A { @alias("y") z: i32 = 0; }',
      /^2:35 the alias 'y' of field 'z' is an alias of the field 'x'/,
    ],
    [
      '@data abstract class A {}\n@variant("b") class B extends A { @alias("type") y: i32 = 0; }',
      /^2:35 the alias 'type' of field 'y' is the field that holds the name of the case/,
    ],
    ['@data class A { @alias("b") @alias("c") a: i32 = 0; }', /^1:29 @alias stands here twice/],
    [
      'class A { @alias("b") a: i32 = 0; }',
      /@alias means nothing here: it stands before a field of a @data/,
    ],
    ['@data class A { @alias("b") get(): i32 { return 0; } }', /@alias means nothing here/],
  ])('%s', async (source, expected) => {
    expect(await projects.firstLine(source)).toMatch(expected);
  });
});
