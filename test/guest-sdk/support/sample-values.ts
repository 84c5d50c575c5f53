// SampleValues: random values for the fixture's class `Sample`, and their JSON text.
import * as fc from 'fast-check';

const ODD_TEXTS = [
  '',
  '__proto__',
  'constructor',
  'toString',
  '\u0000',
  '\u2028\u2029',
  '\u007f\u0080',
  '\ufeff\uffff',
  '"\\/\b\f\n\r\t',
  '😀',
  '0',
  'long '.repeat(2000),
];
const text = fc.oneof(
  { weight: 9, arbitrary: fc.string({ unit: 'binary', maxLength: 12 }) },
  { weight: 1, arbitrary: fc.constantFrom(...ODD_TEXTS) },
);
const key = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 5 }),
  fc.constantFrom(...ODD_TEXTS.slice(0, -1)),
);
const mapOf = <T>(value: fc.Arbitrary<T>): fc.Arbitrary<Record<string, T>> =>
  fc.dictionary(key, value, { maxKeys: 4, noNullPrototype: false });
const listOf = <T>(item: fc.Arbitrary<T>): fc.Arbitrary<T[]> => fc.array(item, { maxLength: 4 });
const maybe = <T>(value: fc.Arbitrary<T>): fc.Arbitrary<T | null> =>
  fc.option(value, { nil: null, freq: 2 });

const real = fc.double({ noNaN: true, noDefaultInfinity: true });
const integer = (bits: number, signed: boolean): fc.Arbitrary<number> => {
  const max = 2 ** (bits - (signed ? 1 : 0)) - 1;
  const min = signed ? -max - 1 : 0;
  return fc.oneof(fc.integer({ min, max }), fc.constantFrom(min, max));
};
/** Returns a number up to 2^53 - 1 in magnitude, and a string of digits beyond. */
const bigInteger = (min: bigint, max: bigint): fc.Arbitrary<number | string> => {
  const edges = [min, max, 2n ** 53n - 1n, 2n ** 53n, 2n ** 53n + 1n, 1n - 2n ** 53n, -(2n ** 53n)];
  return fc
    .oneof(
      fc.bigInt({ min, max }),
      fc.bigInt({ min: min < -1000n ? -1000n : min, max: 1000n }),
      fc.constantFrom(...edges.filter((edge) => edge >= min && edge <= max)),
    )
    .map((value) => (Number.isSafeInteger(Number(value)) ? Number(value) : value.toString()));
};
const date = fc
  .date({
    min: new Date('0000-01-01T00:00:00.000Z'),
    max: new Date('9999-12-31T23:59:59.999Z'),
    noInvalidDate: true,
  })
  .map((value) => value.toISOString());
const bytes = fc
  .uint8Array({ maxLength: 20 })
  .map((value) => Buffer.from(value).toString('base64'));
const colour = fc.constantFrom('Red', 'Green', 'Blue');
const i64 = bigInteger(-(2n ** 63n), 2n ** 63n - 1n);
const point = fc.record({ x: real, y: real });
const { figure } = fc.letrec<{ figure: unknown }>((tie) => ({
  figure: fc.oneof(
    { maxDepth: 4, depthSize: 'small' },
    fc.record({ type: fc.constant('dot'), at: point }),
    fc.record({
      type: fc.constant('group'),
      parts: fc.array(tie('figure'), { maxLength: 3 }),
      label: maybe(text),
    }),
  ),
}));

/** Returns the fields in the order of their declaration, in which they are written. */
export const sampleValue = fc.record({
  flag: fc.boolean(),
  a: integer(8, true),
  b: integer(8, false),
  c: integer(16, true),
  d: integer(16, false),
  e: integer(32, true),
  f: integer(32, false),
  g: i64,
  h: bigInteger(0n, 2n ** 64n - 1n),
  single: fc.float({ noNaN: true, noDefaultInfinity: true }),
  double: real,
  text,
  maybeText: maybe(text),
  at: date,
  maybeAt: maybe(date),
  bytes,
  maybeBytes: maybe(bytes),
  colour,
  colours: listOf(colour),
  point,
  maybePoint: maybe(point),
  points: listOf(maybe(point)),
  grid: listOf(listOf(real)),
  counts: mapOf(integer(32, true)),
  lists: mapOf(listOf(maybe(point))),
  maps: mapOf(mapOf(text)),
  figure,
  pair: fc.record({ first: fc.record({ first: text, second: i64 }), second: listOf(point) }),
  note: text,
});

/** Equals `JSON.stringify`, which however would write -0 as 0. */
export function jsonOf(value: unknown): string {
  const zero = '-0 stands here';
  const replaced = JSON.stringify(value, (_name, one: unknown) =>
    Object.is(one, -0) ? zero : one,
  );
  return replaced.replaceAll(`"${zero}"`, '-0');
}
