// Values that the generated decoders accept, refuse and write. Each query of the fixture returns its input; a refusal
// names the path, and nothing traps.
import { beforeAll, describe, expect, test } from 'vitest';
import { compileFixtureCore } from '../support/compile-fixture.ts';
import { CoreGuest } from '../support/core-guest.ts';
import { EVERYTHING, sequence } from './support/codec-samples.ts';

let guest: CoreGuest;
let entity: number;

beforeAll(async () => {
  guest = new CoreGuest(new WebAssembly.Module(await compileFixtureCore('codec')));
  entity = guest.open('codec', 'one');
});

function echo(type: string, input: string): string {
  const result = guest.query(entity, type, input);
  return 'ok' in result ? result.ok : `refused: ${result.refused.message}`;
}

const I32 = 'must be an integer from -2147483648 to 2147483647';
const I64 =
  'must be an integer up to 9007199254740991 in magnitude, or a string of an integer that 64 bits can hold';
const U64 =
  'must be an integer from 0 to 9007199254740991, or a string of an integer that 64 bits can hold without a sign';
const DATE = 'must be a date and time like 2026-02-28T12:30:00.000Z';
const ITEM = '{"sku":"a","quantity":1}';

describe('refused, with the path', () => {
  test.each([
    // Integers: no fraction, no exponent, no other type, nothing out of range.
    ['i32', '2.5', `input: ${I32}, found 2.5`],
    ['i32', '1.0', `input: ${I32}, found 1.0`],
    ['i32', '1e2', `input: ${I32}, found 1e2`],
    ['i32', '99999999999', `input: ${I32}, found 99999999999`],
    ['i32', '2147483648', `input: ${I32}, found 2147483648`],
    ['i32', '-2147483649', `input: ${I32}, found -2147483649`],
    ['i32', '18446744073709551616', `input: ${I32}, found 18446744073709551616`],
    ['i32', '"abc"', `input: ${I32}, found "abc"`],
    ['i32', '"5"', `input: ${I32}, found "5"`],
    ['i32', 'true', `input: ${I32}, found true`],
    ['i32', 'null', `input: ${I32}, found null`],
    ['i32', '[]', `input: ${I32}, found an array`],
    ['i32', '{}', `input: ${I32}, found an object`],
    ['i32', '', `input: ${I32}, found the end of the text`],
    ['i32', '   ', `input: ${I32}, found the end of the text`],
    ['i32', '+1', `input: ${I32}, found +`],
    ['i32', '01', 'input: is not JSON: expected the end of the text at character 2, found 1'],
    ['i32', '5 6', 'input: is not JSON: expected the end of the text at character 3, found 6'],
    ['i32', '-', 'input: is not JSON: expected a digit at character 2, found the end of the text'],
    ['integers', '{"a":128}', 'a: must be an integer from -128 to 127, found 128'],
    ['integers', '{"b":256}', 'b: must be an integer from 0 to 255, found 256'],
    ['integers', '{"b":-1}', 'b: must be an integer from 0 to 255, found -1'],
    ['integers', '{"c":32768}', 'c: must be an integer from -32768 to 32767, found 32768'],
    ['integers', '{"d":65536}', 'd: must be an integer from 0 to 65535, found 65536'],
    ['integers', '{"f":-1}', 'f: must be an integer from 0 to 4294967295, found -1'],
    [
      'integers',
      '{"f":4294967296}',
      'f: must be an integer from 0 to 4294967295, found 4294967296',
    ],
    ['i64', '9007199254740992', `input: ${I64}, found 9007199254740992`],
    ['i64', '-9007199254740992', `input: ${I64}, found -9007199254740992`],
    ['i64', '"9223372036854775808"', `input: ${I64}, found "9223372036854775808"`],
    ['i64', '"-9223372036854775809"', `input: ${I64}, found "-9223372036854775809"`],
    ['i64', '"99999999999999999999999"', `input: ${I64}, found "99999999999999999999999"`],
    ['i64', '"1.5"', `input: ${I64}, found "1.5"`],
    ['i64', '"1e3"', `input: ${I64}, found "1e3"`],
    ['i64', '"01"', `input: ${I64}, found "01"`],
    ['i64', '" 1"', `input: ${I64}, found " 1"`],
    ['i64', '"1 "', `input: ${I64}, found "1 "`],
    ['i64', '"-0"', `input: ${I64}, found "-0"`],
    ['i64', '""', `input: ${I64}, found ""`],
    ['i64', '"5', `input: ${I64}, found "5`],
    ['i64', '"', `input: ${I64}, found "`],
    ['u64', '"18446744073709551616"', `input: ${U64}, found "18446744073709551616"`],
    ['u64', '"-1"', `input: ${U64}, found "-1"`],
    ['u64', '-1', `input: ${U64}, found -1`],
    // Reals.
    ['f64', '1e400', 'input: must be a number that 64 bits can hold, found 1e400'],
    ['f64', '-1e400', 'input: must be a number that 64 bits can hold, found -1e400'],
    ['f32', '1e39', 'input: must be a number that 32 bits can hold, found 1e39'],
    ['f64', '"1"', 'input: must be a number, found "1"'],
    ['f64', 'NaN', 'input: must be a number, found NaN'],
    ['f64', 'Infinity', 'input: must be a number, found Infinity'],
    ['f64', '.5', 'input: must be a number, found .'],
    ['f64', '1.', 'input: is not JSON: expected a digit at character 3, found the end of the text'],
    ['f64', '1e', 'input: is not JSON: expected a digit at character 3, found the end of the text'],
    [
      'f64',
      '1e+',
      'input: is not JSON: expected a digit at character 4, found the end of the text',
    ],
    // Strings and booleans.
    ['string', 'null', 'input: must be a string, found null'],
    ['string', '5', 'input: must be a string, found 5'],
    [
      'string',
      '"abc',
      `input: is not JSON: expected '"' at character 5, found the end of the text`,
    ],
    [
      'string',
      '"abc\\',
      'input: is not JSON: expected an escape that JSON knows at character 6, found the end of the text',
    ],
    [
      'string',
      '"\\x41"',
      'input: is not JSON: expected an escape that JSON knows at character 3, found x41',
    ],
    ['string', '"\\u12g4"', String.raw`input: is not JSON: '\u' needs four hexadecimal digits`],
    ['string', '"\\u12', String.raw`input: is not JSON: '\u' needs four hexadecimal digits`],
    ['string', '"\\ud83d"', 'input: must be Unicode text, found half of a surrogate pair'],
    ['string', '"\\ud83dx"', 'input: must be Unicode text, found half of a surrogate pair'],
    ['string', '"\\ud83d\\u0041"', 'input: must be Unicode text, found half of a surrogate pair'],
    ['string', '"\\ude00"', 'input: must be Unicode text, found half of a surrogate pair'],
    ['string', '"a\nb"', 'input: is not JSON: a control character in a string must be escaped'],
    ['bool', '1', 'input: must be true or false, found 1'],
    ['bool', '"true"', 'input: must be true or false, found "true"'],
    ['bool', 'tru', 'input: is not JSON: expected a value at character 1, found tru'],
    [
      'bool',
      'truefalse',
      'input: is not JSON: expected the end of the text at character 5, found false',
    ],
    // Objects.
    ['item', '[]', 'input: must be an object, found an array'],
    ['item', '{}', 'sku: is missing'],
    ['item', '{"sku":"a"}', 'quantity: is missing'],
    ['item', '{"sku":null,"quantity":1}', 'sku: must be a string, found null'],
    ['item', '{"sku":"a","quantity":1,"sku":"b"}', 'sku: is given twice'],
    ['item', '{"sku":"a","s\\u006bu":"b","quantity":1}', 'sku: is given twice'],
    [
      'item',
      '{"sku":"a","quantity":1',
      "input: is not JSON: expected ',' or '}' at character 24, found the end of the text",
    ],
    [
      'item',
      '{"sku":"a"',
      "input: is not JSON: expected ',' or '}' at character 11, found the end of the text",
    ],
    [
      'item',
      '{"sku"',
      "input: is not JSON: expected ':' at character 7, found the end of the text",
    ],
    [
      'item',
      '{',
      "input: is not JSON: expected a field's name at character 2, found the end of the text",
    ],
    [
      'item',
      '{"sku":"a","quantity":1,}',
      "input: is not JSON: expected a field's name at character 25, found }",
    ],
    ['item', '{sku:"a"}', "input: is not JSON: expected a field's name at character 2, found sku"],
    [
      'item',
      `${ITEM} x`,
      'input: is not JSON: expected the end of the text at character 26, found x',
    ],
    [
      'item',
      `${ITEM}}`,
      'input: is not JSON: expected the end of the text at character 25, found }',
    ],
    [
      'item',
      '{"sku":"a","quantity":1,"x":[1,]}',
      'input: is not JSON: expected a value at character 32, found ]',
    ],
    [
      'item',
      '{"sku":"a","quantity":1,"x":{"y":"\\q"}}',
      'input: is not JSON: expected an escape that JSON knows at character 36, found q',
    ],
    ['maybe', 'nul', 'input: is not JSON: expected a value at character 1, found nul'],
    ['renamed', '{"type":1,"constructorName":"x"}', 'type: must be a string, found 1'],
    // Arrays, maps, nesting.
    ['items', '{}', 'input: must be an array, found an object'],
    ['items', '[1]', '[0]: must be an object, found 1'],
    ['items', `[${ITEM},${ITEM},{"sku":"a","quantity":2.5}]`, `[2].quantity: ${I32}, found 2.5`],
    ['items', `[${ITEM},]`, '[1]: must be an object, found ]'],
    [
      'items',
      `[${ITEM}`,
      "input: is not JSON: expected ',' or ']' at character 26, found the end of the text",
    ],
    ['map', '{"one":{"sku":"a","quantity":"x"}}', `one.quantity: ${I32}, found "x"`],
    ['map', '{"a b":{"sku":"a","quantity":"x"}}', `["a b"].quantity: ${I32}, found "x"`],
    ['map', `{"a":${ITEM},"a":${ITEM}}`, 'a: is given twice'],
    [
      'node',
      '{"value":1,"children":[{"value":2,"children":[]},{"value":3,"children":[{"value":true}]}]}',
      `children[1].children[0].value: ${I32}, found true`,
    ],
    // Sum types.
    ['shape', '{}', 'type: is missing'],
    ['shape', '{"name":"c"}', 'type: is missing'],
    ['shape', '{"type":5}', 'type: must be a string, found 5'],
    ['shape', '{"type":null}', 'type: must be a string, found null'],
    [
      'shape',
      '{"type":"hexagon"}',
      'type: must be "circle" or "square" or "group", found "hexagon"',
    ],
    ['shape', '{"type":"Circle"}', 'type: must be "circle" or "square" or "group", found "Circle"'],
    ['shape', '{"type":"circle","type":"square","name":"x","radius":1}', 'type: is given twice'],
    ['shape', '{"type":"circle","radius":1}', 'name: is missing'],
    [
      'shape',
      '{"type":"group","name":"g","shapes":[{"type":"circle","name":"c","radius":"x"}]}',
      'shapes[0].radius: must be a number, found "x"',
    ],
    ['circle', '{"name":"c","radius":1}', 'type: is missing'],
    ['circle', '{"type":"square","name":"c","radius":1}', 'type: must be "circle", found "square"'],
    // Dates.
    ['date', '5', 'input: must be a string, found 5'],
    ['date', '"2026-02-29T12:00:00Z"', `input: ${DATE}, found "2026-02-29T12:00:00Z"`],
    ['date', '"2026-13-01T12:00:00Z"', `input: ${DATE}, found "2026-13-01T12:00:00Z"`],
    ['date', '"2026-01-01T24:00:00Z"', `input: ${DATE}, found "2026-01-01T24:00:00Z"`],
    ['date', '"2026-01-01T12:00:00"', `input: ${DATE}, found "2026-01-01T12:00:00"`],
    ['date', '"2026-01-01T12:00:00.Z"', `input: ${DATE}, found "2026-01-01T12:00:00.Z"`],
    ['date', '"2026-01-01T12:00:00+0200"', `input: ${DATE}, found "2026-01-01T12:00:00+0200"`],
    ['date', '"2026-01-01"', `input: ${DATE}, found "2026-01-01"`],
  ])('%s %s', (type, input, expected) => {
    expect(echo(type, input)).toBe(`refused: ${expected}`);
  });

  test('nesting beyond 100 levels, in what is read and in what is skipped', () => {
    const node = '{"value":1,"children":['.repeat(60);
    expect(echo('node', node)).toMatch(
      /^refused: (children\[0\]\.?){50}: is nested deeper than 100/,
    );
    for (const open of ['[', '{"a":'])
      expect(echo('nothing', `{"a":${open.repeat(200_000)}`)).toBe(
        'refused: input: is nested deeper than 100 levels',
      );
    const deepest = `${'{"value":1,"children":['.repeat(49)}{"value":1,"children":[]}${']}'.repeat(49)}`;
    expect(echo('node', deepest)).toBe(deepest);
  });

  test('long keys and values of a sender are shortened in the message', () => {
    const long = 'k'.repeat(10_000);
    const message = echo('map', `{"${long}":"${long}"}`);
    expect(message.length).toBeLessThan(200);
    expect(echo('i32', `"${long}"`).length).toBeLessThan(200);
  });

  test('every prefix of a text, without a trap', () => {
    const whole = JSON.stringify({
      ...EVERYTHING,
      note: String.raw`a"\é😀`,
      unknown: { deep: [1, -2.5e-3, true, false, null, 'A'] },
    }).replace('😀', String.raw`\ud83d\ude00`);
    expect(echo('everything', whole)).not.toMatch(/^refused/);
    for (let length = 0; length < whole.length; length++)
      expect(echo('everything', whole.slice(0, length))).toMatch(/^refused: /);
  });

  test('a text with any one character changed never traps', () => {
    const whole = JSON.stringify(EVERYTHING);
    const next = sequence(7);
    const letters = '{}[]",:\\0-1.eEtfnu \u0000\ud83dé';
    for (let round = 0; round < 3000; round++) {
      const at = next() % whole.length;
      const letter = letters[next() % letters.length]!;
      expect(typeof echo('everything', whole.slice(0, at) + letter + whole.slice(at + 1))).toBe(
        'string',
      );
    }
  });
});

describe('taken', () => {
  test('a value of every type comes back as it was', () => {
    expect(JSON.parse(echo('everything', JSON.stringify(EVERYTHING)))).toEqual(EVERYTHING);
  });

  test('a missing @optional field keeps its initialiser, a missing nullable one is null', () => {
    const {
      note: _,
      limit: _2,
      tags: _3,
      maybeItem: _4,
      maybeText: _5,
      maybeAt: _6,
      ...required
    } = EVERYTHING;
    expect(JSON.parse(echo('everything', JSON.stringify(required)))).toEqual({
      ...EVERYTHING,
      note: 'none',
      limit: 15,
      tags: ['a'],
    });
    const { fixed: _7, ...without } = EVERYTHING;
    expect(echo('everything', JSON.stringify(without))).toBe('refused: fixed: is missing');
  });

  test.each([
    ['i32', ' \t\r\n5 ', '5'],
    ['i32', '-0', '0'],
    ['i32', '-2147483648', '-2147483648'],
    ['i64', '9007199254740991', '9007199254740991'],
    ['i64', '-9007199254740991', '-9007199254740991'],
    ['i64', '"9007199254740992"', '"9007199254740992"'],
    ['i64', '"9223372036854775807"', '"9223372036854775807"'],
    ['i64', '"-9223372036854775808"', '"-9223372036854775808"'],
    ['i64', '"5"', '5'],
    ['u64', '"18446744073709551615"', '"18446744073709551615"'],
    ['u64', '0', '0'],
    ['maybe', 'null', 'null'],
    ['nothing', '{"a":[{}]}', '{}'],
    ['item', '{"quantity":1,"unknown":{"sku":5},"sku":"a"}', ITEM],
    ['item', '{"sk\\u0075":"a","quantity":1}', ITEM],
    [
      'shape',
      '{"name":"c","radius":1.5,"type":"circle"}',
      '{"type":"circle","name":"c","radius":1.5}',
    ],
    ['renamed', '{"type":"t","constructorName":"c"}', '{"type":"t","constructorName":"c"}'],
    [
      'string',
      '"\\u0041\\/\\b\\f\\n\\r\\t\\"\\\\\\ud83d\\ude00"',
      JSON.stringify('A/\b\f\n\r\t"\\😀'),
    ],
    ['date', '"2024-02-29T23:59:59+02:00"', '"2024-02-29T21:59:59.000Z"'],
    ['date', '"1969-12-31T23:59:59.999999Z"', '"1969-12-31T23:59:59.999Z"'],
  ])('%s %s', (type, input, expected) => {
    expect(echo(type, input)).toBe(expected);
  });

  test('thousands of strings of all kinds come back as they were', () => {
    const next = sequence(1);
    const alphabet = [
      'a',
      'é',
      '"',
      '\\',
      '\n',
      '\u0000',
      '\u001f',
      '\u007f',
      '\u2028',
      '😀',
      '𝄞',
      '/',
      '￿',
    ];
    const strings = Array.from({ length: 3000 }, () =>
      Array.from({ length: next() % 12 }, () => alphabet[next() % alphabet.length]).join(''),
    );
    expect(JSON.parse(echo('strings', JSON.stringify(strings)))).toEqual(strings);
  });

  test('half of a surrogate pair is written as U+FFFD', () => {
    expect(echo('half-pair', '')).toBe('"a�b"');
  });

  test('dates agree with JavaScript', () => {
    const next = sequence(3);
    for (let round = 0; round < 2000; round++) {
      const ms = (next() * 2 ** 21 + (next() % 2 ** 21)) % 253_402_300_799_999;
      const text = new Date(round % 2 === 0 ? ms : -(ms % 62_135_596_800_000)).toISOString();
      expect(echo('date', JSON.stringify(text))).toBe(JSON.stringify(text));
    }
  });
});
