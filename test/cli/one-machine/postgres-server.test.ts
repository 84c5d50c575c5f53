// The PostgreSQL server of svc up: which programs it takes, and what is said before anything starts if it cannot be started.
import { chmodSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { expect, test } from 'vitest';
import { layoutOf } from '../../../cli/one-machine/machine-layout.ts';
import { findPostgres } from '../../../cli/one-machine/postgres-programs.ts';
import { hasPostgres, postgresServer } from '../../../cli/one-machine/postgres-server.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

/** Makes a folder with programs that say what PostgreSQL says of its version. */
function programsOf(version: string, names = ['initdb', 'postgres']): string {
  const folder = temporaryFolder();
  for (const name of names) {
    const file = join(folder, name);
    writeFileSync(file, `#!/bin/sh\necho 'postgres (PostgreSQL) ${version}'\n`);
    chmodSync(file, 0o755);
  }
  return folder;
}

test('the first programs that are new enough are taken, or those of the version of the data', () => {
  const folders = ['', '/nowhere', programsOf('12.9'), programsOf('17.2'), programsOf('15.3')];
  expect(findPostgres('', undefined, folders)).toMatchObject({ major: 17 });
  expect(findPostgres('', 15, folders)).toMatchObject({ postgres: join(folders[4]!, 'postgres') });
  expect(findPostgres('', 16, folders)).toBeUndefined();
  expect(findPostgres('', undefined, folders.slice(0, 3))).toBeUndefined();
});

test('a folder without all programs, and programs that say something else, are none', () => {
  const folders = [programsOf('17.2', ['postgres']), programsOf('of another kind')];
  expect(findPostgres('', undefined, folders)).toBeUndefined();
});

test('programs of PATH are found', () => {
  // No version of Debian or npm is as high.
  const path = ['/nowhere', programsOf('99.1')].join(delimiter);
  expect(findPostgres(path, 99)).toMatchObject({ major: 99 });
});

test('a path that is too long for its socket is refused before anything is made', async () => {
  const layout = layoutOf(join(temporaryFolder(), 'long'.repeat(20)));
  await expect(postgresServer(layout, {})).rejects.toMatchObject({
    code: 'SVC_MACHINE_NOT_STARTED',
    message: expect.stringMatching(/too long for its socket\. Give a shorter folder with --folder/),
  });
  expect(existsSync(layout.folder)).toBe(false);
});

test('data of a version that the machine does not have are left alone', async () => {
  const layout = layoutOf(temporaryFolder());
  expect(hasPostgres(layout)).toBe(false);
  mkdirSync(join(layout.postgres, 'data'), { recursive: true });
  writeFileSync(join(layout.postgres, 'data', 'PG_VERSION'), '9\n');
  expect(hasPostgres(layout)).toBe(true);
  await expect(postgresServer(layout, {})).rejects.toMatchObject({
    code: 'SVC_MACHINE_NOT_STARTED',
    message: expect.stringContaining('of PostgreSQL 9, which this machine does not have'),
  });
});
