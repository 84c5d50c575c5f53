// Names that Kubernetes refuses, and names that become too long in a cluster.
import { assert, oneof, property, stringMatching } from 'fast-check';
import { expect, test } from 'vitest';
import {
  isProjectId,
  isServiceName,
  problemLine,
  type ServiceDescriptor,
} from '../../../client/index.ts';
import { nameProblems } from '../../../control-plane/kubernetes/manifests/name-problems.ts';
import {
  CLOUD_NATIVE_PG,
  installation,
  PROCESS,
  WASM,
  WEB,
} from '../../support/kubernetes/installation-under-test.ts';

const HYPHEN =
  'Kubernetes takes at most 63 lower-case letters, digits and hyphens, with no hyphen last';
const LETTER =
  'Kubernetes takes lower-case letters, digits and hyphens, with a letter first and no hyphen last';

const of = (
  project: string,
  service: string,
  descriptor: ServiceDescriptor = WEB,
  where = installation(),
) => nameProblems({ project, service }, descriptor, where);
const lines = (...given: Parameters<typeof of>) => of(...given).map(problemLine);

test.each<[string, string, readonly string[]]>([
  ['shop', 'site', []],
  ['a'.repeat(57), 'a'.repeat(63), []],
  ['shop', 'a'.repeat(64), ['name has 64 characters: Kubernetes takes 63 at most']],
  ['shop', '1cart', [`name is "1cart": ${LETTER}`]],
  ['shop', 'cart-', [`name is "cart-": ${LETTER}`]],
  ['shop', 'Cart', [`name is "Cart": ${LETTER}`]],
  ['shop', '', [`name is "": ${LETTER}`]],
  [
    'shop-',
    'cart',
    [`the descriptor is of the project "shop-", whose namespace would be "svc-shop-": ${HYPHEN}`],
  ],
  [
    'platform',
    'cart',
    [
      'the descriptor is of the project "platform", whose namespace svc-platform has the programs of the platform: use another project',
    ],
  ],
])('of the project %j the service %j has the problems %j', (project, service, expected) => {
  expect(lines(project, service)).toEqual(expected);
});

test('problems have JSON pointers into the descriptor, and all are reported', () => {
  expect(of('a'.repeat(58), '1cart').map(({ path }) => path)).toEqual(['', '/name']);
});

test('a service with its journal on a volume may have 52 characters, since its pods have a label with a hash', () => {
  for (const descriptor of [PROCESS, WASM]) {
    expect(lines('shop', 'a'.repeat(52), descriptor)).toEqual([]);
    expect(lines('shop', 'a'.repeat(53), descriptor)).toEqual([
      'name has 53 characters: a service with its journal on a volume may have 52 in Kubernetes',
    ]);
  }
  const supplied = { ...WASM, database: { urlFrom: 'db' } };
  expect(lines('shop', 'a'.repeat(63), supplied)).toEqual([]);
});

test('a service whose database the cluster makes may have as many as the resource of the database', () => {
  const where = installation({ databases: CLOUD_NATIVE_PG });
  expect(lines('shop', 'a'.repeat(41), WASM, where)).toEqual([]);
  expect(lines('shop', 'a'.repeat(42), WASM, where)).toEqual([
    'name has 42 characters: a service whose database the cluster makes may have 41 in Kubernetes',
  ]);
});

test('no name of a web-hosted service and no id of a project is refused, and every other name is', () => {
  const names = stringMatching(/^[a-z0-9-]{0,66}$/);
  const almost = stringMatching(/^[a-z][a-z0-9-]{0,50}[a-z]$/);
  let taken = 0;
  assert(
    property(oneof(names, almost), oneof(names, almost), (project, service) => {
      const isOk = isProjectId(project) && isServiceName(service);
      expect(of(project, service).length === 0).toBe(isOk);
      if (isOk) taken++;
    }),
    { numRuns: 1000 },
  );
  expect(taken).toBeGreaterThan(100);
});
