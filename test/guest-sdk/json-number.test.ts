// Doubles and floats that the guest reads: equal to JavaScript's to the last bit.
import { beforeAll, expect, test } from 'vitest';
import { compileFixtureCore } from '../support/compile-fixture.ts';
import { CoreGuest } from '../support/core-guest.ts';
import { doubleOf, randomBits } from './support/random-doubles.ts';

let guest: CoreGuest;
let entity: number;

beforeAll(async () => {
  guest = new CoreGuest(new WebAssembly.Module(await compileFixtureCore('codec')));
  entity = guest.open('codec', 'one');
});

function through(type: 'doubles' | 'floats', tokens: readonly string[]): number[] {
  const result = guest.query(entity, type, `[${tokens.join(',')}]`);
  if (!('ok' in result)) throw new Error(result.refused.message);
  // JSON.parse reads the guest's -0 like JavaScript.
  return JSON.parse(result.ok) as number[];
}

/** Returns the tokens that the guest reads differently from JavaScript. */
function wrong(tokens: readonly string[]): string[] {
  const read = through('doubles', tokens);
  return tokens.filter((token, index) => !Object.is(Number(token), read[index])).slice(0, 10);
}

test('doubles of every magnitude come back exactly', () => {
  const random = randomBits(88_172_645_463_325_252n);
  const tokens: string[] = [];
  while (tokens.length < 20_000) {
    const value = doubleOf(random.next().value);
    if (Number.isFinite(value)) tokens.push(JSON.stringify(value));
  }
  expect(wrong(tokens)).toEqual([]);
});

test('decimals with more digits than a double holds are rounded as JavaScript rounds them', () => {
  const random = randomBits(99n);
  const tokens: string[] = [];
  while (tokens.length < 5000) {
    const digits = Array.from({ length: 3 }, () => random.next().value.toString()).join('');
    const cut = 1 + Number(random.next().value % BigInt(digits.length - 1));
    const exponent = Number(random.next().value % 640n) - 330;
    const token = `${digits.slice(0, cut)}.${digits.slice(cut)}e${exponent - cut}`;
    if (Number.isFinite(Number(token))) tokens.push(token.replace(/^0+(?=\d)/, ''));
  }
  expect(wrong(tokens)).toEqual([]);
});

test('a decimal exactly between two doubles goes to the even one, and one digit decides', () => {
  const random = randomBits(5n);
  const tokens: string[] = [];
  for (let round = 0; round < 500; round++) {
    // m + 1/2 for a 53-bit m, times a power of two, is exact in decimal.
    const m = (1n << 52n) | (random.next().value & ((1n << 52n) - 1n));
    const shift = random.next().value % 200n;
    const large = ((2n * m + 1n) << shift).toString();
    tokens.push(
      large,
      `${large}.0000000000000000000000001`,
      `${large.slice(0, -1)}${Number(large.at(-1)) - 1}.9`,
    );
    // (2m + 1) / 2^k = (2m + 1) × 5^k / 10^k
    const k = 1n + (random.next().value % 150n);
    const small = ((2n * m + 1n) * 5n ** k).toString();
    tokens.push(
      `${small}e-${k}`,
      `${small}0001e-${k + 4n}`,
      `${small}${'0'.repeat(900)}1e-${k + 901n}`,
    );
  }
  expect(wrong(tokens.filter((token) => !token.includes('-1.9')))).toEqual([]);
});

test('the edges of the range', () => {
  expect(
    wrong([
      '0',
      '-0',
      '0.0',
      '-0.0e5',
      '1',
      '-1',
      '0.1',
      '1e22',
      '1e23',
      '9007199254740993',
      '123456789012345678',

      '5e-324',
      '2.4703282292062327e-324',
      '2.4703282292062328e-324',
      '1e-400',
      '-1e-400',
      '0e999999999999',

      '2.2250738585072011e-308',
      '2.2250738585072014e-308',
      '4.9406564584124654e-324',
      '1e-99999999999999999999',

      '1.7976931348623157e308',
      '1.7976931348623158e308',
      '179769313486231570000e288',
      `0.${'0'.repeat(400)}1e401`,

      `1${'0'.repeat(308)}`,
      '9'.repeat(308),
      `0.${'9'.repeat(1000)}`,
      `${'1'.repeat(300)}.${'2'.repeat(2000)}`,
    ]),
  ).toEqual([]);
  for (const token of [
    '1.7976931348623159e308',
    '1e309',
    `1${'0'.repeat(309)}`,
    '1e99999999999999999999',
  ])
    expect(() => through('doubles', [token])).toThrow('must be a number that 64 bits can hold');
});

test('floats come back exactly', () => {
  const random = randomBits(7n);
  const values: number[] = [];
  while (values.length < 5000) {
    const value = new Float32Array(
      Uint32Array.of(Number(random.next().value & 0xffff_ffffn)).buffer,
    )[0]!;
    if (Number.isFinite(value)) values.push(value);
  }
  const read = through(
    'floats',
    values.map((value) => (Object.is(value, -0) ? '-0' : String(value))),
  );
  expect(read.filter((value, index) => !Object.is(value, values[index])).slice(0, 5)).toEqual([]);
});
