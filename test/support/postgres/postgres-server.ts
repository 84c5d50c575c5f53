// PostgresServer is a real PostgreSQL server for tests, with a port and a folder of its own. It writes through to the disk (fsync),
// because tests check what survives. It ends with `stop`, and at the latest with the process of the tests.
//
// Invariant: `pid` is the first process of the server that `restart` or `start` has started, until it has ended.
import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import {
  chownSync,
  appendFileSync,
  mkdtempSync,
  openSync,
  closeSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Client, type QueryResultRow } from 'pg';
import { freePorts } from '../free-ports.ts';
import { FreshDatabase } from './fresh-database.ts';
import {
  postgresPrograms,
  serverUser,
  type PostgresPrograms,
  type PostgresVersion,
  type ServerUser,
} from './postgres-programs.ts';
import { ServerGuard } from './server-guard.ts';

/** Parameters of `postgresql.conf` and their values. */
export type Configuration = Readonly<Record<string, string | number>>;

export interface ServerOptions {
  readonly configuration?: Configuration;
  /** Names and contents of further files in the folder `data`, which the server alone may read. */
  readonly files?: Readonly<Record<string, string>>;
  /** Further variables of its environment. */
  readonly env?: Readonly<Record<string, string>>;
  /** The lines of `pg_hba.conf`. Default: everybody on loopback and by the socket, with a password. */
  readonly hba?: readonly string[];
}

interface Machinery {
  readonly env: Readonly<Record<string, string>>;
  readonly programs: PostgresPrograms;
  readonly user: ServerUser;
  readonly guard: ServerGuard;
}

const DEFAULTS: Configuration = {
  listen_addresses: '127.0.0.1',
  shared_buffers: '16MB',
  max_connections: 60,
  max_wal_size: '256MB',
  log_line_prefix: '%m [%p] ',
};
const HBA = ['local all all scram-sha-256', 'host all all 127.0.0.1/32 scram-sha-256'];
const SUPERUSER = 'postgres';
/** The role that owns fresh databases. It is no superuser, and may not create databases. */
export const ROLE = 'svc_test';
const PASSWORD = 'p%ss/w:rd@1';
/** Ends a wait for a server that does not start or end. */
const PATIENCE_MS = 60_000;

const shared = new Map<PostgresVersion, Promise<PostgresServer>>();

export class PostgresServer {
  readonly version: PostgresVersion;
  /** Holds `data`, the log, the sockets, and the files with URLs. */
  readonly folder: string;
  readonly port: number;
  readonly #programs: PostgresPrograms;
  readonly #user: ServerUser;
  readonly #guard: ServerGuard;
  readonly #env: Readonly<Record<string, string>>;
  #process: ChildProcess | undefined;
  #admin: Promise<Client> | undefined;
  /** Settles once the last statement of `sql` has been answered: a client takes one at a time. */
  #lastStatement: Promise<unknown> = Promise.resolve();
  #databases = 0;

  private constructor(
    version: PostgresVersion,
    folder: string,
    port: number,
    { programs, user, guard, env }: Machinery,
  ) {
    this.version = version;
    this.folder = folder;
    this.port = port;
    this.#programs = programs;
    this.#user = user;
    this.#guard = guard;
    this.#env = env;
  }

  /** Starts a server of the test's own, which may be configured, killed and paused. Whoever calls this also stops it. */
  static async start(
    version: PostgresVersion,
    { configuration = {}, files = {}, env = {}, hba = HBA }: ServerOptions = {},
  ): Promise<PostgresServer> {
    const user = serverUser();
    const folder = mkdtempSync(join(tmpdir(), 'svc-pg-'));
    const guard = new ServerGuard(folder);
    try {
      const programs = await postgresPrograms(version, user, folder);
      if (user !== undefined) chownSync(folder, user.uid, user.gid);
      const [port] = await freePorts(1);
      const server = new PostgresServer(version, folder, port!, { programs, user, guard, env });
      server.#initialize();
      server.configure({ ...DEFAULTS, ...configuration });
      server.writeFiles({ ...files, 'pg_hba.conf': `${hba.join('\n')}\n` });
      await server.restart();
      await server.sql(`CREATE ROLE ${ROLE} LOGIN PASSWORD '${PASSWORD}'`);
      return server;
    } catch (error) {
      await guard.end();
      throw error;
    }
  }

  /** Returns a server that the test files of this process share. It ends with the process. Tests only use its databases. */
  static shared(version: PostgresVersion): Promise<PostgresServer> {
    const started = shared.get(version) ?? PostgresServer.start(version);
    shared.set(version, started);
    return started;
  }

  /**
   * Makes a database, which belongs to a role of its own right only. It is empty, or has what another database has, to which nobody is
   * connected.
   */
  async freshDatabase(like?: FreshDatabase): Promise<FreshDatabase> {
    const name = `test_${++this.#databases}`;
    const template = like === undefined ? '' : ` TEMPLATE ${like.name}`;
    await this.sql(`CREATE DATABASE ${name} OWNER ${ROLE}${template}`);
    return new FreshDatabase(this, name);
  }

  /** The URL of a database, by default for the role that owns fresh databases. */
  url(database: string, user = ROLE, password = PASSWORD): string {
    return `postgresql://${encodeURIComponent(user)}:${encodeURIComponent(password)}@127.0.0.1:${this.port}/${database}`;
  }

  /** Executes a statement as superuser, in the database `postgres`. Returns the rows as objects. */
  async sql(text: string, values: readonly unknown[] = []): Promise<readonly QueryResultRow[]> {
    const rows = this.#lastStatement.then(() => this.#execute(text, values));
    this.#lastStatement = rows.catch(() => undefined);
    return rows;
  }

  /** Connects as superuser. The connection closes with the server at the latest. */
  async client(database: string): Promise<Client> {
    const client = new Client({
      connectionString: this.url(database, SUPERUSER, PASSWORD),
      ssl: false,
      application_name: 'test',
    });
    // The test ends the server, or the connection.
    client.on('error', () => undefined);
    await client.connect();
    return client;
  }

  get pid(): number {
    const pid = this.#process?.pid;
    if (pid === undefined || this.#process!.exitCode !== null)
      throw new Error('the server is not running');
    return pid;
  }

  /** Writes a parameter into the configuration. Most parameters need `restart` or `SELECT pg_reload_conf()`. */
  configure(configuration: Configuration): void {
    const lines = Object.entries(configuration).map(([name, value]) => `${name} = '${value}'\n`);
    const file = join(this.folder, 'data', 'postgresql.conf');
    appendFileSync(file, lines.join(''));
  }

  /** Writes files into the folder `data`, which the user of the server alone may read. Returns the folder. */
  writeFiles(files: Readonly<Record<string, string>>): string {
    const folder = join(this.folder, 'data');
    for (const [name, content] of Object.entries(files)) {
      const path = join(folder, name);
      rmSync(path, { force: true });
      writeFileSync(path, content, { mode: 0o600 });
      this.#give(path);
    }
    return folder;
  }

  /** Starts the server, after it was stopped if it is running. Resolves once it accepts connections. */
  async restart(): Promise<void> {
    if (this.isRunning) await this.#end('SIGINT');
    const log = openSync(join(this.folder, 'log'), 'a');
    this.#process = spawn(this.#programs.postgres, ['-D', join(this.folder, 'data')], {
      ...this.#user,
      cwd: this.folder,
      env: { ...process.env, ...this.#env },
      detached: true,
      stdio: ['ignore', log, log],
    });
    closeSync(log);
    this.#process.unref();
    await this.#until('accept connections', () => {
      if (this.isRunning) return this.#status() === 'ready';
      throw new Error(`the server has ended: ${this.log()}`);
    });
  }

  /** Makes the server a standby that follows nobody, until `SELECT pg_promote()`. */
  async becomeStandby(): Promise<void> {
    if (this.isRunning) await this.#end('SIGINT');
    this.writeFiles({ 'standby.signal': '' });
    await this.restart();
  }

  /** Ends the server and removes its files. */
  async stop(): Promise<void> {
    if (this.isRunning) await this.kill();
    await this.#guard.end();
  }

  /**
   * Ends the server and keeps its files, for `restart`. `fast` ends connections with an error, and writes a checkpoint;
   * `immediate` is a crash, except that connections end with an error.
   */
  async shutDown(mode: 'fast' | 'immediate' = 'fast'): Promise<void> {
    await this.#end(mode === 'fast' ? 'SIGINT' : 'SIGQUIT');
  }

  /** Kills all processes of the server (SIGKILL). Resolves once they have ended. */
  async kill(): Promise<void> {
    const pids = this.#pids();
    for (const pid of pids) signal(pid, 'SIGKILL');
    await this.#ended(pids);
  }

  /** Stops all processes of the server (SIGSTOP): connections stay, and nothing answers. Resolves once they have stopped. */
  async pause(): Promise<void> {
    // The first process first: it starts no other one then.
    signal(this.pid, 'SIGSTOP');
    await this.#until('stop', () => statesOf([this.pid]).startsWith('T'));
    const pids = this.#pids();
    for (const pid of pids) signal(pid, 'SIGSTOP');
    await this.#until('stop', () =>
      statesOf(pids)
        .split('\n')
        .every((state) => state.startsWith('T')),
    );
  }

  resume(): void {
    for (const pid of this.#pids()) signal(pid, 'SIGCONT');
  }

  log(): string {
    return readFileSync(join(this.folder, 'log'), 'utf8');
  }

  get isRunning(): boolean {
    const child = this.#process;
    return child !== undefined && child.exitCode === null && child.signalCode === null;
  }

  #initialize(): void {
    const passwordFile = join(this.folder, 'password');
    writeFileSync(passwordFile, PASSWORD, { mode: 0o600 });
    this.#give(passwordFile);
    const data = join(this.folder, 'data');
    execFileSync(
      this.#programs.initdb,
      [
        `--pgdata=${data}`,
        `--username=${SUPERUSER}`,
        `--pwfile=${passwordFile}`,
        '--auth=scram-sha-256',
        '--encoding=UTF8',
        '--locale=C',
        '--no-sync',
      ],
      { ...this.#user, cwd: this.folder, stdio: 'pipe' },
    );
    this.configure({ port: this.port, unix_socket_directories: this.folder });
  }

  async #execute(text: string, values: readonly unknown[]): Promise<readonly QueryResultRow[]> {
    this.#admin ??= this.#connectAdmin();
    return (await (await this.#admin).query(text, [...values])).rows;
  }

  /** Gives a file to the user that runs the server. */
  #give(path: string): void {
    if (this.#user !== undefined) chownSync(path, this.#user.uid, this.#user.gid);
  }

  async #end(name: NodeJS.Signals): Promise<void> {
    const pids = this.#pids();
    this.#admin = undefined;
    signal(this.pid, name);
    await this.#ended(pids);
  }

  async #ended(pids: readonly number[]): Promise<void> {
    const child = this.#process!;
    child.ref();
    if (this.isRunning) await once(child, 'exit');
    this.#process = undefined;
    this.#admin = undefined;
    // A process that is left would keep the memory that they share, and the next server from starting.
    await this.#until('end', () => pids.every((pid) => !signal(pid, 0)));
  }

  async #connectAdmin(): Promise<Client> {
    const client = await this.client('postgres');
    client.once('end', () => (this.#admin = undefined));
    return client;
  }

  /** The processes of the server, the first one first. */
  #pids(): readonly number[] {
    const { pid } = this;
    let children = '';
    try {
      children = execFileSync('pgrep', ['-P', String(pid)], { encoding: 'utf8' });
    } catch {
      // It has no children yet.
    }
    return [pid, ...children.split('\n').filter(Boolean).map(Number)];
  }

  /** The state that the server notes in its file, such as `starting` or `ready`. */
  #status(): string | undefined {
    try {
      const lines = readFileSync(join(this.folder, 'data', 'postmaster.pid'), 'utf8').split('\n');
      return Number(lines[0]) === this.#process!.pid ? lines[7]?.trim() : undefined;
    } catch {
      return undefined;
    }
  }

  async #until(what: string, isSo: () => boolean): Promise<void> {
    const end = performance.now() + PATIENCE_MS;
    while (!isSo()) {
      if (performance.now() > end) throw new Error(`the server did not ${what}: ${this.log()}`);
      await delay(5);
    }
  }
}

/** Sends a signal. Returns whether there is such a process. */
function signal(pid: number, name: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, name);
  } catch {
    return false;
  }
}

/** The states of processes, a line each; `T` is stopped. */
function statesOf(pids: readonly number[]): string {
  return execFileSync('ps', ['-o', 'stat=', '-p', pids.join(',')], { encoding: 'utf8' }).trim();
}
