// Modules with databases, with a real control plane: one that the operator supplies, and those that it makes on the operator's server.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { compileFixture } from '../../support/compile-fixture.ts';
import { IdentityProvider } from '../../support/identity-provider/identity-provider.ts';
import { addToCounter, isReady, LocalMachine } from '../../support/local-machine.ts';
import { PostgresServer } from '../../support/postgres/postgres-server.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

let provider: IdentityProvider;
let module: Uint8Array;
beforeAll(async () => {
  [provider, module] = await Promise.all([IdentityProvider.start(), compileFixture('counter')]);
}, 120_000);
afterAll(() => provider.stop());

const urlsOf = (machine: LocalMachine) =>
  machine.instances().map(({ spec }) => `http://${spec.address}:9000`);

async function machineWith(env: Readonly<Record<string, string>> = {}): Promise<LocalMachine> {
  const machine = await new LocalMachine(provider, env).withProject();
  await machine.store('counter', module);
  return machine;
}

test('a database that is supplied is waited for, and then shared by as many instances as are wanted', async () => {
  const machine = await machineWith();
  await expect(machine.apply('counter', { instances: 2 })).rejects.toThrow(
    /400.*instances: is more than 1.*Declare a database \(database\.urlFrom\)/,
  );
  const database = { urlFrom: 'counter-database' };
  await machine.apply('counter', { instances: 2, database });
  const { detail } = await machine.until((status) => status.detail !== undefined);
  expect(detail).toMatch(
    /SVC_DATABASE_URL_INVALID: .* in the secret counter-database .*no such file/,
  );

  const { url } = await (await PostgresServer.shared('18')).freshDatabase();
  const secrets = join(machine.cwd, 'machine', 'secrets', 'shop');
  mkdirSync(secrets, { recursive: true });
  writeFileSync(join(secrets, database.urlFrom), url, { mode: 0o600 });
  const status = await machine.until(isReady(1));
  expect(status).toMatchObject({ readyInstances: 2, database: 'supplied' });
  let value = 0;
  for (const at of urlsOf(machine)) expect(await addToCounter(at, 1)).toEqual({ value: ++value });

  await machine.apply('counter', { instances: 3, database });
  expect(await machine.until(isReady(2))).toMatchObject({ readyInstances: 3 });
  for (const at of urlsOf(machine)) expect(await addToCounter(at, 1)).toEqual({ value: ++value });
  await machine.apply('counter', { database });
  expect(await machine.until(isReady(3))).toMatchObject({ readyInstances: 1 });
  expect(await addToCounter(machine.url, 1)).toEqual({ value: ++value });
});

test('a database that was made is there for a service that is applied again after its deletion', async () => {
  const server = await PostgresServer.shared('18');
  await server.sql(`CREATE ROLE provider LOGIN CREATEDB CREATEROLE PASSWORD 'providing'`);
  const serverFile = join(temporaryFolder(), 'server.url');
  writeFileSync(serverFile, server.url('postgres', 'provider', 'providing'), { mode: 0o600 });
  const machine = await machineWith({ SVC_LOCAL_POSTGRES_URL_FILE: serverFile });
  await machine.apply();
  expect(await machine.until(isReady(1))).toMatchObject({ database: 'provisioned' });
  expect(await addToCounter(machine.url, 3)).toEqual({ value: 3 });
  await machine.svc.send('DELETE /services/shop/counter', 'ann');
  await machine.apply('counter', { instances: 2 });
  expect(await machine.until(isReady(2))).toMatchObject({ readyInstances: 2 });
  for (const at of urlsOf(machine)) expect(await addToCounter(at, 1)).toBeDefined();
  expect(await addToCounter(machine.url, 1)).toEqual({ value: 6 });

  // A module that cannot read the stored events does not get the database, or gives it back.
  await machine.store('notes', await compileFixture('notes'));
  await machine.apply('notes', { instances: 2 });
  const failed = await machine.until(({ lifecycle }) => lifecycle === 'failed');
  expect(failed.detail).toMatch(/has ended: SVC_(MANIFEST_UNREADABLE|UPGRADE_UNSAFE)/);
  await machine.until(({ readyInstances }) => readyInstances === 2);
  expect(await addToCounter(machine.url, 1)).toEqual({ value: 7 });
});
