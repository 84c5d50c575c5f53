// Where the journals of services are: what was decided once stays, and a URL is in a file for its user alone.
import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import type { ServiceDescriptor } from '../../../client/index.ts';
import { journalProblems } from '../../../control-plane/local/local-problems.ts';
import {
  databaseName,
  ServiceDatabases,
  type ServiceDatabasesOptions,
} from '../../../control-plane/local/service-databases.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const KEY = { project: 'shop', service: 'cart' };
const CART = { name: 'cart', image: 'c:1', hosting: 'wasm', protocol: '0.2.0' } as const;
const SUPPLIED = { ...CART, database: { urlFrom: 'cart-database' } };
const PROCESS: ServiceDescriptor = { ...CART, hosting: 'process', protocol: 'svc/1' };
const WEB: ServiceDescriptor = { ...CART, hosting: 'process', protocol: 'http/1.1' };
const SERVER = '/run/server.url';

function databasesIn(folder: string, more: Partial<ServiceDatabasesOptions> = {}) {
  const made: string[] = [];
  const databases = new ServiceDatabases({
    dataFolder: join(folder, 'data'),
    urlsFolder: join(folder, 'databases'),
    secretsFolder: join(folder, 'secrets'),
    serverFile: undefined,
    log: () => {},
    make: (_server, name) => {
      made.push(name);
      return Promise.resolve(`postgresql://${name}:secret@%2Frun/${name}`);
    },
    ...more,
  });
  return { databases, made, urlFile: join(folder, 'databases', 'shop', 'cart.url') };
}

test('without a server, only a module whose descriptor names a database has one', async () => {
  const folder = temporaryFolder();
  const { databases, made } = databasesIn(folder);
  expect(databases.storageOf(KEY, CART)).toBe('folder');
  expect(databases.storageOf(KEY, PROCESS)).toBe('folder');
  expect(databases.storageOf(KEY, WEB)).toBe('none');
  expect(databases.storageOf(KEY, SUPPLIED)).toBe('database');
  expect(databases.urlFileOf(KEY, SUPPLIED)).toBe(join(folder, 'secrets/shop/cart-database'));
  await databases.provide(KEY, SUPPLIED);
  await databases.provide(KEY, CART);
  expect(made).toEqual([]);
});

test('on a server each module gets a database once, whose URL its user alone may read, and keeps it', async () => {
  const folder = temporaryFolder();
  const { databases, made, urlFile } = databasesIn(folder, { serverFile: SERVER });
  for (const other of [PROCESS, WEB]) await databases.provide(KEY, other);
  expect(made).toEqual([]);
  for (let count = 0; count < 2; count++) await databases.provide(KEY, CART);
  expect(made).toEqual([databaseName(KEY)]);
  expect(readFileSync(urlFile, 'utf8')).toMatch(/^postgresql:\/\/shop_cart_\w+:secret@/);
  expect([statSync(urlFile).mode & 0o777, statSync(dirname(urlFile)).mode & 0o777]).toEqual([
    0o600, 0o700,
  ]);
  // Neither the end of the server nor data in a folder changes where the journal is.
  const later = databasesIn(folder).databases;
  expect(later.urlFileOf(KEY, CART)).toBe(urlFile);
});

test('an installation has one ID, which another one does not have, and which is kept with its URLs', async () => {
  const installations: string[] = [];
  const make = (_server: string, name: string, installation: string) => {
    installations.push(installation);
    return Promise.resolve(name);
  };
  const folders = [temporaryFolder(), temporaryFolder()] as const;
  for (const folder of [...folders, folders[0]]) {
    const { databases } = databasesIn(folder, { serverFile: SERVER, make });
    await databases.provide({ ...KEY, service: `cart-${installations.length}` }, CART);
  }
  expect(installations[2]).toBe(installations[0]);
  expect(installations[1]).not.toBe(installations[0]);
  expect(readFileSync(join(folders[0], 'databases/installation.id'), 'utf8')).toBe(
    `${installations[0]}\n`,
  );
});

test('a module with data in a folder keeps them there when the installation gets a server', async () => {
  const folder = temporaryFolder();
  mkdirSync(join(folder, 'data/shop/cart'), { recursive: true });
  const { databases, made } = databasesIn(folder, { serverFile: SERVER });
  expect(databases.storageOf(KEY, CART)).toBe('database');
  writeFileSync(join(folder, 'data/shop/cart/journal.db'), '');
  expect(databases.storageOf(KEY, CART)).toBe('folder');
  await databases.provide(KEY, CART);
  expect(made).toEqual([]);
});

test('a descriptor that would leave a database behind, and begin an empty journal, is refused', async () => {
  const folder = temporaryFolder();
  const { databases, urlFile } = databasesIn(folder, { serverFile: SERVER });
  const refused = (descriptor: ServiceDescriptor) => journalProblems(KEY, descriptor, databases);
  for (const any of [CART, SUPPLIED, PROCESS, WEB]) expect(refused(any)).toEqual([]);

  await databases.provide(KEY, CART);
  expect(refused(CART)).toEqual([]);
  expect(refused(SUPPLIED)).toMatchObject([
    { path: '/database', reason: expect.stringContaining('a database that the installation made') },
  ]);
  expect(refused(PROCESS)).toMatchObject([{ path: '/hosting' }]);
  expect(refused(WEB)).toEqual([]);

  // The operator has moved the journal.
  rmSync(urlFile);
  await databases.provide(KEY, SUPPLIED);
  expect(refused(CART)).toEqual([]);
  mkdirSync(join(folder, 'secrets/shop'), { recursive: true });
  writeFileSync(join(folder, 'secrets/shop/cart-database'), 'postgresql://cart@db/cart');
  await databases.provide(KEY, SUPPLIED);
  expect(refused(SUPPLIED)).toEqual([]);
  expect(refused({ ...SUPPLIED, database: { urlFrom: 'other' } })).toEqual([]);
  expect(refused(CART)).toMatchObject([
    { path: '/database', reason: expect.stringContaining('database.urlFrom: cart-database') },
  ]);
  expect(refused(PROCESS)).toMatchObject([{ path: '/hosting' }]);
  rmSync(join(dirname(urlFile), 'cart.supplied'));
  expect(refused(CART)).toEqual([]);
});

test('a database that cannot be made is reported to the operator, and to members without what the server says', async () => {
  const entries: unknown[] = [];
  const { databases } = databasesIn(temporaryFolder(), {
    serverFile: SERVER,
    log: (entry) => entries.push(entry),
    make: () => Promise.reject(new Error('the server at /run/postgresql is away')),
  });
  await expect(databases.provide(KEY, CART)).rejects.toMatchObject({
    code: 'SVC_DATABASE_UNUSABLE',
    message: expect.not.stringContaining('/run'),
  });
  expect(entries).toMatchObject([
    { fields: { key: 'shop/cart', error: 'the server at /run/postgresql is away' } },
  ]);
});

test('names of databases are names of PostgreSQL, and no two services have the same', () => {
  const long = { project: 'p'.repeat(57), service: 's'.repeat(63) };
  for (const key of [KEY, long, { project: 'a-b', service: 'c' }])
    expect(databaseName(key)).toMatch(/^[a-z][a-z0-9_]{0,62}$/);
  expect(databaseName({ project: 'a', service: 'b-c' })).not.toBe(
    databaseName({ project: 'a-b', service: 'c' }),
  );
});

test('instances of an image that runs apart, or with another database, are of another cohort', () => {
  const { databases } = databasesIn(temporaryFolder());
  const of = (descriptor: ServiceDescriptor, isApart = false) =>
    databases.cohortOf(KEY, descriptor, isApart);
  expect(of(CART)).toBeUndefined();
  expect(of(CART, true)).toBeUndefined();
  expect(of(SUPPLIED)).toBe(of({ ...SUPPLIED, instances: 3 }));
  expect(of(SUPPLIED)).not.toBe(of(SUPPLIED, true));
  expect(of(SUPPLIED)).not.toBe(of({ ...SUPPLIED, database: { urlFrom: 'other' } }));
});
