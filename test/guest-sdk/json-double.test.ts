// Doubles that the guest writes: the digits and the format are those of JavaScript.
import { beforeAll, expect, test } from 'vitest';
import { compileFixtureCore } from '../support/compile-fixture.ts';
import { CoreGuest } from '../support/core-guest.ts';
import { randomBits, doubleOf } from './support/random-doubles.ts';

let guest: CoreGuest;
let entity: number;

beforeAll(async () => {
  guest = new CoreGuest(new WebAssembly.Module(await compileFixtureCore('codec')));
  entity = guest.open('codec', 'one');
});

/** Returns JavaScript's JSON text, except for the sign of zero. */
const token = (value: number): string => (Object.is(value, -0) ? '-0' : String(value));

/** Returns the values that the guest writes differently from JavaScript. */
function unlike(values: readonly number[]): { wanted: string; written: string | undefined }[] {
  const wanted = values.map((value) => token(value));
  const result = guest.query(entity, 'doubles', `[${wanted.join(',')}]`);
  if (!('ok' in result)) throw new Error(result.refused.message);
  const written = result.ok.slice(1, -1).split(',');
  expect(written).toHaveLength(values.length);
  return wanted
    .map((one, index) => ({ wanted: one, written: written[index] }))
    .filter((one) => one.wanted !== one.written)
    .slice(0, 10);
}

/** Sends values in batches that fit into a call; returns the first ones that are written differently. */
function allUnlike(values: readonly number[]): ReturnType<typeof unlike> {
  const found = [];
  for (let at = 0; at < values.length; at += 5000)
    found.push(...unlike(values.slice(at, at + 5000)));
  return found.slice(0, 10);
}

test('100,000 doubles of every magnitude', () => {
  const random = randomBits(4_242_424_242n);
  const values: number[] = [];
  while (values.length < 100_000) {
    const value = doubleOf(random.next().value);
    if (Number.isFinite(value)) values.push(value);
  }
  expect(allUnlike(values)).toEqual([]);
});

test('what arithmetic makes of the decimals that people write', () => {
  const random = randomBits(17n);
  const decimal = (): number =>
    Number(random.next().value % 100_000_000n) / 10 ** Number(random.next().value % 9n);
  const values = Array.from({ length: 20_000 }, (_, index) => {
    const [a, b] = [decimal(), decimal()];
    return [a, a + b, a - b, a * b, a / (b + 1)][index % 5]!;
  });
  expect(allUnlike(values)).toEqual([]);
  expect(unlike([0.1 + 0.2, 1 / 3, 2 / 3, 0.1 * 3, 4.35 * 100, 1.005 * 1000])).toEqual([]);
});

test('powers of two and of ten, and their neighbours: the margins are not even there', () => {
  const values: number[] = [];
  for (let power = -1074; power <= 1023; power++) values.push(2 ** power);
  for (let power = -323; power <= 308; power++) values.push(Number(`1e${power}`));
  const neighbours = values.flatMap((value) => {
    const bits = new BigUint64Array(Float64Array.of(value).buffer)[0]!;
    return [doubleOf(bits - 1n), value, doubleOf(bits + 1n)];
  });
  expect(allUnlike(neighbours.filter((value) => Number.isFinite(value)))).toEqual([]);
});

test('the edges of the form', () => {
  const values = [
    0,
    -0,
    1,
    -1,
    10,
    1e15,
    1e15 + 0.5,
    2 ** 53 - 1,
    2 ** 53,
    2 ** 53 + 2,
    1e20,
    123_456_789_012_345_680_000,
    1e21,
    1.5e21,
    1e22,
    1e23,
    0.000001,
    0.0000015,
    1e-7,
    1.5e-7,
    5e-324,
    1.5e-323,
    2.2250738585072014e-308,
    Number.MAX_VALUE,
    9.5367431640625e-7,
    5.764607523034235e39,
  ];
  expect(allUnlike([...values, ...values.map((value) => -value)])).toEqual([]);
});
