// The configuration of a descriptor: what its values may be, and what a descriptor may say of it.
import { describe, expect, test } from 'vitest';
import {
  CONFIGURATION_BYTES_MAX,
  configurationProblems,
  declaredTypeName,
  declaredValues,
  type ModuleDescriptor,
  parseModuleDescriptor,
  type TypeSchema,
  valueOfText,
} from '../../contract/index.ts';

const properties: Record<string, TypeSchema> = {
  currency: { type: 'string' },
  fee: { type: 'string', format: 'decimal' },
  days: { type: 'integer', minimum: 0, maximum: 365 },
  big: { type: ['integer', 'string'], format: 'int64' },
  open: { type: 'boolean' },
  names: { type: 'array', items: { type: 'string' } },
  note: { anyOf: [{ type: 'string' }, { type: 'null' }] },
  key: { type: 'string' },
};
const described: Pick<ModuleDescriptor, 'types' | 'configuration'> = {
  types: { Settings: { type: 'object', properties, required: ['fee', 'key'] } },
  configuration: {
    schema: { $ref: '#/types/Settings' },
    defaults: { currency: 'EUR' },
    secrets: ['key'],
  },
};
const GOOD = { fee: '0.50', key: 'a-long-enough-key' };

const problemsOf = (values: object) =>
  configurationProblems(new Map(Object.entries(values)), described);

test('values with a default may be left out, and null is a value of a nullable type', () => {
  expect(problemsOf(GOOD)).toEqual([]);
  expect(problemsOf({ ...GOOD, currency: 'SEK', days: 365, big: '9007199254740993' })).toEqual([]);
  expect(problemsOf({ ...GOOD, note: null, names: ['a'], open: false })).toEqual([]);
});

test('all problems are reported together, and none of them quotes a value', () => {
  const problems = configurationProblems(
    new Map<string, unknown>([
      ['curency', 'private-1'],
      ['fee', 0.5],
      ['days', 366],
      ['names', ['a', 7]],
      ['key', 'short'],
    ]),
    described,
    { origins: new Map([['days', '/etc/days.yaml']]) },
  );
  expect(problems).toEqual([
    `"curency" is not declared: did you mean 'currency'?`,
    "'fee' is not a decimal: write it in quotes",
    "'days' is not an integer from 0 to 365 (/etc/days.yaml)",
    "'names': /1 is not a text",
    "the secret 'key' has fewer than 8 characters",
  ]);
});

test('a value that is missing is reported with its type, unless its file could not be read', () => {
  expect(problemsOf({ key: GOOD.key })).toEqual(["'fee' is missing: a decimal"]);
  expect(
    configurationProblems(new Map([['key', GOOD.key]]), described, { unread: new Set(['fee']) }),
  ).toEqual([]);
});

test('values of more than 256 KiB together are refused', () => {
  const long = 'x'.repeat(CONFIGURATION_BYTES_MAX);
  expect(problemsOf({ ...GOOD, currency: long })).toEqual([
    expect.stringMatching(/^the values have \d+ bytes as JSON, and may have 262144$/),
  ]);
});

test('names of objects that JavaScript has are names like any other', () => {
  expect(problemsOf({ ...GOOD, constructor: 'x', toString: 'y' })).toEqual([
    '"constructor" is not declared',
    '"toString" is not declared',
  ]);
  const values = new Map<string, unknown>([...Object.entries(GOOD), ['__proto__', {}]]);
  expect(configurationProblems(values, described)).toEqual(['"__proto__" is not declared']);
});

test.each([
  ['currency', '12', '12'],
  ['currency', 'null', 'null'],
  ['fee', '0.50', '0.50'],
  ['days', '14', 14],
  ['days', ' 14 ', 14],
  ['days', 'many', 'many'],
  ['big', '12', 12],
  ['big', '9007199254740993', '9007199254740993'],
  ['open', 'true', true],
  ['names', '["a"]', ['a']],
  ['note', 'text', 'text'],
] as const)('the plain text of %s, %s, is a value', (name, text, value) => {
  expect(valueOfText(text, properties[name]!, described.types)).toEqual(value);
});

test('the declared values are listed in their order, with defaults and types in words', () => {
  const listed = declaredValues(described);
  expect(listed.map(({ name }) => name)).toEqual(Object.keys(properties));
  expect(listed[0]).toMatchObject({ fallback: 'EUR', isRequired: false, isSecret: false });
  expect(listed.at(-1)).toMatchObject({ isRequired: true, isSecret: true, fallback: undefined });
  expect(declaredTypeName(properties['note']!, described.types)).toBe('a text or null');
});

describe('a descriptor is refused', () => {
  const whole = {
    protocol: '0.2.0',
    sdk: { name: 'x', version: '1' },
    entities: [],
    endpoints: [],
    ...described,
  };
  const refused = (change: (descriptor: typeof whole) => void): readonly string[] => {
    const descriptor = structuredClone(whole);
    change(descriptor);
    const result = parseModuleDescriptor(JSON.stringify(descriptor));
    return result.ok ? [] : result.problems;
  };
  type Changed = { configuration: Record<string, unknown>; types: Record<string, unknown> };
  const changed = (change: (descriptor: Changed) => void) =>
    refused((descriptor) => change(descriptor as unknown as Changed));

  test('not when it is well formed', () => {
    expect(refused(() => {})).toEqual([]);
  });
  test('whose configuration is no record', () => {
    expect(changed((d) => (d.configuration['schema'] = { type: 'string' }))).toEqual([
      'the configuration is no record',
    ]);
  });
  test('with a secret that is no text, or is not declared', () => {
    expect(changed((d) => (d.configuration['secrets'] = ['days', 'other', 'fee']))).toEqual([
      "the secret 'days' is no text of the configuration",
      "the secret 'other' is no text of the configuration",
      "the secret 'fee' is no text of the configuration",
    ]);
  });
  test('with the default of a secret, of a required value, and of another type', () => {
    const defaults = { key: 'x', fee: '1', days: 'many' };
    expect(changed((d) => (d.configuration['defaults'] = defaults))).toEqual([
      "the secret 'key' has a default",
      "the configuration has a default for 'key', which is no value that may be left out",
      "the configuration has a default for 'fee', which is no value that may be left out",
      "the default of 'days' in the configuration does not fit its type",
    ]);
  });
  test('with more than 200 values', () => {
    const many = Object.fromEntries(
      Array.from({ length: 201 }, (_, at) => [`v${at}`, { type: 'boolean' }]),
    );
    const types = { Settings: { type: 'object', properties: many, required: [] } };
    expect(
      changed((d) => {
        d.types = types;
        d.configuration = { schema: { $ref: '#/types/Settings' } };
      }),
    ).toEqual(['the configuration has 201 values, and may have 200']);
  });
});
