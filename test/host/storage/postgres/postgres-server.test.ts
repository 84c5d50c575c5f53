// The servers of the other tests: real ones, which end with their tests.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { serverVersions } from '../../../support/postgres/postgres-programs.ts';
import { PostgresServer } from '../../../support/postgres/postgres-server.ts';

describe.each(serverVersions())('PostgreSQL %s', (version) => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await PostgresServer.start(version, { configuration: { work_mem: '7MB' } });
  });
  afterAll(() => server.stop());

  test('a server is configured as asked, and writes through to its disk', async () => {
    expect(await server.sql('SHOW work_mem')).toEqual([{ work_mem: '7MB' }]);
    expect(await server.sql('SHOW fsync')).toEqual([{ fsync: 'on' }]);
    const [{ server_version }] = (await server.sql('SHOW server_version')) as [
      { server_version: string },
    ];
    expect(server_version.startsWith(`${version}.`)).toBe(true);
  });

  test('what was committed is there after a server was killed and started again', async () => {
    const database = await server.freshDatabase();
    await database.sql('CREATE TABLE kept (n integer)');
    await database.sql('INSERT INTO kept VALUES (1)');
    await server.kill();
    await server.restart();
    expect(await database.sql('SELECT n FROM kept')).toEqual([{ n: 1 }]);
  });

  test('a paused server answers once it is resumed', async () => {
    await server.sql('SELECT 1');
    await server.pause();
    const answer = server.sql('SELECT 1 AS one');
    server.resume();
    expect(await answer).toEqual([{ one: 1 }]);
  });

  test('fresh databases share nothing, and belong to a role that is no superuser', async () => {
    const [one, two] = await Promise.all([server.freshDatabase(), server.freshDatabase()]);
    await one.sql('CREATE TABLE own (n integer)');
    await expect(two.sql('SELECT * FROM own')).rejects.toThrow('does not exist');
    const owners = await one.sql(
      `SELECT rolname, rolsuper FROM pg_database JOIN pg_roles r ON r.oid = datdba WHERE datname = $1`,
      [one.name],
    );
    expect(owners).toEqual([{ rolname: 'svc_test', rolsuper: false }]);
  });
});

test('a server ends with the process of its test, even when that is killed', async () => {
  const module = join(import.meta.dirname, '../../../support/postgres/postgres-server.ts');
  const program = `
    import { PostgresServer } from ${JSON.stringify(module)};
    const server = await PostgresServer.start('18');
    await server.pause();
    console.log(JSON.stringify([server.folder, server.pid]));
    setInterval(() => {}, 1_000);
  `;
  const child = spawn(process.execPath, ['--input-type=module-typescript', '-e', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = (await once(child.stdout, 'data')) as [Buffer];
  const [folder, pid] = JSON.parse(line.toString()) as [string, number];
  expect(existsSync(folder)).toBe(true);
  child.kill('SIGKILL');
  await expect.poll(() => existsSync(folder)).toBe(false);
  await expect.poll(() => existsSync(`/proc/${pid}`)).toBe(false);
});
