// The schema of the descriptor, which other languages validate with: Ajv takes a descriptor exactly if descriptorProblems finds
// nothing, but for the rules that JSON Schema cannot express.
import Ajv from 'ajv/dist/2020.js';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  ALLOWABLE_FINDINGS,
  PLATFORM_VARIABLES,
  RESERVED_PORTS,
  RUNTIME_VARIABLES,
  descriptorProblems,
  openApiDocument,
  problemLine,
} from '../../../client/index.ts';

const WEB = { name: 'cart', image: 'a', hosting: 'process', protocol: 'http/1.1' };
const ajv = new Ajv.Ajv2020({ strict: false });
ajv.addSchema(openApiDocument('1.0.0'), 'api');
const validate = ajv.compile({ $ref: 'api#/components/schemas/ServiceDescriptor' });

/** Problems of which the schema knows nothing. */
const UNSTATED = [
  /^(port|processPort) is \d+, which is also /,
  /^mounts\/\d+\/service is the service itself/,
  /^mounts\/\d+ is the same as entry /,
  /^resources\/(cpu|memory) is .*: write a quantity /,
  /^env\/\w+ is longer than 32768 bytes$/,
  /^env has \d+ bytes of names and values/,
];

const isStated = (line: string) => !UNSTATED.some((rule) => rule.test(line));

/** Texts that are made of the parts of a grammar, most of them almost in it. */
function made(...parts: readonly string[]): fc.Arbitrary<string> {
  return fc.array(fc.constantFrom(...parts), { maxLength: 8 }).map((chosen) => chosen.join(''));
}

const names = fc.oneof(
  fc.constantFrom('cart', 'a', 'd-3', 'a'.repeat(63), 'a'.repeat(64)),
  made('a', 'b', '-', '0', 'A', '.', ''),
);
const references = fc.oneof(names, made('a', '-', '0', '.', 'A', 'a'.repeat(57), 'a'.repeat(63)));
const images = fc.oneof(
  fc.constantFrom('cart:1', 'oci:images/cart:4', 'localhost/a/b', 'r.example.com:5000/a/b:c'),
  made('a', 'A', '0', '-', '_', '__', '.', '/', ':', '@', 'oci:', '[::1]', '5000', ' ', '://'),
  made('a', '/', ':4', 'oci:', `@sha256:${'0'.repeat(64)}`, '@sha256:1', 'b'.repeat(127), '.'),
  fc
    .integer({ min: 245, max: 265 })
    .map((length) => `r.io/${'a'.repeat(length)}:${'t'.repeat(99)}`),
);
const hostnames = fc.oneof(
  fc.constantFrom('a.example.com', 'xn--a.b', `${'a'.repeat(63)}.b`, `${'a.'.repeat(126)}b`),
  made('a', '-', '0', '.', '0x', 'A', 'ö', '*', ':1', '1.2', '/', ' '),
);
const paths = fc.oneof(
  fc.constantFrom('/cart', '/a/b'),
  made('/', 'a', '.', '..', '~', '%20', '$', ';'),
);
const versions = made('1', '.', '0.2.0', '-', 'rc', '+', '1.4.0', 'svc/', '2', 'http/1.1', '0');
const protocols = fc.oneof(fc.constantFrom('http/1.1', 'svc/1', '0.2.0', 'svc/0', 1), versions);
const quantities = made('1', '0', '.', 'm', 'Mi', 'e', '5', 'G', 'x', '-');
const findings = fc.oneof(
  fc.constantFrom(...ALLOWABLE_FINDINGS),
  fc
    .tuple(fc.constantFrom(...ALLOWABLE_FINDINGS, 'other'), made(':', 'cart', ' ', 'x'.repeat(99)))
    .map((parts) => parts.join('')),
);
const variableNames = fc.oneof(
  fc.constantFrom(
    ...PLATFORM_VARIABLES,
    ...RUNTIME_VARIABLES.slice(0, 5),
    'NODE_OPTIONS',
    '__proto__',
  ),
  made('A', '_', '1', '-', 'a'.repeat(99), 'é'),
);
const variables = fc
  .array(fc.tuple(variableNames, fc.constantFrom('', 'debug', 'a\0', 'x'.repeat(32_769), 1)), {
    maxLength: 3,
  })
  // As JSON.parse makes it, which has `__proto__` for a key of the object itself.
  .map(
    (entries) =>
      JSON.parse(
        `{${entries.map(([key, value]) => `${JSON.stringify(key)}:${JSON.stringify(value)}`).join()}}`,
      ) as object,
  );
const ports = fc.constantFrom(
  ...RESERVED_PORTS.map(({ port }) => port),
  1,
  8080,
  9000,
  0,
  65_535,
  65_536,
  1.5,
);
const anything = fc.jsonValue({ maxDepth: 1 });

/** Lists, also of too many entries, or with one entry twice. */
function listed<Item>(items: fc.Arbitrary<Item>): fc.Arbitrary<unknown> {
  return fc.oneof(
    { weight: 5, arbitrary: fc.array(items, { maxLength: 3 }) },
    { weight: 1, arbitrary: items.map((item) => [item, item]) },
  );
}

/** A field that is mostly of its grammar, and sometimes of another type. */
function mostly(values: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> {
  return fc.oneof({ weight: 20, arbitrary: values }, { weight: 1, arbitrary: anything });
}

const FIELDS = {
  runtime: versions,
  port: ports,
  processPort: ports,
  http: fc.boolean(),
  instances: fc.integer({ min: 0, max: 11 }),
  env: variables,
  mounts: listed(
    fc.record({ path: mostly(paths), service: mostly(references) }, { requiredKeys: ['path'] }),
  ),
  callers: listed(references),
  hostnames: listed(hostnames),
  resources: fc.record({ cpu: quantities, memory: quantities, x: anything }, { requiredKeys: [] }),
  database: fc.record({ urlFrom: made('a', '.', '-', 'A', '0') }, { requiredKeys: [] }),
  allow: listed(findings),
  auth: fc.constantFrom('platform', 'Platform', ''),
  other: anything,
};

/** Descriptors of all hostings with at most three other fields, so that many have no problem. */
const descriptors = fc
  .tuple(
    fc.record(
      { name: mostly(fc.constant('cart')), image: mostly(fc.constant('cart:1')) },
      { requiredKeys: ['name'] },
    ),
    fc.oneof(
      fc.constantFrom(
        {},
        { hosting: 'embedded' },
        { hosting: 'process', protocol: 'svc/1' },
        { hosting: 'process', protocol: 'http/1.1' },
        { hosting: 'wasm', protocol: '0.2.0' },
        { hosting: 'wasm' },
      ),
      fc.record({
        hosting: fc.constantFrom('embedded', 'process', 'wasm', 'other', null),
        protocol: protocols,
      }),
    ),
    fc
      .shuffledSubarray(Object.keys(FIELDS), { maxLength: 3 })
      .chain((chosen) =>
        fc.record(
          Object.fromEntries(
            chosen.map((name) => [name, mostly(FIELDS[name as keyof typeof FIELDS])]),
          ),
        ),
      ),
  )
  .map(([required, hosting, others]) => ({ ...required, ...hosting, ...others }));

/**
 * Returns how schema and checks disagree on the value: the problems that the schema should have found, or its errors for a
 * value without problems.
 */
function disagreement(value: unknown): readonly unknown[] {
  const problems = descriptorProblems(value).map(problemLine);
  if (validate(value)) return problems.filter(isStated);
  return problems.length > 0 ? [] : (validate.errors ?? []);
}

describe('the schema refuses what descriptorProblems refuses, and nothing else', () => {
  test('for descriptors with some fields', () => {
    let taken = 0;
    const runs = 6000;
    fc.assert(
      fc.property(descriptors, (descriptor) => {
        expect(disagreement(descriptor)).toEqual([]);
        if (validate(descriptor)) taken++;
      }),
      { numRuns: runs },
    );
    // Neither answer is rare.
    expect(taken).toBeGreaterThan(runs / 20);
    expect(taken).toBeLessThan(runs / 1.2);
  });

  test.each<[string, fc.Arbitrary<unknown>]>([
    ['image', images.map((image) => ({ name: 'cart', image }))],
    ['name', names.map((name) => ({ name, image: 'a' }))],
    ['hostnames', hostnames.map((name) => ({ name: 'cart', image: 'a', hostnames: [name] }))],
    [
      'mounts',
      fc.tuple(paths, references).map(([path, service]) => ({
        name: 'shop',
        image: 'a',
        hosting: 'process',
        protocol: 'http/1.1',
        mounts: [{ path, service }],
        callers: [service],
      })),
    ],
  ])('for texts of the grammar of %s', (_, values) => {
    fc.assert(
      fc.property(values, (value) => {
        expect(disagreement(value)).toEqual([]);
      }),
      { numRuns: 3000 },
    );
  });

  test.each([[], null, 'cart', 1])('for %j, which is no object', (value) => {
    expect(disagreement(value)).toEqual([]);
  });

  test.each(['mounts', 'callers', 'hostnames', 'allow', 'env'])('for too many of %s', (field) => {
    const entries = Array.from({ length: 1001 }, (_, index) => `a${index}.example`);
    const value =
      field === 'env' ? Object.fromEntries(entries.map((_, index) => [`A${index}`, ''])) : entries;
    expect(disagreement({ name: 'cart', image: 'a', [field]: value })).toEqual([]);
  });
});

test.each<[string, object]>([
  ['two ports are the same', { ...WEB, port: 80, processPort: 80 }],
  ['a quantity is 0', { name: 'cart', image: 'a', resources: { cpu: '0' } }],
  ['a variable is too long in bytes', { name: 'cart', image: 'a', env: { A: 'é'.repeat(20_000) } }],
  ['a service is mounted on itself', { ...WEB, mounts: [{ path: '/a', service: 'cart' }] }],
])('the schema does not notice that %s', (_, descriptor) => {
  expect(descriptorProblems(descriptor)).toHaveLength(1);
  expect(validate(descriptor)).toBe(true);
});
