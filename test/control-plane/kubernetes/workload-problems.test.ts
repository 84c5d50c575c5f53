// What objects in a cluster cannot give to a service.
import { expect, test } from 'vitest';
import { problemLine, type ServiceDescriptor } from '../../../client/index.ts';
import type { KubernetesInstallation } from '../../../control-plane/kubernetes/manifests/installation.ts';
import { workloadProblems } from '../../../control-plane/kubernetes/manifests/workload-problems.ts';
import {
  CLOUD_NATIVE_PG,
  EMBEDDED,
  EVERY_HOSTING,
  installation,
  PROCESS,
  WASM,
  WEB,
} from '../../support/kubernetes/installation-under-test.ts';

function linesOf(
  descriptor: ServiceDescriptor,
  where: Partial<KubernetesInstallation> = {},
): readonly string[] {
  const key = { project: 'shop', service: descriptor.name };
  return workloadProblems(key, descriptor, installation(where)).map(problemLine);
}

test.each(EVERY_HOSTING)('the service $name with one instance has none', (descriptor) => {
  expect(linesOf(descriptor)).toEqual([]);
});

test('hard case 22: every problem of a descriptor is reported at once', () => {
  const descriptor = {
    ...EMBEDDED,
    image: 'oci:images/cart:4',
    instances: 2,
    auth: 'platform',
    database: { urlFrom: 'url' },
  } as ServiceDescriptor;
  const fields = linesOf(descriptor).map((line) => line.slice(0, line.indexOf(' ')));
  expect(fields.toSorted()).toEqual(['auth', 'database', 'image', 'instances']);
});

test('several instances need a database, which programs with the runtime in them do not have', () => {
  const more = 'instances is more than 1: a journal on a volume is for one instance at a time';
  for (const descriptor of [WASM, PROCESS]) {
    expect(linesOf({ ...descriptor, instances: 2 })).toEqual([
      `${more}. Declare a database (database.urlFrom)`,
    ]);
    expect(linesOf({ ...descriptor, instances: 10, database: { urlFrom: 'db' } })).toEqual([]);
    expect(linesOf({ ...descriptor, instances: 10 }, { databases: CLOUD_NATIVE_PG })).toEqual([]);
  }
  expect(linesOf({ ...WEB, instances: 10 })).toEqual([]);
  expect(linesOf({ ...EMBEDDED, instances: 2 }, { databases: CLOUD_NATIVE_PG })).toEqual([
    `${more}, and programs with the runtime in them have no other one here`,
  ]);
});

test('a database is of services with a journal in the runtime of the platform', () => {
  const database = { urlFrom: 'db' };
  expect(linesOf({ ...EMBEDDED, database })).toEqual([
    'database is declared: a program with the runtime in it has its journal on a volume in this installation',
  ]);
  expect(linesOf({ ...WEB, database })).toEqual([
    'database is declared: a web-hosted service has no journal',
  ]);
});

test('nodes pull no layout of a folder', () => {
  expect(linesOf({ ...WASM, image: 'oci:images/cart:4' })).toEqual([
    'image is a layout of a folder: nodes of a cluster pull images from registries. Push it to one',
  ]);
});

test('an image of the registry of the installation is for its project alone, however the registry is written', () => {
  const registry = 'registry.example.org';
  const image = (name: string) => linesOf({ ...WASM, image: name }, { registry });
  expect(image('registry.example.org/shop/cart:1')).toEqual([]);
  expect(image('other.example.org/bank/cart:1')).toEqual([]);
  for (const host of ['registry.example.org', 'registry.example.org:443', 'Registry.Example.org'])
    expect(image(`${host}/bank/cart:1`)).toEqual([
      'image is not one of the project shop: the registry registry.example.org gives the images of a project to its own services only. Push the image as registry.example.org/shop/NAME',
    ]);
});

test('access tokens need an audience of the installation', () => {
  const descriptor = { ...WASM, auth: 'platform' as const };
  expect(linesOf(descriptor)).toEqual([
    'auth is platform: the operator of this installation has named no audience for access tokens of services',
  ]);
  expect(linesOf(descriptor, { tokens: {} })).toEqual([]);
});
