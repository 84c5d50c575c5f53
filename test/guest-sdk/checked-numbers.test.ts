// The SDK's arithmetic that refuses overflow, and its parsing of numbers, at the bounds of each type.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { buildComponent, problemText } from '../../guest-sdk/compiler/index.ts';
import { type ModuleUnderTest, testEntity, testModule } from '../../guest-sdk/testing/index.ts';
import { UserProjects, entity } from './support/user-projects.ts';

const TYPES = ['i8', 'u8', 'i16', 'u16', 'i32', 'u32', 'i64', 'u64'] as const;
const OPERATIONS = { add: 'checkedAdd', sub: 'checkedSub', mul: 'checkedMul' } as const;
const IMPORTS = 'ok, checkedAdd, checkedMul, checkedSub, parseF64, parseI32, parseI64, ';

let projects: UserProjects;
let module: ModuleUnderTest;

beforeAll(async () => {
  projects = await UserProjects.open();
  const calculations = TYPES.flatMap((type) =>
    Object.entries(OPERATIONS).map(
      ([
        name,
        called,
      ]) => `@query("${name}-${type}") ${name}_${type}(s: State, i: Pair_${type}): Result<${type}> {
        return ${called}<${type}>(i.a, i.b); }`,
    ),
  );
  const parsers = ['I32', 'I64', 'F64'].map(
    (
      name,
    ) => `@query("parse${name}") parse${name}(s: State, text: string): Result<${name.toLowerCase()}> {
      return parse${name}(text); }`,
  );
  const source = entity([...calculations, ...parsers].join('\n')).replace('ok, ', IMPORTS);
  const pairs = TYPES.map((type) => `@data class Pair_${type} { a: ${type} = 0; b: ${type} = 0; }`);
  module = await testModule(await projects.write({ 'index.ts': `${source}\n${pairs.join('\n')}` }));
});

afterAll(() => projects.remove());

const bits = (type: string): bigint => BigInt(type.slice(1));
const leastOf = (type: string): bigint => (type.startsWith('u') ? 0n : -(2n ** (bits(type) - 1n)));
const mostOf = (type: string): bigint =>
  type.startsWith('u') ? 2n ** bits(type) - 1n : 2n ** (bits(type) - 1n) - 1n;
const SYMBOLS = { add: '+', sub: '-', mul: '*' } as const;

function exactly(operation: keyof typeof OPERATIONS, a: bigint, b: bigint): bigint {
  if (operation === 'add') return a + b;
  return operation === 'sub' ? a - b : a * b;
}

test.each(TYPES)('of %s: every pair of the numbers at its edges is exact or refused', (type) => {
  const [least, most] = [leastOf(type), mostOf(type)];
  const root = 2n ** (bits(type) / 2n);
  const candidates = [least, least + 1n, -root, -2n, -1n, 0n, 1n, 2n, root - 1n, root, root + 1n];
  const numbers = [...candidates, most / 2n, most - 1n, most].filter(
    (n) => n >= least && n <= most,
  );
  const thing = testEntity(module, 'thing', 't1');
  for (const operation of ['add', 'sub', 'mul'] as const)
    for (const a of numbers)
      for (const b of numbers) {
        const result = exactly(operation, a, b);
        const asked = thing.query(`${operation}-${type}`, { a, b });
        if (result >= least && result <= most) asked.thenReply(result);
        else
          asked.thenRefused({
            code: 'UNPROCESSABLE',
            message: `${a} ${SYMBOLS[operation]} ${b} does not fit into ${type}`,
          });
      }
});

const NUMBERS: readonly (readonly [string, string, number | bigint])[] = [
  ['parseI32', '0', 0],
  ['parseI32', '-2147483648', -2147483648],
  ['parseI32', '2147483647', 2147483647],
  ['parseI64', '-9223372036854775808', -(2n ** 63n)],
  ['parseI64', '9223372036854775807', 2n ** 63n - 1n],
  ['parseF64', '2.5', 2.5],
  ['parseF64', '1e3', 1000],
  ['parseF64', '-0.1', -0.1],
];

test.each(NUMBERS)('%s reads %s', (name, text, number) => {
  testEntity(module, 'thing', 't1').query(name, text).thenReply(number);
});

const NO_NUMBERS = [
  '',
  ' ',
  '1 ',
  ' 1',
  '+1',
  '01',
  '0x1',
  '1_000',
  '12 books',
  'NaN',
  'Infinity',
  '"1"',
  '1"',
  '\\u0031',
  '1,',
  'null',
  '٣',
];

test.each([
  ...NO_NUMBERS.flatMap((text) => ['parseI32', 'parseI64', 'parseF64'].map((name) => [name, text])),
  ['parseI32', '2147483648'],
  ['parseI32', '-2147483649'],
  ['parseI32', '1.5'],
  ['parseI64', '9223372036854775808'],
  ['parseI64', '-9223372036854775809'],
  ['parseI64', '1e3'],
  ['parseF64', '1e999'],
  ['parseF64', '.5'],
] as [string, string][])('%s refuses %j', (name, text) => {
  testEntity(module, 'thing', 't1')
    .query(name, text)
    .thenRefused({ code: 'BAD_REQUEST', message: /^must be (?:an? |a 64-bit )/ });
});

test('only integers are added', async () => {
  const source = entity('@query("q") q(s: State): Result<f64> { return checkedAdd<f64>(1, 2); }');
  const [problem] = await projects.problemsOf(source.replace('ok, ', 'ok, checkedAdd, '));
  expect(problem).toMatchObject({ line: 8, message: 'checkedAdd takes integers' });
});

test('the compiler warns of functions that guess a number, where they are called', async () => {
  const source = entity(
    `@query("q") q(s: State): i32 { return <i32>parseInt("x") + <i32>Number.parseFloat("1") + I32.parseInt("2"); }
     @query("r") r(s: State): i32 { return parseI32("1").value; }`,
  ).replace('ok, ', 'ok, parseI32, ');
  const entryFile = await projects.write({ 'index.ts': source });
  const { warnings } = await buildComponent({ entryFile, optimizeLevel: 0 });
  expect(warnings.map(({ line, message }) => [line, message.slice(0, 12)])).toEqual([
    [8, "'parseInt' t"],
    [8, "'parseFloat'"],
    [8, "'parseInt' t"],
  ]);
  expect(problemText(warnings[0]!)).toContain('help: parseI32(text)');
});

test("a function of the author's own may have the name", async () => {
  const source = `${entity('@query("q") q(s: State): i32 { return parseInt("x"); }')}
function parseInt(text: string): i32 { return text.length; }`;
  const entryFile = await projects.write({ 'index.ts': source });
  const { warnings } = await buildComponent({ entryFile, optimizeLevel: 0 });
  expect(warnings).toEqual([]);
});
