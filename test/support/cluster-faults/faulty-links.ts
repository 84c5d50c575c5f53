// FaultyLinks are the proxies between every two nodes, and between each node and both servers of the database.
import { randomInt } from 'node:crypto';
import { TcpFaultProxy } from '../tcp-fault-proxy.ts';
import type { CutKind } from './fault-schedule.ts';

/** Other nodes are at this address for every node, whose connections lead to proxies of its own. */
export const PEERS = '127.0.0.2';
/** Below the ports of outgoing connections. */
const REMOTING_PORTS = { first: 20_000, count: 10_000 };

export class FaultyLinks {
  /** Port on which each node takes calls of the others. */
  readonly remotingPorts: readonly number[];
  /** By node, the proxies to the servers of the database. */
  readonly database: readonly (readonly TcpFaultProxy[])[];
  /** By the node that connects, and the one that is connected to. */
  readonly #nodes: readonly (readonly (TcpFaultProxy | undefined)[])[];

  /** `servers`: ports of the database. */
  static async between(nodes: number, servers: readonly number[]): Promise<FaultyLinks> {
    const all = Array.from({ length: nodes }, (_, node) => node);
    const database = await Promise.all(
      all.map(() => Promise.all(servers.map((port) => TcpFaultProxy.to(port)))),
    );
    const { ports, proxies } = await nodeProxies(all);
    return new FaultyLinks(ports, database, proxies);
  }

  private constructor(
    remotingPorts: readonly number[],
    database: readonly (readonly TcpFaultProxy[])[],
    nodes: readonly (readonly (TcpFaultProxy | undefined)[])[],
  ) {
    this.remotingPorts = remotingPorts;
    this.database = database;
    this.#nodes = nodes;
  }

  cutDatabase(node: number, cut: CutKind, delayMs: number): void {
    for (const proxy of this.database[node]!) apply(proxy, cut, delayMs);
  }

  healDatabase(node: number): void {
    for (const proxy of this.database[node]!) heal(proxy);
  }

  /** Cuts the connections of both nodes. What `from` sends are the requests of its own connections, and the answers on those of the other node. */
  cutNodes(from: number, to: number, cut: CutKind, delayMs: number): void {
    apply(this.#nodes[from]![to]!, cut, delayMs);
    apply(this.#nodes[to]![from]!, TURNED[cut] ?? cut, delayMs);
  }

  healNodes(from: number, to: number): void {
    heal(this.#nodes[from]![to]!);
    heal(this.#nodes[to]![from]!);
  }

  async close(): Promise<void> {
    const between = this.#nodes.flat().filter((proxy) => proxy !== undefined);
    await Promise.all([...between, ...this.database.flat()].map((proxy) => proxy.close()));
  }
}

/** Returns the address at which the connections of a node to other ones arrive. */
export function routeOf(node: number): string {
  return `127.0.1.${node + 1}`;
}

async function nodeProxies(nodes: readonly number[]) {
  for (;;) {
    const first = REMOTING_PORTS.first + randomInt(REMOTING_PORTS.count);
    const ports = nodes.map((node) => first + node);
    const started: TcpFaultProxy[] = [];
    try {
      const proxies: (TcpFaultProxy | undefined)[][] = [];
      for (const from of nodes) {
        const row: (TcpFaultProxy | undefined)[] = [];
        for (const to of nodes) {
          const listened = { host: routeOf(from), port: ports[to]! };
          // oxlint-disable-next-line no-await-in-loop -- an attempt ends with the first port that is taken
          const proxy = from === to ? undefined : await TcpFaultProxy.to(ports[to]!, listened);
          if (proxy !== undefined) started.push(proxy);
          row.push(proxy);
        }
        proxies.push(row);
      }
      return { ports, proxies };
    } catch (error) {
      // oxlint-disable-next-line no-await-in-loop -- an attempt follows the other
      await Promise.all(started.map((proxy) => proxy.close()));
      // Another test has the port.
      if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
    }
  }
}

/** What a cut is for connections that were made in the other direction, if it is another one. */
const TURNED: Partial<Record<CutKind, CutKind>> = {
  'hold requests': 'hold answers',
  'hold answers': 'hold requests',
  'half-open client': 'half-open server',
  'half-open server': 'half-open client',
};

function apply(proxy: TcpFaultProxy, cut: CutKind, delayMs: number): void {
  if (cut === 'hold requests' || cut === 'hold both') proxy.holdRequests();
  if (cut === 'hold answers' || cut === 'hold both') proxy.holdAnswers();
  if (cut === 'delay') proxy.delay(delayMs);
  if (cut === 'reset') proxy.reset();
  if (cut === 'refuse') proxy.refuse();
  if (cut === 'half-open client') proxy.leaveHalfOpen('client');
  if (cut === 'half-open server') proxy.leaveHalfOpen('server');
}

function heal(proxy: TcpFaultProxy): void {
  proxy.letRequestsThrough();
  proxy.letAnswersThrough();
  proxy.delay(0);
  proxy.accept();
}
