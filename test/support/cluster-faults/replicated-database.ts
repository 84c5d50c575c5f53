// ReplicatedDatabase is a PostgreSQL server and its synchronous standby, on ports of their own. The primary can be killed, paused and cut off from
// the standby, and the standby can be promoted. The former primary then becomes the standby, with a copy of the new one.
//
// Invariant: a commit is confirmed only if both servers have it, so that a failover loses nothing that was acknowledged.
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Client, QueryResultRow } from 'pg';
import { FreshDatabase } from '../postgres/fresh-database.ts';
import { PostgresServer, ROLE } from '../postgres/postgres-server.ts';
import { TcpFaultProxy } from '../tcp-fault-proxy.ts';
import { OwnMachine } from './own-machine.ts';

/** A server of the two, and the proxy through which the other one follows it. */
interface Member {
  readonly server: PostgresServer;
  readonly replication: TcpFaultProxy;
}

const CONFIGURATION = {
  max_connections: 100,
  // A standby that begins anew gets the log of the time of its copy.
  wal_keep_size: '256MB',
  wal_sender_timeout: '5s',
  wal_receiver_timeout: '5s',
  wal_retrieve_retry_interval: '200ms',
};
const HBA = [
  'local all all scram-sha-256',
  'host all all 127.0.0.1/32 scram-sha-256',
  'host replication all 127.0.0.1/32 scram-sha-256',
];
/** The log comes from the primary, and the rest belongs to a process. */
const NOT_COPIED = new Set(['pg_wal', 'postmaster.pid', 'postmaster.opts']);
const LOOK_MS = 50;
/** A standby that does not follow after this time never will. */
const PATIENCE_MS = 120_000;

export class ReplicatedDatabase {
  /** Holds the files with URLs. */
  readonly folder: string;
  /** The folder of what sets the clock. */
  readonly #machines: string;
  #primary: Member;
  #standby: Member;

  /** `clockMs`: how far the clock of the server that is the standby at first is from the true time, in milliseconds. */
  static async start(clockMs: number): Promise<ReplicatedDatabase> {
    const machines = mkdtempSync(join(tmpdir(), 'svc-pg-machine-'));
    const machine = OwnMachine.ofOthers(machines);
    machine.setWallClock(clockMs);
    const servers = await Promise.all([startedServer({}), startedServer(machine.env)]);
    const [primary, standby] = await Promise.all(
      servers.map(async (server) => ({
        server,
        replication: await TcpFaultProxy.to(server.port),
      })),
    );
    const database = new ReplicatedDatabase(primary!, standby!, machines);
    try {
      // The copies have it too: a server that is promoted confirms nothing before it has a standby.
      primary!.server.configure({ synchronous_standby_names: '*' });
      await primary!.server.sql('SELECT pg_reload_conf()');
      await database.#follow();
      return database;
    } catch (error) {
      await database.stop();
      throw error;
    }
  }

  private constructor(primary: Member, standby: Member, machines: string) {
    this.#machines = machines;
    this.folder = primary.server.folder;
    this.#primary = primary;
    this.#standby = standby;
  }

  /** Ports of both servers; the same order always. */
  get ports(): readonly number[] {
    return [this.#primary, this.#standby]
      .map(({ server }) => server.port)
      .toSorted((a, b) => a - b);
  }

  async freshDatabase(name: string): Promise<FreshDatabase> {
    await this.sql(`CREATE DATABASE ${name} OWNER ${ROLE}`);
    return new FreshDatabase(this, name);
  }

  /** The URL of a database at the present primary. */
  url(database: string): string {
    return this.#primary.server.url(database);
  }

  sql(text: string): Promise<readonly QueryResultRow[]> {
    return this.#primary.server.sql(text);
  }

  client(database: string): Promise<Client> {
    return this.#primary.server.client(database);
  }

  /** Ends the primary, and starts it again after a time. */
  async restart(end: 'kill' | 'fast' | 'immediate', downMs: number): Promise<void> {
    const { server } = this.#primary;
    await (end === 'kill' ? server.kill() : server.shutDown(end));
    await delay(downMs);
    await server.restart();
  }

  /** Stops all processes of the primary for a time. */
  async pause(forMs: number): Promise<void> {
    const { server } = this.#primary;
    await server.pause();
    await delay(forMs);
    server.resume();
  }

  /** Lets no byte pass between primary and standby for a time. Nothing is confirmed meanwhile. */
  async cutStandby(forMs: number): Promise<void> {
    const { replication } = this.#primary;
    replication.holdAnswers();
    replication.holdRequests();
    await delay(forMs);
    replication.letAnswersThrough();
    replication.letRequestsThrough();
    replication.reset();
  }

  /**
   * Promotes the standby, after the primary was killed or paused, or while it still runs. The former primary ends after a time, and then follows the
   * new one.
   */
  async failOver(former: 'killed' | 'paused' | 'running', forMs: number): Promise<void> {
    const from = this.#primary;
    const to = this.#standby;
    if (former === 'killed') await from.server.kill();
    if (former === 'paused') await from.server.pause();
    await to.server.sql('SELECT pg_promote()');
    this.#primary = to;
    this.#standby = from;
    await delay(forMs);
    if (former !== 'killed') await from.server.kill();
    await this.#follow();
  }

  async stop(): Promise<void> {
    for (const { server, replication } of [this.#primary, this.#standby]) {
      await server.stop();
      await replication.close();
    }
    rmSync(this.#machines, { recursive: true });
  }

  /** Makes the standby a copy of the primary that follows it. Resolves once it does. The standby may be running. */
  async #follow(): Promise<void> {
    const { server: primary, replication } = this.#primary;
    const { server: standby } = this.#standby;
    if (standby.isRunning) await standby.kill();
    const from = join(primary.folder, 'data');
    const to = join(standby.folder, 'data');
    rmSync(to, { recursive: true });
    makeFolder(to, from);
    makeFolder(join(to, 'pg_wal'), from);
    // The session of a backup has to stay until its end.
    const session = await primary.client('postgres');
    try {
      await session.query(`SELECT pg_backup_start('copy', fast => true)`);
      const copied = readdirSync(from).filter((entry) => !NOT_COPIED.has(entry));
      await copy(
        copied.map((entry) => join(from, entry)),
        to,
      );
      const { rows } = await session.query(
        'SELECT labelfile FROM pg_backup_stop(wait_for_archive => false)',
      );
      standby.writeFiles({ backup_label: rows[0].labelfile, 'standby.signal': '' });
    } finally {
      await session.end();
    }
    const source = new URL(primary.url('postgres', 'postgres'));
    source.port = String(replication.port);
    standby.configure({
      port: standby.port,
      unix_socket_directories: standby.folder,
      primary_conninfo: source.href,
    });
    await standby.restart();
    const untilMs = performance.now() + PATIENCE_MS;
    while (!(await isFollowed(primary))) {
      if (performance.now() > untilMs)
        throw new Error(`the standby does not follow: ${standby.log()}`);
      await delay(LOOK_MS);
    }
  }
}

function startedServer(env: Readonly<Record<string, string>>): Promise<PostgresServer> {
  return PostgresServer.start('18', { configuration: CONFIGURATION, hba: HBA, env });
}

async function isFollowed(primary: PostgresServer): Promise<boolean> {
  const rows = await primary.sql(
    `SELECT 1 FROM pg_stat_replication WHERE state = 'streaming' AND sync_state = 'sync'`,
  );
  return rows.length > 0;
}

/** Makes a folder with the owner of another one, to whom alone it belongs. */
function makeFolder(folder: string, like: string): void {
  mkdirSync(folder, { mode: 0o700 });
  const { uid, gid } = statSync(like);
  chownSync(folder, uid, gid);
}

/** Copies files with their owners. Files that vanish meanwhile are left out: the log says what became of them. */
async function copy(files: readonly string[], to: string): Promise<void> {
  const child = execFile('cp', ['-a', ...files, to]);
  let errors = '';
  child.stderr!.on('data', (text: string) => (errors += text));
  await once(child, 'close');
  const others = errors.split('\n').filter((line) => line !== '' && !/No such file/.test(line));
  if (others.length > 0) throw new Error(`the copy has failed: ${others.join('\n')}`);
}
