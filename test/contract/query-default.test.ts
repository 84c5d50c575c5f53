// Defaults of query parameters: which values one can have, and that a descriptor with any other is refused.
import { describe, expect, test } from 'vitest';
import { isQueryDefault, parseModuleDescriptor, type TypeSchema } from '@svc/contract';

const TEXT = { type: 'string' } as const;
const BYTE = { type: 'integer', minimum: 0, maximum: 255 } as const;
const INT64 = { type: ['integer', 'string'] as ['integer', 'string'], format: 'int64' } as const;
const UINT64 = { ...INT64, format: 'uint64' } as const;
const FLOAT = { type: 'number', format: 'float' } as const;
const DOUBLE = { type: 'number', format: 'double' } as const;
const FLAG = { type: 'boolean' } as const;
const DATE = { type: 'string', format: 'date-time' } as const;
const DECIMAL = { type: 'string', format: 'decimal' } as const;
const DURATION = { type: 'string', format: 'duration' } as const;
const SORT = { $ref: '#/types/Sort' } as const;
const list = (items: TypeSchema) => ({ type: 'array', items }) as const;
const nullable = (type: TypeSchema): TypeSchema => ({ anyOf: [type, { type: 'null' }] });

const TYPES = {
  Sort: { type: 'string', enum: ['Title', 'Newest'] },
  Again: SORT,
  Endless: { $ref: '#/types/Endless' },
  Nested: nullable({ $ref: '#/types/Nested' }),
  Item: { type: 'object', properties: {}, required: [] },
} satisfies Record<string, TypeSchema>;
const named = (name: keyof typeof TYPES | 'Missing' | 'constructor') => ({
  $ref: `#/types/${name}`,
});

const FITTING: readonly (readonly [unknown, TypeSchema])[] = [
  ['', TEXT],
  ['x'.repeat(200), TEXT],
  ['AAE=', { ...TEXT, contentEncoding: 'base64' }],
  [true, FLAG],
  [0, BYTE],
  [255, BYTE],
  [-9_007_199_254_740_991, INT64],
  ['-9223372036854775808', INT64],
  ['9223372036854775807', INT64],
  ['18446744073709551615', UINT64],
  [0, UINT64],
  [3.4028234663852886e38, FLOAT],
  [1.7976931348623157e308, DOUBLE],
  ['2026-02-28T12:30:00Z', DATE],
  ['12.50', DECIMAL],
  ['PT1H30M', DURATION],
  ['Title', SORT],
  ['Newest', named('Again')],
  [[], list(TEXT)],
  [Array.from({ length: 100 }, () => 1), list(BYTE)],
  [['Title', 'Title'], list(SORT)],
  ['x', nullable(TEXT)],
  [[1], nullable(list(BYTE))],
];

const UNFIT: readonly (readonly [unknown, TypeSchema])[] = [
  [null, TEXT],
  [null, nullable(TEXT)],
  [1, TEXT],
  ['x'.repeat(201), TEXT],
  ['AAE', { ...TEXT, contentEncoding: 'base64' }],
  ['true', FLAG],
  [1, FLAG],
  ['1', BYTE],
  [256, BYTE],
  [-1, BYTE],
  [1.5, BYTE],
  [9_007_199_254_740_992, INT64],
  ['9223372036854775808', INT64],
  ['-1', UINT64],
  ['18446744073709551616', UINT64],
  ['01', INT64],
  ['-0', INT64],
  ['+1', INT64],
  ['1e3', INT64],
  ['', INT64],
  [1.5, INT64],
  [true, INT64],
  [3.5e38, FLOAT],
  ['1', DOUBLE],
  ['today', DATE],
  ['2026-02-30T00:00:00Z', DATE],
  ['1e3', DECIMAL],
  ['an hour', DURATION],
  ['title', SORT],
  ['Title', named('Endless')],
  ['Title', named('Nested')],
  ['Title', named('Missing')],
  ['Title', named('constructor')],
  [{}, named('Item')],
  ['{}', named('Item')],
  [{}, { type: 'object', additionalProperties: TEXT }],
  ['null', { type: 'null' }],
  [[1], BYTE],
  [1, list(BYTE)],
  [[256], list(BYTE)],
  [[1, '2'], list(BYTE)],
  [[null], list(nullable(TEXT))],
  [[[1]], list(list(BYTE))],
  [Array.from({ length: 101 }, () => 1), list(BYTE)],
];

const saying = (fallback: string, schema: TypeSchema, required = false) =>
  parseModuleDescriptor(
    JSON.stringify({
      protocol: '0.1.0',
      sdk: { name: 'test', version: '1.0.0' },
      types: { Sort: TYPES.Sort, Again: TYPES.Again, Nested: TYPES.Nested, Item: TYPES.Item },
      entities: [],
      endpoints: [
        {
          name: 'Books',
          prefix: '/books',
          access: { allow: 'internet' },
          routes: [
            {
              method: 'GET',
              path: '',
              handler: 'search',
              parameters: [],
              query: [{ name: 'q', schema, required, default: 'DEFAULT' }],
            },
          ],
        },
      ],
    }).replace('"DEFAULT"', () => fallback),
  );

describe('a default of a query parameter', () => {
  test.each(FITTING)('%j fits %j', (value, schema) => {
    expect(isQueryDefault(value, schema, TYPES)).toBe(true);
    expect(saying(JSON.stringify(value), schema).ok).toBe(true);
  });

  test.each(UNFIT)('%j does not fit %j', (value, schema) => {
    expect(isQueryDefault(value, schema, TYPES)).toBe(false);
    expect(saying(JSON.stringify(value), schema).ok).toBe(false);
  });

  test('that is half of a surrogate pair fits nothing', () => {
    expect(isQueryDefault('\uD800', TEXT, TYPES)).toBe(false);
    expect(saying('"\\ud800"', TEXT).ok).toBe(false);
  });

  test.each([Number.NaN, Infinity, -Infinity, undefined])('%s is none', (value) => {
    expect(isQueryDefault(value, DOUBLE, TYPES)).toBe(false);
  });

  test('is refused with its name, or with its place in the descriptor', () => {
    expect(saying('256', BYTE)).toEqual({
      ok: false,
      problems: ["route GET /books: the default of the query parameter 'q' does not fit its type"],
    });
    expect(saying('1e999', DOUBLE)).toMatchObject({
      ok: false,
      problems: [expect.stringContaining('/endpoints/0/routes/0/query/0/default')],
    });
    expect(saying('1', BYTE, true)).toEqual({
      ok: false,
      problems: ["route GET /books: the query parameter 'q' is required and has a default"],
    });
  });
});
