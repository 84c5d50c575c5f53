// Codec: the values that a schema of typebox decodes and encodes, and the schemas that a descriptor cannot express.
import { Type } from 'typebox';
import { describe, expect, test } from 'vitest';
import { codecOf, type Schema } from '../../components/codec.ts';
import { ShapeDescription } from '../../components/shape-description.ts';

const codec = (schema: Schema) => codecOf(schema, 'it');
const decoded = (schema: Schema, value: unknown): unknown =>
  codec(schema).decode(JSON.stringify(value), 'input');
const described = (schema: Schema) => {
  const types = new ShapeDescription();
  return { schema: types.of(codec(schema).shape, 'T'), types: types.types };
};
const DateTime = Type.String({ format: 'date-time' });
const NOTED = {
  $id: 'T',
  title: 'T',
  description: 'What it is.',
  examples: ['y'],
  deprecated: true,
};
const deep = (levels: number) => '['.repeat(levels) + ']'.repeat(levels);

describe('a type of typebox', () => {
  test.each<readonly [string, Type.TSchema, unknown]>([
    ['String', Type.String(), { type: 'string' }],
    ['date-time', DateTime, { type: 'string', format: 'date-time' }],
    ['decimal', Type.String({ format: 'decimal' }), { type: 'string', format: 'decimal' }],
    ['duration', Type.String({ format: 'duration' }), { type: 'string', format: 'duration' }],
    [
      'base64',
      Type.String({ contentEncoding: 'base64' }),
      { type: 'string', contentEncoding: 'base64' },
    ],
    ['Enum', Type.Enum(['a', 'b']), { type: 'string', enum: ['a', 'b'] }],
    [
      'Literals',
      Type.Union([Type.Literal('a'), Type.Literal('b')]),
      { type: 'string', enum: ['a', 'b'] },
    ],
    ['Boolean', Type.Boolean(), { type: 'boolean' }],
    [
      'Integer',
      Type.Integer({ minimum: 1, exclusiveMaximum: 9 }),
      { type: 'integer', minimum: 1, maximum: 8 },
    ],
    ['BigInt', Type.BigInt(), { type: ['integer', 'string'], format: 'int64' }],
    [
      'BigInt from 0',
      Type.BigInt({ minimum: 0n }),
      { type: ['integer', 'string'], format: 'uint64' },
    ],
    ['Number', Type.Number(), { type: 'number', format: 'double' }],
    ['Null', Type.Null(), { type: 'null' }],
    ['Array', Type.Array(Type.Boolean()), { type: 'array', items: { type: 'boolean' } }],
    [
      'Record',
      Type.Record(Type.String(), Type.Boolean()),
      { type: 'object', additionalProperties: { type: 'boolean' } },
    ],
    [
      'a description',
      Type.Boolean({ description: 'Whether.' }),
      { type: 'boolean', description: 'Whether.' },
    ],
    [
      'Union with Null',
      Type.Union([Type.Boolean(), Type.Null()]),
      { anyOf: [{ type: 'boolean' }, { type: 'null' }] },
    ],
  ])('%s is described', (_name, schema, expected) => {
    expect(described(schema).schema).toEqual(expected);
  });

  test('Object says which fields have to be there', () => {
    const schema = Type.Object({
      a: Type.Boolean(),
      b: Type.Optional(Type.Boolean()),
      c: Type.Boolean({ default: true }),
      d: Type.Union([Type.Boolean(), Type.Null()]),
    });
    expect(described(schema).schema).toMatchObject({ type: 'object', required: ['a'] });
    expect(decoded(schema, { a: false, gone: 1 })).toEqual({ a: false, c: true, d: null });
    const text = codec(schema).encode({ d: null, c: false, b: undefined, a: true, more: 1 }, 'it');
    expect(text).toBe('{"a":true,"c":false,"d":null}');
  });

  test('decimals and durations are texts of their form, durations with as few parts as they need', () => {
    const schema = Type.Object({
      fee: Type.String({ format: 'decimal' }),
      grace: Type.String({ format: 'duration' }),
    });
    const sent = { fee: '12.50', grace: 'PT90M' };
    const kept = { fee: '12.50', grace: 'PT1H30M' };
    expect(decoded(schema, sent)).toEqual(kept);
    expect(codec(schema).encode(sent, 'it')).toBe(JSON.stringify(kept));
    expect(() => decoded(schema, { ...sent, fee: '1e3' })).toThrow(
      'fee: must be a decimal like 12.50, of at most 100 digits, found "1e3"',
    );
    expect(() => decoded(schema, { ...sent, fee: 12.5 })).toThrow('fee: must be a string');
    expect(() => decoded(schema, { ...sent, grace: 'P1Y' })).toThrow(
      'grace: must be a duration like PT1H30M, of at most 100000000 days, found "P1Y"',
    );
  });

  test('an Optional field of a Union with Null is absent, null or a value', () => {
    const schema = Type.Object({ a: Type.Optional(Type.Union([Type.Integer(), Type.Null()])) });
    for (const value of [{}, { a: null }, { a: 1 }]) {
      expect(decoded(schema, value)).toStrictEqual(value);
      expect(codec(schema).encode(value, 'it')).toBe(JSON.stringify(value));
    }
    expect(described(schema).schema).toMatchObject({ required: [] });
  });

  test('a field has further names that are read', () => {
    const schema = Type.Object(
      {
        feePerDay: Type.Integer({ aliases: ['fee', 'price'] }),
        note: Type.Optional(Type.Union([Type.String(), Type.Null()], { aliases: ['remark'] })),
      },
      { additionalProperties: false },
    );
    expect(described(schema).schema).toMatchObject({
      required: ['feePerDay'],
      aliases: { feePerDay: ['fee', 'price'], note: ['remark'] },
    });
    expect(decoded(schema, { fee: 3, remark: null })).toEqual({ feePerDay: 3, note: null });
    expect(decoded(schema, { feePerDay: 3 })).toEqual({ feePerDay: 3 });
    expect(codec(schema).encode({ feePerDay: 3, note: 'x' }, 'it')).toBe(
      '{"feePerDay":3,"note":"x"}',
    );
    expect(() => codec(schema).encode({ fee: 3, feePerDay: 3 }, 'it')).toThrow('fee: is not known');
    expect(() => decoded(schema, { fee: 3, price: 3 })).toThrow(
      "price: is given twice: 'feePerDay' and 'fee' and 'price' are names of one field",
    );
    expect(() => decoded(schema, { price: '3' })).toThrow('price: must be an integer');
    expect(() => decoded(schema, {})).toThrow('feePerDay: is missing');
  });

  test.each<readonly [string, Type.TSchema, string]>([
    [
      'the name of a field',
      Type.Object({ a: Type.Null({ aliases: ['b'] }), b: Type.Null() }),
      "its alias 'b' is another",
    ],
    [
      'an alias',
      Type.Object({ a: Type.Null({ aliases: ['c'] }), b: Type.Null({ aliases: ['c'] }) }),
      "its alias 'c' is another",
    ],
    [
      'no name',
      Type.Object({ a: Type.Null({ aliases: [1] }) }),
      'its aliases are no list of names',
    ],
    [
      'of no field',
      Type.Array(Type.String({ aliases: ['c'] })),
      'an alias of what is no field of an Object',
    ],
    [
      'of a tag',
      Type.Object({ type: Type.Literal('a', { aliases: ['c'] }) }),
      "an alias of a case's field 'type'",
    ],
  ])('an alias that is %s is refused', (_name, schema, message) => {
    expect(() => codec(schema)).toThrow(message);
  });

  test('Union of objects is described by named cases, and Cyclic by its name', () => {
    const Tree = Type.Cyclic(
      {
        Tree: Type.Union([
          Type.Object({ type: Type.Literal('leaf') }),
          Type.Object({ type: Type.Literal('node'), inner: Type.Array(Type.Ref('Tree')) }),
        ]),
      },
      'Tree',
    );
    const { schema, types } = described(Tree);
    expect(schema).toEqual({ $ref: '#/types/Tree' });
    expect(types['Tree']).toMatchObject({
      oneOf: [{ $ref: '#/types/Tree.leaf' }, { $ref: '#/types/Tree.node' }],
    });
    const tree = { type: 'node', inner: [{ type: 'leaf' }, { type: 'node', inner: [] }] };
    expect(decoded(Tree, tree)).toEqual(tree);
    expect(() => decoded(Tree, { type: 'node', inner: [{ type: 'root' }] })).toThrow(
      'inner[0].type: must be "leaf" or "node", found "root"',
    );
  });

  test('Codec gives the program a form of its own', () => {
    const schema = Type.Object({
      at: Type.Codec(DateTime)
        .Decode((text) => new Date(text))
        .Encode((date) => date.toISOString()),
    });
    const value = decoded(schema, { at: '2026-03-01T01:00:00+01:00' });
    expect(value).toEqual({ at: new Date('2026-03-01T00:00:00.000Z') });
    expect(codec(schema).encode(value, 'it')).toBe('{"at":"2026-03-01T00:00:00.000Z"}');
  });

  test('a default is a fresh value each time', () => {
    const schema = Type.Object({ tags: Type.Array(Type.String(), { default: [] }) });
    const first = decoded(schema, {}) as { tags: string[] };
    first.tags.push('mine');
    expect(decoded(schema, {})).toEqual({ tags: [] });
  });

  test('any text is a key of a Record, and nothing else is one', () => {
    const schema = Type.Record(Type.String(), Type.Integer());
    const map = codec(schema).decode('{"__proto__":1,"constructor":2}', 'it') as Record<
      string,
      number
    >;
    expect(Object.keys(map)).toEqual(['__proto__', 'constructor']);
    expect(map['toString']).toBeUndefined();
    expect(codec(schema).encode(map, 'it')).toBe('{"__proto__":1,"constructor":2}');
  });

  test.each<readonly [string, Type.TSchema, unknown, string]>([
    [
      'a missing field',
      Type.Object({ a: Type.Array(Type.Object({ b: Type.String() })) }),
      { a: [{}] },
      'a[0].b: is missing',
    ],
    [
      'a fraction',
      Type.Integer({ minimum: 0, maximum: 9 }),
      2.5,
      'input: must be an integer from 0 to 9, found 2.5',
    ],
    [
      'a range',
      Type.Number({ exclusiveMinimum: 0 }),
      0,
      'input: must be a number above 0, found 0',
    ],
    [
      'a length',
      Type.String({ minLength: 2, maxLength: 3 }),
      '😀',
      'input: must have 2 to 3 characters, found 1',
    ],
    [
      'a pattern',
      Type.String({ pattern: '^a+$' }),
      'b',
      'input: must be text like ^a+$, found "b"',
    ],
    ['a member', Type.Enum(['a', 'b']), 'c', 'input: must be "a" or "b", found "c"'],
    [
      'a count',
      Type.Array(Type.Null(), { maxItems: 1 }),
      [null, null],
      'input: must have 0 to 1 items, found 2',
    ],
    ['a date', DateTime, '2026-02-30T00:00:00Z', 'input: must be a date and time like'],
    [
      'bytes',
      Type.String({ contentEncoding: 'base64' }),
      'QR==',
      'input: must be bytes as base64 text',
    ],
    ['a big number', Type.BigInt(), 2 ** 60, 'input: must be an integer up to 9007199254740991'],
    ['a 65-bit integer', Type.BigInt(), '18446744073709551616', 'input: must be an integer up to'],
    [
      'a field that is not known',
      Type.Object({}, { additionalProperties: false }),
      { b: 1 },
      'b: is not known',
    ],
    ['half a surrogate pair', Type.String(), '\ud800', 'input: is not Unicode text'],
    ['a list', Type.Object({}), [], 'input: must be an object, found a list'],
    [
      'the tag',
      Type.Object({ type: Type.Literal('a') }),
      { type: 'b' },
      'type: must be "a", found "b"',
    ],
  ])('refuses by path and words: %s', (_what, schema, value, problem) => {
    expect(() => decoded(schema, value)).toThrow(problem);
  });

  test.each([
    ['Tuple', Type.Tuple([Type.String()])],
    ['Any', Type.Any()],
    ['Unknown', Type.Unknown()],
    ['Intersect', Type.Intersect([Type.Object({}), Type.Object({})])],
    [
      'Refine',
      Type.Refine(
        Type.String(),
        () => true,
        () => 'no',
      ),
    ],
    ['undefined', Type.Undefined()],
    ["the rule 'uniqueItems'", Type.Array(Type.String(), { uniqueItems: true })],
    ["the rule 'multipleOf'", Type.Integer({ multipleOf: 2 })],
    ["the rule 'minLength'", Type.Union([Type.String(), Type.Null()], { minLength: 3 })],
    ["the rule 'uniqueItems'", Type.Union([Type.Null({ uniqueItems: true }), Type.String()])],
    ["the rule 'oneOf'", { anyOf: [{ type: 'string' }], oneOf: [{ type: 'null' }] }],
    ["the rule 'pattern'", Type.Enum(['a', 'b'], { pattern: 'a' })],
    ["the rule 'minLength'", Type.Literal('a', { minLength: 3 })],
    ["the rule 'minLength'", Type.Union([Type.Literal('a', { minLength: 3 }), Type.Literal('b')])],
    ["the rule 'maxItems'", Type.Cyclic({ A: Type.Array(Type.Ref('A')) }, 'A', { maxItems: 1 })],
    ["the rule 'required' for 'b'", { type: 'object', properties: {}, required: ['b'] }],
    ['a text of the type "integer"', { type: 'integer', const: 'a' }],
    ['a format beside', Type.String({ format: 'decimal', contentEncoding: 'base64' })],
    [
      'a Codec of a Literal in a Union',
      Type.Union([
        Type.Codec(Type.Literal('a'))
          .Decode(() => 1)
          .Encode(() => 'a' as const),
        Type.Literal('b'),
      ]),
    ],
    [
      'Refine',
      Type.Union([
        Type.String(),
        Type.Refine(
          Type.Null(),
          () => false,
          () => 'no',
        ),
      ]),
    ],
    ["the format 'email'", Type.String({ format: 'email' })],
    ['the Literal 1', Type.Literal(1)],
    ['a Union of anything but texts', Type.Union([Type.String(), Type.Integer()])],
    ['a Record whose keys are not any text', Type.Record(Type.Integer(), Type.String())],
  ])('refuses to be defined with %s, by name and place', (name, schema) => {
    const inside = Type.Object({ a: Type.Array(schema) });
    expect(() => codecOf(inside, "component 'x', state")).toThrow(
      expect.objectContaining({
        code: 'SVC_DEFINITION_INVALID',
        message: expect.stringMatching(/^component 'x', state\.a\[\]: /),
      }),
    );
    expect(() => codecOf(inside, 'it')).toThrow(new RegExp(name, 'i'));
  });

  test.each([
    ['a Union with Null', Type.Union([Type.String(), Type.Null()], NOTED), 'x'],
    ['a Literal', Type.Literal('x', NOTED), 'x'],
    ['an Enum', Type.Enum(['x', 'y'], NOTED), 'x'],
    ['a list of types', { type: ['string', 'null'], minLength: 1, ...NOTED }, 'x'],
    ['a Cyclic', Type.Cyclic({ A: Type.Array(Type.Ref('A', NOTED)) }, 'A', NOTED), [[]]],
    [
      'a Union of objects',
      Type.Union(
        [Type.Object({ type: Type.Literal('a') }), Type.Object({ type: Type.Literal('b') })],
        {
          ...NOTED,
          discriminator: { propertyName: 'type' },
        },
      ),
      { type: 'a' },
    ],
  ])('takes the annotations of %s', (_what, schema, value) => {
    expect(decoded(schema, value)).toEqual(value);
  });

  test('refuses a default that does not fit', () => {
    expect(() => codec(Type.Object({ a: Type.Integer({ default: 'x' }) }))).toThrow(
      'a default does not fit: a:',
    );
  });

  test.each([
    ['NaN', Type.Number(), Number.NaN],
    ['undefined', Type.Object({ a: Type.String() }), {}],
    ['a number for a bigint', Type.BigInt(), 1],
  ])('does not write what it would not read: %s', (_what, schema, value) => {
    expect(() => codec(schema).encode(value, 'reply')).toThrow(TypeError);
  });

  test('what is nested without end is refused', () => {
    const List = Type.Cyclic({ List: Type.Array(Type.Ref('List')) }, 'List');
    expect(() => codec(List).decode(deep(100), 'input')).not.toThrow();
    expect(() => codec(List).decode(deep(100_000), 'input')).toThrow('is nested too deep');
  });
});
