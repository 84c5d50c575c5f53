// Inputs with which a caller could try to make a module trap, store data that it cannot read again, or exhaust
// memory. Every input is answered or refused.
import { beforeEach, describe, expect, test } from 'vitest';
import { compileFixtureCore } from '../support/compile-fixture.ts';
import { CoreGuest } from '../support/core-guest.ts';

const module = new WebAssembly.Module(await compileFixtureCore('codec'));
let guest: CoreGuest;
let entity: number;

beforeEach(() => {
  guest = new CoreGuest(module);
  entity = guest.open('codec', 'one');
});

function echo(type: string, input: string): string {
  const result = guest.query(entity, type, input);
  return 'ok' in result ? result.ok : `refused: ${result.refused.message}`;
}

const nested = (levels: number): string =>
  `${'{"value":1,"children":['.repeat(levels - 1)}{"value":1,"children":[]}${']}'.repeat(levels - 1)}`;

describe('messages are Unicode text, since nothing else can leave a module', () => {
  test('a pair of surrogates where a value should be', () => {
    expect(echo('item', '😀')).toBe('refused: input: must be an object, found 😀');
    expect(echo('item', '{😀')).toBe(
      "refused: input: is not JSON: expected a field's name at character 2, found 😀",
    );
  });

  test('an excerpt, a key and a tag are not cut within a pair', () => {
    for (let before = 36; before <= 40; before++) {
      const text = `${'x'.repeat(before)}😀😀😀`;
      for (const answer of [
        echo('i32', `"${text}"`),
        echo('map', `{"${text}":1}`),
        echo('shape', `{"type":"${text}"}`),
        echo('circle', `{"type":"${text}"}`),
        echo('date', `"${text}"`),
      ]) {
        expect(answer).toMatch(/^refused: /);
        expect(answer.isWellFormed()).toBe(true);
        expect(answer).not.toContain('�');
      }
    }
  });

  test('half a pair that the module itself has made is written as U+FFFD', () => {
    expect(echo('cut', '"😀"')).toBe('refused: �');
    expect(guest.takeLog().map((line) => line.message)).toEqual(['�']);
  });
});

describe('what was accepted can be stored and read again', () => {
  test('an input of the greatest depth', () => {
    const result = guest.command(entity, 'plant', nested(50));
    if (!('ok' in result)) throw new Error(result.refused.message);
    expect(guest.apply(entity, result.ok.events)).toBeUndefined();
    const again = guest.open('codec', 'one', guest.snapshot(entity));
    expect(JSON.parse(guest.snapshot(again))).toEqual({
      everything: null,
      node: JSON.parse(nested(50)) as object,
    });
    expect(echo('node', nested(51))).toMatch(/: is nested deeper than 100 levels$/);
  });

  test('a value too deep to be read again is not written', () => {
    expect(() => echo('endless', 'null')).toThrow(WebAssembly.RuntimeError);
    expect(guest.takeLog()[0]?.message).toMatch(
      /^abort: a value that is nested deeper than 200 levels cannot be written as JSON at /,
    );
  });

  test('a date that its offset moves out of the years 0 to 9999 is refused', () => {
    for (const date of ['0000-01-01T00:00:00+00:01', '9999-12-31T23:59:59.999-00:01'])
      expect(echo('date', `"${date}"`)).toMatch(/^refused: input: must be a date and time/);
    for (const date of ['0000-01-01T00:00:00.000Z', '9999-12-31T23:59:59.999Z'])
      expect(echo('date', `"${date}"`)).toBe(`"${date}"`);
  });

  test('a date out of the years 0 to 9999 is not written', () => {
    for (const ms of ['253402300800000', '-62167219200001']) {
      const own = new CoreGuest(module);
      expect(() => own.query(own.open('codec', 'one'), 'far-date', ms)).toThrow(
        WebAssembly.RuntimeError,
      );
      expect(own.takeLog()[0]?.message).toMatch(
        /^abort: a date outside of the years 0 to 9999 cannot be written as JSON at /,
      );
    }
  });
});

describe('a large input costs what its length costs', () => {
  const MEBIBYTE = 1024 * 1024;

  test('keys with escapes, read again at each level because the tag comes last', () => {
    let shape = `{"radius":1,"name":"a",${'"\\n":0,'.repeat(120_000)}"type":"circle"}`;
    for (let level = 0; level < 48; level++)
      shape = `{"shapes":[${shape}],"name":"a","type":"group"}`;
    expect(echo('shape', shape)).not.toMatch(/^refused/);
    expect(guest.memoryBytes).toBeLessThanOrEqual(32 * MEBIBYTE);
  });

  test('a mebibyte of the decimals that are hardest to round', () => {
    const doubles = `[${Array.from({ length: MEBIBYTE / 7 }, () => '1e-300').join(',')}]`;
    expect(echo('doubles', doubles)).toBe(doubles);
    expect(guest.memoryBytes).toBeLessThanOrEqual(32 * MEBIBYTE);
  });

  test('a mebibyte of empty items of an array, of a map, and of what is skipped', () => {
    const count = MEBIBYTE / 3;
    expect(echo('strings', `[${'"",'.repeat(count)}""]`)).not.toMatch(/^refused/);
    expect(echo('nothing', `{"a":[${'{},'.repeat(count)}{}]}`)).toBe('{}');
    const keys = Array.from({ length: MEBIBYTE / 12 }, (_, key) => `"${key}":{`);
    expect(echo('map', `{${keys.join('},')}}}`)).toMatch(/^refused: .*is missing$/);
    expect(guest.memoryBytes).toBeLessThan(64 * MEBIBYTE);
  });
});

test('a key that is written with escapes is the same key', () => {
  expect(echo('item', String.raw`{"\u0073ku":"a","quanti\u0074y":1}`)).toBe(
    '{"sku":"a","quantity":1}',
  );
  expect(echo('item', String.raw`{"sku":"a","\u0073ku":"a","quantity":1}`)).toBe(
    'refused: sku: is given twice',
  );
  expect(echo('shape', String.raw`{"\u0074ype":"circle","name":"n","radius":1}`)).toBe(
    '{"type":"circle","name":"n","radius":1}',
  );
  expect(
    echo('map', String.raw`{"a":{"sku":"","quantity":1},"\u0061":{"sku":"","quantity":1}}`),
  ).toBe('refused: a: is given twice');
});
