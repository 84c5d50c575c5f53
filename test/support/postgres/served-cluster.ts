// ServedCluster is a service with several nodes: deployed `svc run` processes with a database, each with a management server.
// The connections of a node to the database, and those of other nodes to it, can be cut.
import { randomInt } from 'node:crypto';
import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { managementOf } from '../deployed-service.ts';
import type { SvcProcess } from '../host-process.ts';
import { TcpFaultProxy } from '../tcp-fault-proxy.ts';
import { urlFile } from './fresh-database.ts';
import type { PostgresServer } from './postgres-server.ts';
import { ServedDatabase } from './served-database.ts';

export interface ServedNode {
  readonly name: string;
  readonly svc: SvcProcess;
  /** The URL of the service at this node. */
  readonly url: string;
  /** The URL of its management server. */
  readonly management: string;
  /** Leads to the database. */
  readonly database: TcpFaultProxy;
  /** Leads the other nodes to this one. */
  readonly remoting: TcpFaultProxy;
  readonly remotingPort: number;
}

/** The host by which other nodes reach a node: its proxy listens on the same port as the node, at another loopback address. */
const ADVERTISED_HOST = '127.0.0.2';
/** Below those of outgoing connections. */
const REMOTING_PORTS = { first: 20_000, count: 10_000 };

interface Member {
  readonly node: string;
  readonly status: string;
}

export class ServedCluster {
  readonly served: ServedDatabase;
  readonly #server: PostgresServer;
  readonly #scratch: string;
  readonly #nodes: Pick<ServedNode, 'svc' | 'database' | 'remoting'>[] = [];

  /** `scratch`: a folder for the data folders of the processes. */
  static async of(server: PostgresServer, module: string, scratch: string): Promise<ServedCluster> {
    const served = new ServedDatabase(await server.freshDatabase(), module, scratch);
    return new ServedCluster(server, served, scratch);
  }

  private constructor(server: PostgresServer, served: ServedDatabase, scratch: string) {
    this.#server = server;
    this.served = served;
    this.#scratch = scratch;
  }

  /**
   * Starts a node, and resolves once it serves. `settings`: further settings, as `NAME=VALUE`. `module`: the module's file; default:
   * that of the service.
   */
  async start(
    name: string,
    settings: readonly string[] = [],
    module?: string,
  ): Promise<ServedNode> {
    const database = await TcpFaultProxy.to(this.#server.port);
    const through = new URL(this.served.database.url);
    through.port = String(database.port);
    const folder = mkdtempSync(join(this.#scratch, 'url-'));
    const { remoting, remotingPort } = await remotingProxy();
    const svc = this.served.start({
      deployed: true,
      source: urlFile(folder, name, through.href),
      ...(module !== undefined && { module }),
      settings: [
        'svc.management.host=127.0.0.1',
        'svc.management.port=0',
        `svc.remoting.port=${remotingPort}`,
        `svc.remoting.advertised-host=${ADVERTISED_HOST}`,
        ...settings,
      ],
    });
    const node = { svc, database, remoting };
    this.#nodes.push(node);
    const url = await svc.listening();
    return { ...node, name, url, management: await managementOf(svc), remotingPort };
  }

  /** Resolves with the members of the cluster as a node names them, in the order in which they joined. */
  async members({ management }: ServedNode): Promise<readonly Member[]> {
    const answer = await fetch(`${management}/cluster/members`);
    return ((await answer.json()) as { members: readonly Member[] }).members;
  }

  /** Resolves with the metrics of a node, by the name of each series with its labels. */
  async metrics({ management }: ServedNode): Promise<ReadonlyMap<string, number>> {
    const text = await (await fetch(`${management}/svc/metrics`)).text();
    return new Map(
      text
        .split('\n')
        .filter((line) => line !== '' && !line.startsWith('#'))
        .map((line) => {
          const end = line.lastIndexOf(' ');
          return [line.slice(0, end), Number(line.slice(end + 1))];
        }),
    );
  }

  /** Resolves with the number of a node in the cluster; undefined: it is no member, or does not serve yet. */
  async numberOf({ remotingPort }: ServedNode): Promise<number | undefined> {
    const [row] = await this.served.database.sql(
      `SELECT number::int FROM svc.node WHERE port = $1 AND lease_until > clock_timestamp() ORDER BY number DESC`,
      [remotingPort],
    );
    return row?.['number'] as number | undefined;
  }

  /** Returns how many slices each node owns, in descending order, without those that own none. */
  async shares(): Promise<readonly number[]> {
    const rows = await this.served.database.sql(
      `SELECT count(*)::int AS slices FROM svc.slice WHERE owner IS NOT NULL GROUP BY owner ORDER BY 1 DESC`,
    );
    return rows.map(({ slices }) => slices as number);
  }

  /** Ends what is left. */
  async close(): Promise<void> {
    await Promise.all(this.#nodes.map(({ svc }) => svc.end('SIGKILL')));
    await Promise.all(
      this.#nodes.flatMap(({ database, remoting }) => [database.close(), remoting.close()]),
    );
  }
}

/** Listens on a port that the system gives to no outgoing connection before the node listens on it, too. */
async function remotingProxy(): Promise<{
  readonly remoting: TcpFaultProxy;
  readonly remotingPort: number;
}> {
  for (;;) {
    const remotingPort = REMOTING_PORTS.first + randomInt(REMOTING_PORTS.count);
    const listened = { host: ADVERTISED_HOST, port: remotingPort };
    try {
      // oxlint-disable-next-line no-await-in-loop -- an attempt follows the other
      return { remoting: await TcpFaultProxy.to(remotingPort, listened), remotingPort };
    } catch (error) {
      // Another test has the port.
      if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
    }
  }
}
