// What docs/how-to/partial-updates.md and docs/how-to/money-and-time.md say of embedded components: the schemas that they
// show stand here, and decode as they say.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Type } from 'typebox';
import { expect, test } from 'vitest';
import { codecOf, type Schema } from '../../components/codec.ts';

const read = (page: string) =>
  readFileSync(join(import.meta.dirname, '..', '..', 'docs', 'how-to', page), 'utf8');
/** The code of the page's section about embedded components that begins with `Type.`. */
const schemasOf = (page: string) =>
  [
    ...read(page)
      .split('\n## In embedded components\n')[1]!
      .matchAll(/`(Type\.[^`]+)`/g),
  ].map(([, code]) => code!);
const own = readFileSync(import.meta.filename, 'utf8');
const decoded = (schema: Schema, json: string): unknown =>
  codecOf(Type.Object({ field: schema }), 'it').decode(json, 'input');

const patch = Type.Optional(Type.String());
const nullablePatch = Type.Optional(Type.Union([Type.String(), Type.Null()]));
const decimal = Type.String({ format: 'decimal' });
const duration = Type.String({ format: 'duration' });

/** As that of big.js, as far as the page uses it. */
class Big {
  readonly #text: string;
  constructor(text: string) {
    this.#text = text;
  }
  toFixed(): string {
    return this.#text;
  }
}
// oxfmt-ignore
const calculated = Type.Codec(Type.String({ format: 'decimal' })).Decode((text) => new Big(text)).Encode((value) => value.toFixed());

test.each(['partial-updates.md', 'money-and-time.md'])('the schemas of %s stand here', (page) => {
  const shown = schemasOf(page);
  expect(shown.length).toBeGreaterThanOrEqual(2);
  expect(shown.filter((code) => !own.includes(` = ${code};`))).toEqual([]);
});

test('a patch is absent or a value, and with null in its schema also null', () => {
  for (const schema of [patch, nullablePatch]) {
    expect(Object.keys(decoded(schema, '{}') as object)).toEqual([]);
    expect(decoded(schema, '{"field":"a"}')).toEqual({ field: 'a' });
  }
  expect(decoded(nullablePatch, '{"field":null}')).toEqual({ field: null });
  expect(() => decoded(patch, '{"field":null}')).toThrow('field: must be a string, found null');
});

test('decimals and durations are texts, unless a codec makes something else of them', () => {
  expect(decoded(decimal, '{"field":"12.50"}')).toEqual({ field: '12.50' });
  expect(decoded(duration, '{"field":"PT90M"}')).toEqual({ field: 'PT1H30M' });
  const codec = codecOf(calculated, 'it');
  const value = codec.decode('"12.50"', 'input');
  expect(value).toBeInstanceOf(Big);
  expect(codec.encode(value, 'output')).toBe('"12.50"');
});
