// Enums, bytes and 32-bit floats: accepted values, and refusals with their paths.
import { describe, expect, test } from 'vitest';
import { compileFixtureCore } from '../support/compile-fixture.ts';
import { CoreGuest } from '../support/core-guest.ts';

const module = new WebAssembly.Module(await compileFixtureCore('codec'));
const guest = new CoreGuest(module);
const entity = guest.open('codec', 'one');

function echo(type: string, input: string): string {
  const result = guest.query(entity, type, input);
  return 'ok' in result ? result.ok : `refused: ${result.refused.message}`;
}

const COLOURS = 'must be "Red" or "Green" or "Blue" or "Scarlet"';
const BYTES = 'must be bytes as base64 text';
const PALETTE = { main: 'Red', others: {}, pair: { first: 'Red', second: 1 }, many: [] };

describe('an enum', () => {
  test.each([
    ['colour', '"Red"', '"Red"'],
    ['colour', '"Blue"', '"Blue"'],
    ['colour', String.raw`"\u0052ed"`, '"Red"'],
    ['colours', '["Green","Red","Green"]', '["Green","Red","Green"]'],
    // Two names have one value: the first is written.
    ['colour', '"Scarlet"', '"Red"'],
    [
      'palette',
      JSON.stringify(PALETTE),
      JSON.stringify({ ...PALETTE, fallback: 'Blue', many: [] }),
    ],
  ])('%s %s is taken', (type, input, expected) => {
    expect(JSON.parse(echo(type, input))).toEqual(JSON.parse(expected));
  });

  test.each([
    ['colour', '"red"', `input: ${COLOURS}, found "red"`],
    ['colour', '""', `input: ${COLOURS}, found ""`],
    ['colour', '"Red "', `input: ${COLOURS}, found "Red "`],
    ['colour', '"toString"', `input: ${COLOURS}, found "toString"`],
    ['colour', '0', `input: ${COLOURS}, found 0`],
    ['colour', 'null', `input: ${COLOURS}, found null`],
    ['colour', '', `input: ${COLOURS}, found the end of the text`],
    [
      'colour',
      '"Red',
      `input: is not JSON: expected '"' at character 5, found the end of the text`,
    ],
    ['colours', '["Red","Pink"]', `[1]: ${COLOURS}, found "Pink"`],
    ['colours', '["Red",7]', `[1]: ${COLOURS}, found 7`],
    [
      'palette',
      JSON.stringify({ ...PALETTE, others: { sky: ['Blue', 'Grey'] } }),
      `others.sky[1]: ${COLOURS}, found "Grey"`,
    ],
    [
      'palette',
      JSON.stringify({ ...PALETTE, pair: { first: 7, second: 1 } }),
      `pair.first: ${COLOURS}, found 7`,
    ],
    [
      'palette',
      JSON.stringify({ ...PALETTE, many: ['x'] }),
      'many[0]: must be "A0" or "A1" or "A2" or "A3" or "A4" or "A5" or "A6" or "A7" or "A8" or "A9" or "B0" or "B1" or "B2" or "B3" or "B4" or "B5" or "B6" or "B7" or "B8" or "B9" or one of 2 more names, found "x"',
    ],
  ])('%s %s is refused', (type, input, expected) => {
    expect(echo(type, input)).toBe(`refused: ${expected}`);
  });

  test('a number that is no member is not written', () => {
    const own = new CoreGuest(module);
    const other = own.open('codec', 'one');
    expect(() => own.query(other, 'no-colour', 'null')).toThrow(WebAssembly.RuntimeError);
    expect(own.takeLog()[0]?.message).toMatch(
      /^abort: enum 'Colour' has no member of the value 99: it cannot be written as JSON at /,
    );
  });
});

describe('bytes', () => {
  test('of every length and every value come back as they were', () => {
    for (let length = 0; length < 300; length++) {
      const bytes = Uint8Array.from({ length }, (_, index) => (index * 151 + length * 7) & 255);
      const text = JSON.stringify(Buffer.from(bytes).toString('base64'));
      expect(echo('bytes', text)).toBe(text);
    }
  });

  test.each([
    // A wrong length, wrong padding, or other characters.
    ['"A"', '"A"'],
    ['"AA"', '"AA"'],
    ['"AAA"', '"AAA"'],
    ['"A==="', '"A==="'],
    ['"===="', '"===="'],
    ['"AA=A"', '"AA=A"'],
    ['"AA==AAAA"', '"AA==AAAA"'],
    ['"AA A"', '"AA A"'],
    ['"AAA\\n"', '"AAA\n"'],
    ['"AA-_"', '"AA-_"'],
    ['"AAé="', '"AAé="'],
    ['"AAÁA"', '"AAÁA"'],
    // Bits after the last byte would be a second text for the same bytes.
    ['"AB=="', '"AB=="'],
    ['"AAB="', '"AAB="'],
    ['5', '5'],
    ['null', 'null'],
    ['[1,2]', 'an array'],
  ])('%s is refused', (input, found) => {
    expect(echo('bytes', input)).toBe(`refused: input: ${BYTES}, found ${found}`);
  });
});

/** Returns the exact decimal text of `value` × 2^-`shift`. */
const exact = (value: bigint, shift: bigint): string => `${value * 5n ** shift}e-${shift}`;
const floatOf = (token: string): number =>
  (JSON.parse(echo('floats', `[${token}]`)) as number[])[0]!;

describe('a 32-bit float is rounded once', () => {
  test('between two floats, the smallest digit decides', () => {
    // 2^24 + 1 is between 2^24 and 2^24 + 2; a double cannot distinguish it from its nearest neighbours.
    const tail = '0'.repeat(30);
    expect(floatOf('16777217')).toBe(16_777_216);
    expect(floatOf(`16777217.${tail}1`)).toBe(16_777_218);
    expect(floatOf(`16777216.${'9'.repeat(30)}`)).toBe(16_777_216);
    expect(floatOf('16777219')).toBe(16_777_220);
    expect(floatOf(`16777218.${'9'.repeat(30)}`)).toBe(16_777_218);
    expect(floatOf(`-16777217.${tail}1`)).toBe(-16_777_218);
  });

  test('for thousands of midpoints, a hair above and below', () => {
    const tokens: string[] = [];
    const expected: number[] = [];
    for (let round = 0n; round < 1500n; round++) {
      const mantissa = (1n << 23n) + ((round * 5_582_821n) & ((1n << 23n) - 1n));
      const shift = 20n + (round % 110n);
      // mantissa + 1/2 in units of 2^(1 - shift) is 2 × mantissa + 1 in units of 2^-shift.
      const [digits, exponent] = exact(2n * mantissa + 1n, shift).split('e') as [string, string];
      const below = Number(mantissa) * 2 ** (1 - Number(shift));
      const above = Number(mantissa + 1n) * 2 ** (1 - Number(shift));
      const even = mantissa % 2n === 0n ? below : above;
      const power = Number(exponent) - 30;
      tokens.push(`${digits}e${exponent}`, `${digits}${'0'.repeat(29)}1e${power}`);
      tokens.push(`${BigInt(digits) * 10n ** 30n - 1n}e${power}`);
      expected.push(even, above, below);
    }
    const read = JSON.parse(echo('floats', `[${tokens.join(',')}]`)) as number[];
    expect(read.filter((value, index) => !Object.is(value, expected[index]))).toEqual([]);
  });

  test('at the ends of the range', () => {
    expect(floatOf('1.401298464324817e-45')).toBe(2 ** -149);
    // Half of the smallest float is rounded to zero, and a number with one more digit is not.
    expect(floatOf(exact(1n, 150n))).toBe(0);
    expect(floatOf(exact(1n, 150n).replace('e-150', '1e-151'))).toBe(2 ** -149);
    expect(floatOf('-1e-300')).toBe(-0);
    expect(floatOf('3.4028234663852886e38')).toBe(Math.fround(3.4028234663852886e38));
    // Half a step beyond the largest float is too large, and any smaller number is rounded to the largest.
    const limit = 2n ** 128n - 2n ** 103n;
    expect(floatOf(`${limit - 1n}.9`)).toBe(3.4028234663852886e38);
    expect(echo('f32', limit.toString())).toMatch(
      /^refused: input: must be a number that 32 bits can hold/,
    );
    expect(echo('f32', '1e400')).toMatch(/^refused: input: must be a number that 32 bits can hold/);
  });
});
