// Draft: the empty field for each kind of declared type, and the exact JSON of the typed values.
import { describe, expect, test } from 'vitest';
import type { TypeSchema } from '@svc/contract';
import { draftOfJson } from '../../../../console/page/form/draft-of-json.ts';
import { draftProblems, shownProblems } from '../../../../console/page/form/draft-problems.ts';
import {
  draftText,
  emptyDraft,
  type Draft,
  type Types,
} from '../../../../console/page/form/draft.ts';
import { readJson } from '../../../../console/page/view/json-value.ts';
import { TYPES } from '../../fake/description.ts';

const text: TypeSchema = { type: 'string' };
const int64: TypeSchema = { type: ['integer', 'string'], format: 'int64' };
const uint64: TypeSchema = { type: ['integer', 'string'], format: 'uint64' };
const small: TypeSchema = { type: 'integer', minimum: 1, maximum: 999 };

interface Kind {
  readonly schema: TypeSchema;
  readonly kind: Draft['kind'];
  /** The JSON that an empty form sends if the user insists. */
  readonly empty: string;
  /** Whether the form first reports that the value is missing. */
  readonly isBlank?: true;
  readonly filled: string;
}

/** A type of each kind in contract/type-schema.ts. */
const KINDS: readonly (readonly [string, Kind])[] = [
  ['a text', { schema: text, kind: 'text', empty: '""', filled: '"name"' }],
  [
    'a time',
    {
      schema: { type: 'string', format: 'date-time' },
      kind: 'text',
      empty: '""',
      isBlank: true,
      filled: '"2030-01-01T00:00:00.000Z"',
    },
  ],
  ...(
    [
      ['a decimal', 'decimal', '"12.50"'],
      ['a duration', 'duration', '"PT1H30M"'],
    ] as const
  ).map(([name, format, filled]): readonly [string, Kind] => [
    name,
    { schema: { type: 'string', format }, kind: 'text', empty: '""', isBlank: true, filled },
  ]),
  [
    'bytes',
    {
      schema: { type: 'string', contentEncoding: 'base64' },
      kind: 'text',
      empty: '""',
      filled: '"AQID"',
    },
  ],
  [
    'a choice',
    {
      schema: { type: 'string', enum: ['red', 'blue'] },
      kind: 'text',
      empty: '""',
      isBlank: true,
      filled: '"red"',
    },
  ],
  ['a flag', { schema: { type: 'boolean' }, kind: 'flag', empty: 'false', filled: 'true' }],
  ['an integer', { schema: small, kind: 'number', empty: 'null', isBlank: true, filled: '1' }],
  [
    'an integer of 64 bits',
    { schema: int64, kind: 'big', empty: 'null', isBlank: true, filled: '9007199254740991' },
  ],
  [
    'a number',
    {
      schema: { type: 'number', format: 'double' },
      kind: 'number',
      empty: 'null',
      isBlank: true,
      filled: '1.5',
    },
  ],
  ['null', { schema: { type: 'null' }, kind: 'null', empty: 'null', filled: 'null' }],
  [
    'a list',
    { schema: { type: 'array', items: small }, kind: 'list', empty: '[]', filled: '[1,2]' },
  ],
  [
    'a map',
    {
      schema: { type: 'object', additionalProperties: text },
      kind: 'map',
      empty: '{}',
      filled: '{"a":"b"}',
    },
  ],
  [
    'a record, whose optional fields are left out',
    {
      schema: {
        type: 'object',
        properties: { a: text, b: small, c: { anyOf: [text, { type: 'null' }] } },
        required: ['a'],
      },
      kind: 'record',
      empty: '{"a":""}',
      filled: '{"a":"a","b":1,"c":null}',
    },
  ],
  [
    'what may be null',
    {
      schema: { anyOf: [text, { type: 'null' }] },
      kind: 'nullable',
      empty: 'null',
      filled: '"name"',
    },
  ],
  [
    'a union',
    {
      schema: { $ref: '#/types/Payment' },
      kind: 'union',
      empty: '{"type":""}',
      isBlank: true,
      filled: '{"type":"card","number":"number","validTo":"2030-01-01T00:00:00.000Z"}',
    },
  ],
];

const read = (schema: TypeSchema, json: string) => {
  const reading = readJson(json);
  if (!reading.ok) throw new Error(reading.problem);
  return draftOfJson(schema, reading.value, TYPES);
};

describe('a form has a field for each declared type', () => {
  test.each(KINDS)('%s begins empty', (_, { schema, kind, empty, isBlank }) => {
    const draft = emptyDraft(schema, TYPES);
    expect(draft.kind).toBe(kind);
    expect(draftText(draft)).toBe(empty);
    const problems = draftProblems(schema, draft, TYPES);
    const blank = { path: '', message: 'is not filled in', isBlank: true };
    expect(problems).toEqual(isBlank ? [blank] : []);
    // Missing values are not reported before the user tries to send the call.
    expect(shownProblems(problems, false)).toEqual([]);
    expect(shownProblems(problems, true)).toEqual(problems);
  });

  test.each(KINDS)('%s is read again from the JSON of the empty form', (_, { schema, empty }) => {
    const { draft, problems } = read(schema, empty);
    expect(problems).toEqual([]);
    expect(draftText(draft)).toBe(empty);
    expect(draftProblems(schema, draft, TYPES)).toEqual(
      draftProblems(schema, emptyDraft(schema, TYPES), TYPES),
    );
  });

  test.each(KINDS)('%s, filled in from JSON', (_, { schema, filled }) => {
    const { draft, problems } = read(schema, filled);
    expect(problems).toEqual([]);
    expect(draftText(draft)).toBe(filled);
    expect(draftProblems(schema, draft, TYPES)).toEqual([]);
  });

  test('a union of one case has it chosen', () => {
    const schema: TypeSchema = {
      oneOf: [{ $ref: '#/types/Invoice' }],
      discriminator: { propertyName: 'type' },
    };
    expect(draftText(emptyDraft(schema, TYPES))).toBe('{"type":"invoice","days":null}');
  });
});

describe('a type that holds itself', () => {
  const schema: TypeSchema = { $ref: '#/types/Category' };

  test('begins with nothing within it', () => {
    const draft = emptyDraft(schema, TYPES);
    expect(draftText(draft)).toBe('{"name":"","parent":null,"children":[]}');
  });

  test('without an end stays to be filled in, and says so', () => {
    const types: Types = {
      Loop: { type: 'object', properties: { next: { $ref: '#/types/Loop' } }, required: ['next'] },
    };
    const loop: TypeSchema = { $ref: '#/types/Loop' };
    const draft = emptyDraft(loop, types);
    expect(draftText(draft)).toBe('{"next":null}');
    expect(draftProblems(loop, draft, types)).toEqual([
      { path: 'next', message: 'is not filled in', isBlank: true },
    ]);
  });

  test('in many others is opened in bounds', () => {
    const types = Object.fromEntries(
      Array.from({ length: 6 }, (_, depth) => {
        const inner = depth === 5 ? text : { $ref: `#/types/T${depth + 1}` };
        const names = Array.from({ length: 10 }, (_none, at) => `f${at}`);
        const properties = Object.fromEntries(names.map((name) => [name, inner]));
        return [`T${depth}`, { type: 'object', properties, required: names }];
      }),
    );
    const json = draftText(emptyDraft({ $ref: '#/types/T0' }, types));
    expect(json.match(/f\d/g)!.length).toBeLessThan(1000);
  });

  test('a reference in a circle is no type', () => {
    const types: Types = { A: { $ref: '#/types/B' }, B: { $ref: '#/types/A' } };
    expect(emptyDraft({ $ref: '#/types/A' }, types)).toEqual({ kind: 'unopened' });
  });
});

const one = (key: string) => ({ key, value: { kind: 'flag' as const, on: true } });

describe('what a field holds becomes exact JSON', () => {
  test.each([
    ['9007199254740991', '9007199254740991'],
    ['9007199254740992', '"9007199254740992"'],
    ['-9223372036854775808', '"-9223372036854775808"'],
  ])('an integer of 64 bits: %s', (typed, json) => {
    expect(draftText({ kind: 'big', text: typed })).toBe(json);
  });

  test('a number is sent as it was typed', () => {
    expect(draftText({ kind: 'number', text: ' 1.10 ' })).toBe('1.10');
    expect(draftText({ kind: 'number', text: '1e3' })).toBe('1e3');
  });

  test('a number that is none is sent as text: the service refuses it', () => {
    expect(draftText({ kind: 'number', text: '12 pieces' })).toBe('"12 pieces"');
  });

  test('what is left out is not there, and null is null', () => {
    const draft: Draft = {
      kind: 'record',
      fields: [
        { name: 'gone', isLeftOut: true, value: { kind: 'text', text: 'kept' } },
        {
          name: 'nothing',
          isLeftOut: false,
          value: { kind: 'nullable', isNull: true, value: { kind: 'text', text: 'kept' } },
        },
      ],
    };
    expect(draftText(draft)).toBe('{"nothing":null}');
  });

  test('a map keeps the order of its keys, numbers among them', () => {
    expect(draftText({ kind: 'map', entries: [one('b'), one('1')] })).toBe('{"b":true,"1":true}');
  });
});

const item = (quantity: string) => `{"sku":"a","quantity":${quantity},"price":1,"note":null}`;

describe('an input that cannot be says why before it is sent', () => {
  test.each<readonly [string, TypeSchema, Draft, string]>([
    ['too small', small, { kind: 'number', text: '0' }, 'must be at least 1'],
    ['too large', small, { kind: 'number', text: '1000' }, 'must be at most 999'],
    ['no whole number', small, { kind: 'number', text: '1.5' }, 'must be a whole number'],
    [
      'beyond 64 bits',
      int64,
      { kind: 'big', text: '9223372036854775808' },
      'must be at most 9223372036854775807',
    ],
    ['below zero', uint64, { kind: 'big', text: '-1' }, 'must be at least 0'],
    [
      'no number',
      { type: 'number', format: 'double' },
      { kind: 'number', text: 'NaN' },
      'must be a number',
    ],
    [
      'no base64',
      { type: 'string', contentEncoding: 'base64' },
      { kind: 'text', text: 'A' },
      'must be base64',
    ],
    [
      'no time',
      { type: 'string', format: 'date-time' },
      { kind: 'text', text: 'soon' },
      "must be a time such as '2030-01-01T00:00:00.000Z'",
    ],
    ...['1e3', '01', '1.'].map(
      (wrong) =>
        [
          `no decimal: ${wrong}`,
          { type: 'string', format: 'decimal' },
          { kind: 'text', text: wrong },
          "must be a decimal such as '12.50'",
        ] as const,
    ),
    ...['P', 'PT', 'P1Y', '1D'].map(
      (wrong) =>
        [
          `no duration: ${wrong}`,
          { type: 'string', format: 'duration' },
          { kind: 'text', text: wrong },
          "must be a duration such as 'PT1H30M'",
        ] as const,
    ),
    [
      'no choice',
      { type: 'string', enum: ['a', 'b'] },
      { kind: 'text', text: 'c' },
      'must be one of a, b',
    ],
  ])('%s', (_, schema, draft, message) => {
    expect(draftProblems(schema, draft, {})).toEqual([{ path: '', message }]);
  });

  test('with the path of its place', () => {
    const schema: TypeSchema = { $ref: '#/types/Cart' };
    const reading = readJson(`{"id":"x","items":[${item('1')},${item('0')}],"total":1}`);
    if (!reading.ok) throw new Error(reading.problem);
    const { draft } = draftOfJson(schema, reading.value, TYPES);
    expect(draftProblems(schema, draft, TYPES)).toEqual([
      { path: 'items[1].quantity', message: 'must be at least 1' },
    ]);
  });

  test('a key that is there twice', () => {
    const entry = { key: 'a b', value: { kind: 'text' as const, text: '' } };
    const schema: TypeSchema = { type: 'object', additionalProperties: text };
    const problems = draftProblems(schema, { kind: 'map', entries: [entry, entry] }, {});
    expect(problems).toEqual([{ path: '["a b"]', message: 'this key appears twice' }]);
  });
});

describe('JSON that the form has no place for is named', () => {
  test.each([
    [
      'a field too many',
      '{"type":"invoice","days":3,"more":1}',
      'more',
      'is not a field of this type',
    ],
    ['a field too few', '{"type":"invoice"}', 'days', 'is missing'],
    [
      'an unknown case',
      '{"type":"cash"}',
      '',
      'must be an object whose \'type\' is one of card, invoice, not {type: "cash"}',
    ],
    ['another type', '{"type":"invoice","days":"3"}', 'days', 'must be a number, not "3"'],
  ])('%s', (_, json, path, message) => {
    const reading = readJson(json);
    if (!reading.ok) throw new Error(reading.problem);
    const { problems } = draftOfJson({ $ref: '#/types/Payment' }, reading.value, TYPES);
    expect(problems).toEqual([{ path, message }]);
  });
});
