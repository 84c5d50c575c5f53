// What this machine refuses of a descriptor: the same with every hosting, before anything is started.
import { expect, test } from 'vitest';
import type { ServiceDescriptor } from '../../../client/index.ts';
import {
  journalProblems,
  PROCESS_PROTOCOLS,
  problemsHere,
} from '../../../control-plane/local/local-problems.ts';
import { PROTOCOL_VERSIONS } from '../../../process-protocol/protocol.ts';

const CART = { name: 'cart', image: 'cart:1', hosting: 'wasm', protocol: '0.2.0' } as const;

const HERE = { version: '1.4.2', noPrograms: undefined, hasServiceAudience: false };

const ofImage = (runtime: string) => problemsHere(CART, HERE, runtime);
const paths = (descriptor: ServiceDescriptor) =>
  problemsHere(descriptor, HERE).map(({ path }) => path);

test('a module of a protocol that is not installed is refused', () => {
  expect(paths(CART)).toEqual([]);
  expect(paths({ ...CART, protocol: '0.1.0' })).toEqual([]);
  expect(problemsHere({ ...CART, protocol: '0.9.0' }, HERE)).toEqual([
    { path: '/protocol', reason: 'is 0.9.0: this installation runs 0.1.0 and 0.2.0' },
  ]);
});

test('a service with tokens of the platform needs an audience that the operator has named', () => {
  for (const hosted of [CART, { ...CART, hosting: 'process', protocol: 'svc/1' } as const]) {
    const descriptor = { ...hosted, auth: 'platform' } as const;
    expect(problemsHere(descriptor, { ...HERE, hasServiceAudience: true })).toEqual([]);
    expect(problemsHere(descriptor, HERE)).toEqual([
      {
        path: '/auth',
        reason:
          'is platform: the operator of this installation has named no audience for access tokens of services (svc.local.service-audience)',
      },
    ]);
  }
});

test('a newer runtime than the installed one, or another major version, is refused', () => {
  for (const runtime of ['1.4.2', '1.4.0', '1.0.9'])
    expect(paths({ ...CART, runtime })).toEqual([]);
  for (const runtime of ['1.4.3', '1.5.0', '2.0.0', '0.9.0'])
    expect(paths({ ...CART, runtime })).toEqual(['/runtime']);
  const remedy = 'Build the image with svc 1.4.2 or an earlier 1.x, and declare that version';
  expect(problemsHere({ ...CART, runtime: '1.5.0' }, HERE)).toEqual([
    {
      path: '/runtime',
      reason: `is 1.5.0: this installation has svc 1.4.2, which is older. ${remedy}, or ask its operator to upgrade svc`,
    },
  ]);
  expect(problemsHere({ ...CART, runtime: '0.9.0' }, HERE)).toEqual([
    {
      path: '/runtime',
      reason: `is 0.9.0: this installation has svc 1.4.2, which runs 1.x alone. ${remedy}`,
    },
  ]);
});

test('an image that was built by a newer svc, or by another major version, is refused with what to do', () => {
  for (const runtime of ['1.4.2', '1.4.0', '1.0.9']) expect(ofImage(runtime)).toEqual([]);
  const older =
    'this installation has svc 1.4.2, which is older. Build the image with svc 1.4.2 or an earlier 1.x, or ask its operator to upgrade svc';
  for (const runtime of ['1.4.3', '1.5.0', '2.0.0'])
    expect(ofImage(runtime)).toEqual([
      { path: '/image', reason: `was built by svc ${runtime}: ${older}` },
    ]);
  const other =
    'this installation has svc 1.4.2, which runs 1.x alone. Build the image with svc 1.4.2 or an earlier 1.x';
  for (const runtime of ['0.9.0', 'latest'])
    expect(ofImage(runtime)).toEqual([
      { path: '/image', reason: `was built by svc ${runtime}: ${other}` },
    ]);
});

test('programs of images are refused with the reason where there are no sandboxes', () => {
  const { protocol: _protocol, ...rest } = CART;
  const embedded = { ...rest, hosting: 'embedded' } as const;
  const web = { ...rest, hosting: 'process', protocol: 'http/1.1' } as const;
  expect([...paths(embedded), ...paths(web)]).toEqual([]);
  const noPrograms = 'it has no program bwrap';
  const components = { ...rest, hosting: 'process', protocol: 'svc/1' } as const;
  for (const descriptor of [embedded, web, components])
    expect(problemsHere(descriptor, { ...HERE, noPrograms })).toEqual([
      {
        path: '/hosting',
        reason: `needs a sandbox, which this machine cannot make: ${noPrograms}`,
      },
    ]);
  expect(problemsHere(CART, { ...HERE, noPrograms })).toEqual([]);
});

test('a process with components runs if it speaks the protocol of the runtime', () => {
  expect(PROCESS_PROTOCOLS).toEqual(PROTOCOL_VERSIONS.map((version) => `svc/${version}`));
  expect(paths({ ...CART, hosting: 'process', protocol: 'svc/1' })).toEqual([]);
  expect(problemsHere({ ...CART, hosting: 'process', protocol: 'svc/2' }, HERE)).toEqual([
    { path: '/protocol', reason: 'is svc/2: this installation runs svc/1' },
  ]);
});

test('more than one instance needs a journal in a database, and a module that has data in a folder gets none', () => {
  const refused = (descriptor: object, hasFolder = false) =>
    journalProblems(
      { project: 'shop', service: 'cart' },
      { ...CART, ...descriptor },
      {
        storageOf: (_key, { hosting, database }) =>
          hosting === 'wasm' && database !== undefined ? 'database' : 'folder',
        hasFolder: () => hasFolder,
        hasMade: () => false,
        suppliedFrom: () => undefined,
      },
    );
  const database = { urlFrom: 'cart-database' };
  expect(refused({ instances: 2 })).toEqual([
    {
      path: '/instances',
      reason:
        'is more than 1: a journal in a folder is for one instance at a time. Declare a database (database.urlFrom)',
    },
  ]);
  expect(refused({ instances: 2, database })).toEqual([]);
  expect(refused({ database }, true)).toMatchObject([{ path: '/database' }]);
  const processes = { hosting: 'process', protocol: 'svc/1', instances: 2 };
  expect(refused(processes)).toMatchObject([{ path: '/instances' }]);
  expect(paths({ ...CART, database })).toEqual([]);
  for (const protocol of ['svc/1', 'http/1.1'] as const)
    expect(paths({ ...CART, hosting: 'process', protocol, database })).toEqual(['/database']);
});
