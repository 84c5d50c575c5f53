// GeneratedDescriptors: descriptors for properties, most of them valid or almost so.
import * as fc from 'fast-check';
import {
  ALLOWABLE_FINDINGS,
  PLATFORM_VARIABLES,
  RESERVED_PORTS,
  RUNTIME_VARIABLES,
} from '../../client/index.ts';

/** Texts that are made of the parts of a grammar, most of them almost in it. */
function made(...parts: readonly string[]): fc.Arbitrary<string> {
  return fc.array(fc.constantFrom(...parts), { maxLength: 8 }).map((chosen) => chosen.join(''));
}

export const names = fc.oneof(
  fc.constantFrom('cart', 'a', 'd-3', 'a'.repeat(63), 'a'.repeat(64)),
  made('a', 'b', '-', '0', 'A', '.', ''),
);
export const references = fc.oneof(
  names,
  made('a', '-', '0', '.', 'A', 'a'.repeat(57), 'a'.repeat(63)),
);
export const images = fc.oneof(
  fc.constantFrom('cart:1', 'oci:images/cart:4', 'localhost/a/b', 'r.example.com:5000/a/b:c'),
  made('a', 'A', '0', '-', '_', '__', '.', '/', ':', '@', 'oci:', '[::1]', '5000', ' ', '://'),
  made('a', '/', ':4', 'oci:', `@sha256:${'0'.repeat(64)}`, '@sha256:1', 'b'.repeat(127), '.'),
  fc
    .integer({ min: 245, max: 265 })
    .map((length) => `r.io/${'a'.repeat(length)}:${'t'.repeat(99)}`),
);
export const hostnames = fc.oneof(
  fc.constantFrom('a.example.com', 'xn--a.b', `${'a'.repeat(63)}.b`, `${'a.'.repeat(126)}b`),
  made('a', '-', '0', '.', '0x', 'A', 'ö', '*', ':1', '1.2', '/', ' '),
);
export const paths = fc.oneof(
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
export const descriptors = fc
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
