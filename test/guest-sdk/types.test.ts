// The compiler's schemas of types, and its messages about types that cannot be stored.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { BuildError, buildComponent } from '../../guest-sdk/compiler/index.ts';
import { UserProjects } from './support/user-projects.ts';

const HEAD = 'import { Done, Result, ok, register } from "@svc/guest-sdk"; ';
const TAIL = `
@endpoint("/x") @access("local") class Routes { @get("") route(): Done { return new Done(); } }
register<Routes>();`;

let projects: UserProjects;

beforeAll(async () => {
  projects = await UserProjects.open();
});

afterAll(() => projects.remove());

/** Returns `line: message` of each problem; none if the build succeeds. */
async function problemsOf(source: string, tail = TAIL): Promise<string[]> {
  const entryFile = await projects.write({ 'index.ts': HEAD + source + tail });
  try {
    await buildComponent({ entryFile, optimizeLevel: 0 });
    return [];
  } catch (error) {
    if (!(error instanceof BuildError)) throw error;
    return error.problems.map(({ line, message }) => `${line}: ${message}`);
  }
}

describe('a type without a JSON form is named, with what to write instead', () => {
  test.each([
    [
      'an enum without @data',
      'enum Colour { Red }\n@data class Paint { colour: Colour = Colour.Red; }',
      "2: enum 'Colour' has no JSON form: write @data before it, and its members are stored by their names",
    ],
    [
      'an array of an enum without @data',
      'enum Colour { Red }\n@data class Paint { colours: Map<string, Colour[]> = new Map(); }',
      "2: enum 'Colour' has no JSON form: write @data before it",
    ],
    [
      'a class without @data',
      'class Paint {}\n@data class Wall { paint: Paint = new Paint(); }',
      "2: type 'Paint' has no JSON form: write @data before the class",
    ],
    [
      'a Set',
      '@data class Wall { colours: Set<i32> = new Set(); }',
      "1: type 'Set<i32>' has no JSON form: use an array, i32[]",
    ],
    [
      'a StaticArray',
      '@data class Wall { colours: StaticArray<i32> = [1]; }',
      "1: type 'StaticArray<i32>' has no JSON form: use i32[]",
    ],
    [
      'an ArrayBuffer',
      '@data class Wall { paint: ArrayBuffer = new ArrayBuffer(1); }',
      "1: type 'ArrayBuffer' has no JSON form: use Uint8Array, which is base64 text in JSON",
    ],
    [
      'an array of floats of its own kind',
      '@data class Wall { paint: Float64Array = new Float64Array(1); }',
      "1: type 'Float64Array' has no JSON form: use bool, the integers of 8 to 64 bits",
    ],
    [
      'a function',
      '@data class Wall { paint: () => void = () => {}; }',
      "1: field 'paint' needs a type that has a JSON form",
    ],
    [
      'keys of a map that are an enum',
      '@data enum Colour { Red }\n@data class Wall { counts: Map<Colour, i32> = new Map(); }',
      '2: the keys of a Map must be strings',
    ],
  ])('%s', async (_name, source, expected) => {
    const [problem] = await problemsOf(source);
    expect(problem).toContain(expected);
  });
});

describe('a class that always holds itself has no value', () => {
  test.each([
    [
      'itself',
      '@data class P { x: P = new P(); }',
      ["1: field 'x' makes every 'P' hold another 'P'"],
    ],
    [
      'by another class, whether it may be missing or not',
      '@data class P { @optional q: Q = new Q(); z: P | null = null; }\n@data class Q { p: P = new P(); }\n@data class R { p: P = new P(); }',
      [
        "1: field 'q' makes every 'P' hold another 'P'",
        "2: field 'p' makes every 'Q' hold another 'Q'",
      ],
    ],
    [
      'by all cases of a sum type',
      '@data abstract class S {}\n@variant("a") class A extends S { s: S = new A(); }',
      ["2: field 's' makes every 'A' hold another 'A'"],
    ],
  ])('%s', async (_name, source, expected) => {
    const problems = await problemsOf(source);
    expect(problems).toHaveLength(expected.length);
    for (const [index, message] of expected.entries()) expect(problems[index]).toContain(message);
  });

  test('null, an array, a map and another case end it', async () => {
    const source = `@data class P { a: P | null = null; b: P[] = []; c: Map<string, P> = new Map(); }
@data abstract class S {}
@variant("leaf") class Leaf extends S {}
@variant("twig") class Twig extends S { s: S = new Leaf(); }`;
    expect(await problemsOf(source)).toEqual([]);
  });
});

describe('an enum', () => {
  test.each([
    [
      'with a name',
      '@data("colour") enum Colour { Red }',
      "1: the name of enum 'Colour' is not stored",
    ],
    ['without a member', '@data enum Colour {}', "1: enum 'Colour' has no member"],
    ['as a case', '@variant("red") enum Colour { Red }', '1: @variant means nothing here'],
    [
      'that may be null',
      '@data enum Colour { Red }\n@data class Wall { colour: Colour | null = null; }',
      "2: Type 'Colour' cannot be nullable",
    ],
  ])('%s is refused', async (_name, source, expected) => {
    const [problem] = await problemsOf(source);
    expect(problem).toContain(expected);
  });

  test('without @data is what it is in AssemblyScript, where it is not stored', async () => {
    const source = `enum Level { Low, High }
function next(level: Level): Level { return level == Level.Low ? Level.High : <Level>0; }
function levels(): Level[] { const all: Level[] = [Level.Low]; all.push(next(Level.Low)); return all; }
const named = Level[levels()[1]] + levels()[1].toString();`;
    expect(await problemsOf(source)).toEqual([]);
  });
});

const pageOf = (items: object): object => ({
  type: 'object',
  properties: { items: { type: 'array', items } },
  required: ['items'],
});

test('schemas of enums, bytes, and generic classes of them', async () => {
  const entryFile = await projects.write({
    'index.ts': `${HEAD}import { Colour as Paint } from "./colour";
@data class Page<T> { constructor(public items: T[]) {} }
@endpoint("/x") @access("local") class Routes {
  @get("/{paint}") one(paint: Paint): Page<Paint> { return new Page<Paint>([paint]); }
  @get("") two(): Page<Uint8Array> { return new Page<Uint8Array>([]); }
  @get("/a/b") three(): Page<i32> { return new Page<i32>([]); }
  @get("/a/b/c") four(): Page<string> { return new Page<string>([]); }
}
register<Routes>();`,
    'colour.ts': '@data export const enum Colour { Red, Green = 4, Rosy = 0 }',
  });
  const { descriptor, warnings } = await buildComponent({ entryFile, optimizeLevel: 0 });
  expect(warnings).toEqual([]);
  expect(descriptor.types).toEqual({
    Colour: { type: 'string', enum: ['Red', 'Green', 'Rosy'] },
    'Page<Colour>': pageOf({ $ref: '#/types/Colour' }),
    'Page<Uint8Array>': pageOf({ type: 'string', contentEncoding: 'base64' }),
    'Page<String>': pageOf({ type: 'string' }),
    'Page<i32>': pageOf({ type: 'integer', minimum: -2_147_483_648, maximum: 2_147_483_647 }),
  });
  expect(descriptor.endpoints[0]?.routes[0]?.parameters).toEqual([
    { name: 'paint', schema: { $ref: '#/types/Colour' } },
  ]);
});
