// The hostings of a service: which fields each has, which protocols, and which variables reach the runtime.
import { assert, constantFrom, option, property, record } from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  ALLOWABLE_FINDINGS,
  COMPONENT_PORT_VARIABLE,
  ROUTES,
  RUNTIME_VARIABLES,
  cpuMillis,
  descriptorProblems,
  hostingKind,
  memoryBytes,
  moduleVariables,
  problemLine,
  type HostingKind,
  type ServiceDescriptor,
} from '../../../client/index.ts';
import { ALLOWABLE_NAMES } from '../../../host/history/upgrade-finding.ts';
import { PROCESS_PORT_VARIABLE } from '../../../process-protocol/protocol.ts';
import { runtimeVariables } from '../../../scripts/runtime-words.ts';

const MINIMAL = {
  embedded: { name: 'cart', image: 'cart:1' },
  process: { name: 'cart', image: 'cart:1', hosting: 'process', protocol: 'svc/1' },
  wasm: { name: 'cart', image: 'cart:1', hosting: 'wasm', protocol: '0.2.0' },
  web: { name: 'cart', image: 'cart:1', hosting: 'process', protocol: 'http/1.1' },
} as const satisfies Record<HostingKind, ServiceDescriptor>;
const KINDS = Object.keys(MINIMAL) as HostingKind[];

function linesOf(kind: HostingKind, changes: object = {}): readonly string[] {
  return descriptorProblems({ ...MINIMAL[kind], ...changes }).map(problemLine);
}

describe.each(KINDS)('a service of the kind %s', (kind) => {
  test('needs a name, an image, its hosting and its protocol', () => {
    expect(linesOf(kind)).toEqual([]);
    expect(hostingKind(MINIMAL[kind])).toBe(kind);
  });

  test('can have instances, hostnames, resources and a database of its own', () => {
    expect(
      linesOf(kind, {
        runtime: '1.4.0',
        port: 9100,
        http: true,
        instances: 10,
        hostnames: ['cart.example.com'],
        resources: { cpu: '500m', memory: '512Mi' },
        database: { urlFrom: 'cart-database' },
      }),
    ).toEqual([]);
  });

  test.each([0, 11, 1.5, '2', null])('cannot have %j instances', (instances) => {
    expect(linesOf(kind, { instances })).toEqual(['instances is not a whole number from 1 to 10']);
  });
});

test('a protocol without a hosting is told that the hosting is missing', () => {
  expect(linesOf('embedded', { protocol: 'http/1.1' })).toEqual([
    'protocol may not be declared without hosting: declare hosting process or wasm, too',
  ]);
  expect(linesOf('embedded', { hosting: 'embedded', protocol: 'http/1.1' })).toEqual([
    'protocol may not be declared: the code of an embedded service is in the same process',
  ]);
});

describe('fields of one kind alone', () => {
  test.each(['embedded', 'process', 'wasm'] as const)('%s has no mounts or callers', (kind) => {
    const web = {
      processPort: 1,
      mounts: [{ path: '/a', service: 'cart' }],
      callers: ['a'],
    };
    expect(linesOf(kind, web)).toEqual(
      ['callers', 'mounts', 'processPort'].map((name) =>
        expect.stringMatching(`^${name} may not be declared: only a web-hosted service`),
      ),
    );
  });

  test('tokens of the platform are for modules and for components in a process', () => {
    for (const kind of ['wasm', 'process'] as const) {
      expect(linesOf(kind, { auth: 'platform' })).toEqual([]);
      expect(linesOf(kind, { auth: 'https://id.example.com' })).toEqual([
        'auth is "https://id.example.com": write platform',
      ]);
    }
    for (const kind of ['embedded', 'web'] as const)
      expect(linesOf(kind, { auth: 'platform' })).toEqual([
        expect.stringContaining('auth may not be declared: the runtime verifies access tokens for'),
      ]);
  });

  test('a service with components can be without HTTP, and then has no hostnames', () => {
    for (const kind of ['embedded', 'process', 'wasm'] as const) {
      expect(linesOf(kind, { http: false, port: 8080 })).toEqual([]);
      expect(linesOf(kind, { http: false, hostnames: ['a.example.com'] })).toEqual([
        'hostnames may not be declared with "http": false',
      ]);
    }
    expect(linesOf('web', { http: false })).toEqual([
      'http is not true: a web-hosted service serves HTTP',
    ]);
  });
});

describe('a protocol', () => {
  test.each([
    ['embedded', 'svc/1', 'may not be declared'],
    ['process', undefined, 'is missing: write http/1.1 for a web-hosted service, or svc/1'],
    ['process', 'http/2', 'is "http/2": write http/1.1'],
    ['process', 'svc/0', 'is "svc/0": write http/1.1'],
    ['process', 1, 'is not a text'],
    ['wasm', undefined, 'is missing: write the version of the WIT package'],
    ['wasm', 'http/1.1', 'is "http/1.1": write the version'],
    ['wasm', '0.2', 'is "0.2": write the version'],
  ] as const)('of %s cannot be %j', (kind, protocol, reason) => {
    expect(linesOf(kind, { protocol })).toEqual([expect.stringContaining(`protocol ${reason}`)]);
  });

  test('is not judged by itself when the hosting is unknown', () => {
    expect(linesOf('web', { hosting: 'docker' })).toEqual([
      'hosting is "docker": write embedded, process or wasm',
    ]);
  });
});

describe('variables of a service with a runtime of the platform', () => {
  test.each(['wasm', 'process'] as const)(
    'are the limits, the log and the shards of the runtime with %s',
    (kind) => {
      expect(RUNTIME_VARIABLES).toEqual(runtimeVariables());
      const env = Object.fromEntries(RUNTIME_VARIABLES.map((name) => [name, '1']));
      expect(linesOf(kind, { env })).toEqual([]);
      expect(moduleVariables(env)).toEqual({ settings: env, configuration: {} });
    },
  );

  test('are the limits of calls of a process', () => {
    const env = { SVC_PROCESS_HANDLER_TIMEOUT_MS: '1000' };
    expect(moduleVariables(env).settings).toEqual(env);
  });

  test.each(['SVC_PROCESS_HANDLER_TIMEOUT', 'SVC_PROCESS_FILE', 'SVC_PROCESS_COMMAND'])(
    'cannot be %s with process, which would set nothing',
    (name) => {
      for (const kind of ['process', 'wasm'] as const)
        expect(linesOf(kind, { env: { [name]: '1' } })).toEqual([
          `env/${name} may not be declared: of the settings of the runtime, only limits, log and shards can be set`,
        ]);
      for (const kind of ['embedded', 'web'] as const)
        expect(linesOf(kind, { env: { [name]: '1' } })).toEqual([]);
    },
  );

  test('of other names are values of the configuration, also those that would mean something to a process', () => {
    const values = {
      feePerDay: '0.50',
      NODE_OPTIONS: '1',
      LD_PRELOAD: '1',
      PATH: '1',
      svc_log: '1',
    };
    const env = { ...values, SVC_LOG: 'json' };
    expect(linesOf('wasm', { env })).toEqual([]);
    expect(moduleVariables(env)).toEqual({ settings: { SVC_LOG: 'json' }, configuration: values });
    const ofProcess = { ...env, SVC_DATA: '/mine' };
    expect(moduleVariables(ofProcess)).toEqual(moduleVariables(env));
  });

  test.each(KINDS)(
    'PORT and SVC_SERVICES_URL may not be declared by %s, and all problems are named',
    (kind) => {
      const env = { PORT: '1', SVC_SERVICES_URL: 'http://a', 'a-b': '', NUL: '\0' };
      expect(linesOf(kind, { env })).toEqual([
        expect.stringContaining('env has the name "a-b"'),
        expect.stringContaining('env/NUL has the character NUL'),
        'env/PORT may not be declared: the platform gives this variable to the process',
        'env/SVC_SERVICES_URL may not be declared: the platform gives this variable to the process',
      ]);
    },
  );

  test.each([
    'SVC_DATA',
    'SVC_DEPLOYED',
    'SVC_PROJECT',
    'SVC_IDENTITY_FOLDER',
    'SVC_MANAGEMENT_PORT',
    'SVC_OBSERVABILITY_OTLP_ENDPOINT',
    'SVC_OBSERVABILITY_OTLP_HEADERS',
    'SVC_RUNNING_DIR',
    'SVC_CONFIGURATION_FOLDER',
    'SVC_CONFIGURATION_VARIABLES',
    'SVC_CONFIGURATION_SECRETS',
    'SVC_AUTH_ISSUER',
    'SVC_GREETING',
  ])('cannot be %s, which other hostings may have', (name) => {
    expect(linesOf('wasm', { env: { [name]: '1' } })).toEqual([
      expect.stringContaining(`env/${name} may not be declared`),
    ]);
    expect(linesOf('process', { env: { [name]: '1' } })).toEqual([]);
  });
});

test('the port of a process with components is given by the platform', () => {
  const env = { SVC_PROCESS_PORT: '1' };
  expect(COMPONENT_PORT_VARIABLE).toBe(PROCESS_PORT_VARIABLE);
  expect(linesOf('process', { env })).toEqual([
    'env/SVC_PROCESS_PORT may not be declared: the platform gives this variable to the process',
  ]);
  for (const kind of ['embedded', 'web'] as const) expect(linesOf(kind, { env })).toEqual([]);
});

describe('findings that an upgrade check may accept', () => {
  test('are those of the upgrade check', () => {
    expect(ALLOWABLE_FINDINGS).toEqual(ALLOWABLE_NAMES);
    const allow = ALLOWABLE_FINDINGS.flatMap((name) => [name, `${name}:cart`]);
    expect(linesOf('wasm', { allow })).toEqual([]);
  });

  test.each(['record-damaged', 'anything', '', 'route-removed:', 'route-removed:a b', 7])(
    'cannot be %j',
    (finding) => {
      expect(linesOf('wasm', { allow: [finding] })).toEqual([
        expect.stringMatching(/^allow\/0 is /),
      ]);
    },
  );
});

describe('quantities', () => {
  test.each([
    ['500m', 500, undefined],
    ['2', 2000, 2],
    ['0.5', 500, undefined],
    ['0.0005', undefined, undefined],
    ['512Mi', 536_870_912_000, 536_870_912],
    ['1.5Gi', 1_610_612_736_000, 1_610_612_736],
    ['1G', 1_000_000_000_000, 1_000_000_000],
    ['1e3', 1_000_000, 1000],
    ['1E', undefined, undefined],
    ['1000e-3', 1000, 1],
    ['0', undefined, undefined],
    ['-1', undefined, undefined],
    ['1GB', undefined, undefined],
    ['1 Gi', undefined, undefined],
    ['', undefined, undefined],
    ['9'.repeat(400), undefined, undefined],
  ])('%s is %j thousandths of a core, or %j bytes', (text, millis, bytes) => {
    expect(cpuMillis(text)).toBe(millis);
    expect(memoryBytes(text)).toBe(bytes);
  });

  test.each([{ cpu: 1 }, { cpu: '1Q' }, { memory: '400m' }, { gpu: '1' }, [], 'large'])(
    'of %j are refused',
    (resources) => {
      expect(linesOf('embedded', { resources })).toHaveLength(1);
    },
  );
});

test('the schema of a descriptor has the fields that the checks know', () => {
  const [{ reason } = { reason: '' }] = descriptorProblems({ ...MINIMAL.wasm, x: 1 });
  const known = reason.split('the fields are ')[1]?.split(', ') ?? [];
  const { properties } = ROUTES.applyService.body as unknown as { readonly properties: object };
  expect(known.toSorted()).toEqual(Object.keys(properties).toSorted());
});

test('problems do not depend on the order of fields, and each fault adds to them', () => {
  const faults = {
    name: constantFrom('Cart', 5),
    image: constantFrom('', 'a b'),
    runtime: constantFrom('one', 1),
    instances: constantFrom(0, 'x'),
    resources: constantFrom({ cpu: 'x' }, []),
    database: constantFrom({}, null),
    hostnames: constantFrom(['x'], 'x'),
  };
  assert(
    property(
      constantFrom(...KINDS),
      record(faults, { requiredKeys: [] }),
      option(constantFrom('x', 'y')),
      (kind, changes, extra) => {
        const value = { ...MINIMAL[kind], ...changes, ...(extra === null ? {} : { [extra]: 1 }) };
        const problems = descriptorProblems(value);
        const reversed = Object.fromEntries(Object.entries(value).toReversed());
        expect(descriptorProblems(reversed)).toEqual(problems);
        const fields = [...Object.keys(changes), ...(extra === null ? [] : [''])].toSorted();
        expect(problems.map(({ path }) => path.split('/')[1] ?? '').toSorted()).toEqual(fields);
      },
    ),
  );
});
