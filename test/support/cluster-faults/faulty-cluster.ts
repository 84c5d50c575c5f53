// FaultyCluster is a service with several nodes on a replicated database: deployed `svc run` processes, each on a machine of its own as far as
// clocks and connections go. It carries out the faults of a schedule.
//
// Invariants
// - A node that was ended is started again, until it serves or the cluster is closed: a node has a supervisor that does so.
// - A target has one fault at a time; the next one waits for it.
// - A node that ends by itself after it has served is in `problems`.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { SvcProcess } from '../host-process.ts';
import { managementOf } from '../deployed-service.ts';
import { urlFile } from '../postgres/fresh-database.ts';
import { ServedDatabase } from '../postgres/served-database.ts';
import { delayOf, faultText, targetOf, type ScheduledFault } from './fault-schedule.ts';
import { FaultyLinks, PEERS, routeOf } from './faulty-links.ts';
import { OwnMachine } from './own-machine.ts';
import { ReplicatedDatabase } from './replicated-database.ts';

export interface FaultyNode {
  readonly name: string;
  readonly machine: OwnMachine;
  svc: SvcProcess;
  /** The last URL of the service at this node, and that of its management server. */
  url: string;
  management: string;
}

export interface ClusterOptions {
  /** The module's file. */
  readonly module: string;
  /** An empty folder. */
  readonly scratch: string;
  /** How far the clock of the standby is from the true time, in milliseconds; default: not at all. */
  readonly standbyClockMs?: number;
  /** Called when a node serves at another URL. */
  readonly onUrl?: (node: FaultyNode) => void;
}

const NODES = ['a', 'b', 'c'];
const SHARDS = 2;
/** A node that does not end by SIGTERM within this time is killed: its database may be away. */
const STOP_MS = 40_000;
/** Pause of the supervisor before it starts a node again that could not start. */
const START_AGAIN_MS = 300;
/** A node that has not come to serve within this time never will. */
const PATIENCE_MS = 120_000;
const LOOK_MS = 100;
/** A third of 1,024 slices, and what chance leaves of it. */
const SHARE_MIN = 250;
/** Part of a stop that the monotonic clock shows, so that it goes on. */
const SHOWN_MS = 20;

export class FaultyCluster {
  readonly served: ServedDatabase;
  readonly database: ReplicatedDatabase;
  readonly links: FaultyLinks;
  readonly nodes: FaultyNode[] = [];
  /** What the nodes did that no node may do. */
  readonly problems: string[] = [];
  /** Processes that have ended, with what they had logged. */
  readonly logs: { readonly node: string; readonly log: string }[] = [];
  readonly #options: ClusterOptions;
  readonly #running = new Map<string, Promise<void>>();
  /** Processes that a fault has ended, or that have not served yet. */
  readonly #mayEnd = new WeakSet<SvcProcess>();
  #isClosed = false;

  static async start(options: ClusterOptions): Promise<FaultyCluster> {
    const database = await ReplicatedDatabase.start(options.standbyClockMs ?? 0);
    const links = await FaultyLinks.between(NODES.length, database.ports);
    const served = new ServedDatabase(
      await database.freshDatabase('cluster'),
      options.module,
      options.scratch,
    );
    const cluster = new FaultyCluster(database, links, served, options);
    try {
      await Promise.all(NODES.map((_, node) => cluster.#start(node)));
      await cluster.settled();
      return cluster;
    } catch (error) {
      await cluster.close();
      throw error;
    }
  }

  private constructor(
    database: ReplicatedDatabase,
    links: FaultyLinks,
    served: ServedDatabase,
    options: ClusterOptions,
  ) {
    this.database = database;
    this.links = links;
    this.served = served;
    this.#options = options;
    for (const [index, name] of NODES.entries()) {
      const folder = join(options.scratch, name);
      mkdirSync(folder);
      const route = { peers: PEERS, to: routeOf(index) };
      const machine = new OwnMachine(join(folder, 'clocks'), route);
      this.nodes.push({ name, machine, svc: undefined!, url: '', management: '' });
    }
  }

  /** Carries out a schedule. Resolves once the last fault has ended. */
  async carryOut(
    schedule: readonly ScheduledFault[],
    onFault?: (text: string) => void,
  ): Promise<void> {
    const beganMs = performance.now();
    for (const fault of schedule) {
      await delay(Math.max(0, beganMs + fault.atMs - performance.now()));
      onFault?.(faultText(fault));
      const target = targetOf(fault);
      const before = this.#running.get(target) ?? Promise.resolve();
      const running = before.then(() => this.#carryOut(fault));
      running.catch((error: unknown) =>
        this.problems.push(`${faultText(fault)}: ${String(error)}`),
      );
      this.#running.set(
        target,
        running.catch(() => undefined),
      );
    }
    await Promise.all(this.#running.values());
  }

  /** Resolves once each node has its share, and says that it is ready. Rejects if that does not come to be. */
  async settled(): Promise<void> {
    const untilMs = performance.now() + PATIENCE_MS;
    for (;;) {
      const state = await this.#state();
      const { shares, ready } = state;
      if (
        shares.length === NODES.length &&
        shares.every((share) => share >= SHARE_MIN) &&
        ready.every((status) => status === 200)
      )
        return;
      if (performance.now() > untilMs)
        throw new Error(`the cluster has not settled: ${JSON.stringify(state)}`);
      await delay(LOOK_MS);
    }
  }

  /** Kills a node, and starts it again once `before` has resolved. */
  async kill(node: number, before: () => Promise<void>): Promise<void> {
    await this.#end(node, 'SIGKILL');
    await before();
    await this.#start(node);
  }

  /** Ends what is left. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const { svc } of this.nodes)
      if (svc !== undefined) {
        this.#mayEnd.add(svc);
        svc.child.kill('SIGKILL');
        await svc.ended;
      }
    await this.links.close();
    await this.database.stop();
  }

  async #carryOut(fault: ScheduledFault): Promise<void> {
    const { forMs } = fault;
    switch (fault.kind) {
      case 'kill':
        return this.#killed(fault.node, forMs, fault.again);
      case 'restart':
        await this.#end(fault.node, 'SIGTERM');
        return this.#start(fault.node);
      case 'stop':
        return void (await this.#stopped(fault.node, forMs));
      case 'suspend':
        return this.#suspended(fault.node, forMs);
      case 'clock':
        this.nodes[fault.node]!.machine.setWallClock(fault.byMs);
        await delay(forMs);
        return this.nodes[fault.node]!.machine.setWallClock(0);
      case 'link':
        this.links.cutNodes(fault.from, fault.to, fault.cut, delayOf(fault));
        await delay(forMs);
        return this.links.healNodes(fault.from, fault.to);
      case 'database link':
        this.links.cutDatabase(fault.node, fault.cut, delayOf(fault));
        await delay(forMs);
        return this.links.healDatabase(fault.node);
      case 'database restart':
        return this.database.restart(fault.end, forMs);
      case 'database pause':
        return this.database.pause(forMs);
      case 'standby cut':
        return this.database.cutStandby(forMs);
      case 'failover':
        return this.database.failOver(fault.former, forMs);
    }
  }

  async #killed(node: number, forMs: number, again: number | undefined): Promise<void> {
    await this.#end(node, 'SIGKILL');
    await delay(forMs);
    if (again !== undefined) {
      const svc = this.#spawned(node);
      await delay(again);
      svc.child.kill('SIGKILL');
      await svc.ended;
    }
    await this.#start(node);
  }

  /** Resolves with the time for which the process stood still, at least. */
  async #stopped(node: number, forMs: number): Promise<number> {
    const { child } = this.nodes[node]!.svc;
    child.kill('SIGSTOP');
    const stoppedMs = performance.now();
    await delay(forMs);
    const stoodStillMs = performance.now() - stoppedMs;
    child.kill('SIGCONT');
    return stoodStillMs;
  }

  async #suspended(node: number, forMs: number): Promise<void> {
    const { svc, machine } = this.nodes[node]!;
    svc.child.kill('SIGSTOP');
    const stoppedMs = performance.now();
    await delay(forMs);
    machine.wasSuspended(Math.max(0, performance.now() - stoppedMs - SHOWN_MS));
    svc.child.kill('SIGCONT');
  }

  /** Ends the process of a node. Resolves once it has ended. */
  async #end(node: number, signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
    const { svc } = this.nodes[node]!;
    this.#mayEnd.add(svc);
    const killing = setTimeout(() => svc.child.kill('SIGKILL'), STOP_MS);
    await svc.end(signal);
    clearTimeout(killing);
  }

  /** Starts a node, again if it ends before it serves. */
  async #start(index: number): Promise<void> {
    const node = this.nodes[index]!;
    const untilMs = performance.now() + PATIENCE_MS;
    for (;;) {
      const svc = this.#spawned(index);
      try {
        node.url = await svc.listening();
        node.management = await managementOf(svc);
        this.#mayEnd.delete(svc);
        this.#options.onUrl?.(node);
        return;
      } catch (error) {
        if (this.#isClosed) return;
        if (performance.now() > untilMs) throw error;
        await delay(START_AGAIN_MS);
      }
    }
  }

  #spawned(index: number): SvcProcess {
    const node = this.nodes[index]!;
    const port = this.links.remotingPorts[index]!;
    const url = new URL(this.database.url(this.served.database.name));
    const hosts = this.links.database[index]!.map((proxy) => `127.0.0.1:${proxy.port}`);
    const through = `${url.href.replace(url.host, hosts.join(','))}?connect_timeout=2`;
    const svc = this.served.start({
      deployed: true,
      shards: SHARDS,
      source: urlFile(join(this.#options.scratch, node.name), 'database', through),
      env: node.machine.env,
      settings: [
        'svc.management.host=127.0.0.1',
        'svc.management.port=0',
        `svc.remoting.port=${port}`,
        `svc.remoting.advertised-host=${PEERS}`,
      ],
    });
    node.svc = svc;
    this.#mayEnd.add(svc);
    void svc.ended.then(({ code, signal, stderr }) => {
      this.logs.push({ node: node.name, log: stderr });
      if (!this.#mayEnd.has(svc))
        this.problems.push(`node ${node.name} has ended by itself (${code ?? signal}):\n${stderr}`);
    });
    return svc;
  }

  async #state() {
    const shares = await this.#shares();
    return {
      shares,
      ready: await Promise.all(this.nodes.map(({ management }) => statusOf(`${management}/ready`))),
    };
  }

  /** Returns how many slices each node owns; none while the database cannot be asked. */
  async #shares(): Promise<readonly number[]> {
    try {
      const rows = await this.served.database.sql(
        `SELECT count(*)::int AS slices FROM svc.slice WHERE owner IS NOT NULL GROUP BY owner`,
      );
      return rows.map(({ slices }) => slices as number);
    } catch {
      return [];
    }
  }
}

async function statusOf(url: string): Promise<number | string> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(PATIENCE_MS) });
    await response.arrayBuffer();
    return response.status;
  } catch (error) {
    return String(error);
  }
}
