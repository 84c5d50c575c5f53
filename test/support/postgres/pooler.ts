// Pooler is a PgBouncer before a PostgresServer, for tests.
import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createConnection } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { freePorts } from '../free-ports.ts';
import type { PostgresServer } from './postgres-server.ts';
import { serverUser } from './postgres-programs.ts';

/** Returns why this machine has no pooler; undefined if it has one. */
export function whyNoPooler(): string | undefined {
  try {
    execFileSync('pgbouncer', ['--version'], { stdio: 'ignore' });
    return undefined;
  } catch {
    return 'not tested: pgbouncer is missing';
  }
}

export class Pooler {
  readonly port: number;
  readonly #process: ChildProcess;

  private constructor(port: number, process: ChildProcess) {
    this.port = port;
    this.#process = process;
  }

  /** `mode`: what is pooled. `size`: the number of sessions of each database. */
  static async start(
    server: PostgresServer,
    mode: 'session' | 'transaction' | 'statement',
    size: number,
  ): Promise<Pooler> {
    const [port] = await freePorts(1);
    const { username, password } = new URL(server.url('postgres'));
    const secret = decodeURIComponent(password);
    const name = `pgbouncer-${port}`;
    const folder = server.writeFiles({
      [`${name}.users`]: `"${username}" "${secret}"\n`,
      [`${name}.ini`]: [
        '[databases]',
        `* = host=127.0.0.1 port=${server.port}`,
        '[pgbouncer]',
        `listen_addr = 127.0.0.1`,
        `listen_port = ${port}`,
        'unix_socket_dir =',
        'auth_type = scram-sha-256',
        `auth_file = ${name}.users`,
        `pool_mode = ${mode}`,
        `default_pool_size = ${size}`,
        '',
      ].join('\n'),
    });
    const child = spawn('pgbouncer', ['--quiet', `${name}.ini`], {
      ...serverUser(),
      cwd: folder,
      stdio: 'ignore',
    });
    const pooler = new Pooler(port!, child);
    while (!(await answers(port!))) {
      if (child.exitCode !== null) throw new Error('pgbouncer has ended');
      await delay(5);
    }
    return pooler;
  }

  async stop(): Promise<void> {
    const exited = once(this.#process, 'exit');
    this.#process.kill('SIGKILL');
    await exited;
  }
}

async function answers(port: number): Promise<boolean> {
  const socket = createConnection({ host: '127.0.0.1', port });
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
