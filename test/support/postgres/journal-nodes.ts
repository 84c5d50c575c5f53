// JournalNodes are several nodes that use one journal in a fresh database. They run in this process; each has a proxy of its own
// before the database, by which it can be cut off.
import { setTimeout as pause } from 'node:timers/promises';
import { SLICE_COUNT } from '../../../model/slice.ts';
import { TIMER_LIMITS_DEFAULT } from '../../../model/timer-limits.ts';
import { JournalSeries } from '../../../host/storage/journal-series.ts';
import type { AdmitModule } from '../../../host/storage/postgres/nodes/node-modules.ts';
import { SliceShares } from '../../../host/storage/postgres/nodes/slice-shares.ts';
import { SliceTable } from '../../../host/storage/postgres/nodes/slice-table.ts';
import {
  openPostgresJournal,
  type OpenedPostgres,
} from '../../../host/storage/postgres/opened-postgres.ts';
import { TcpFaultProxy } from '../tcp-fault-proxy.ts';
import { type FreshDatabase, urlFile } from './fresh-database.ts';
import { journalDatabase } from './journal-database.ts';
import type { PostgresServer } from './postgres-server.ts';

/** Pause between two looks at who owns what. */
const LOOK_MS = 20;

export interface NodeOptions {
  readonly isExclusive?: boolean;
  readonly fingerprint?: string;
  /** Compares the module with another one that runs; absent: it runs beside none. */
  readonly admit?: AdmitModule;
}

export class JournalNode {
  readonly opened: OpenedPostgres;
  readonly proxy: TcpFaultProxy;
  readonly table: SliceTable;

  constructor(opened: OpenedPostgres, proxy: TcpFaultProxy) {
    this.opened = opened;
    this.proxy = proxy;
    this.table = new SliceTable(opened.followerConnection.owners);
  }

  get number(): number {
    return this.table.self;
  }

  /** Number of slices that the node owns, as it sees it. */
  get share(): number {
    return this.table.own().length;
  }

  /** The numbers of the nodes that own something, as this one sees it. */
  get owners(): ReadonlySet<number> {
    return new Set(Array.from({ length: SLICE_COUNT }, (_, slice) => this.table.ownerOf(slice)));
  }

  /** Statuses of all nodes, in the order in which they joined, as this one sees it. */
  get statuses(): readonly string[] {
    return this.opened.cluster.nodes.map(({ status }) => status);
  }

  /** Lets others hand slices over to this node. */
  async serve(): Promise<void> {
    await this.opened.cluster.serve({ host: '127.0.0.1', port: 17_355 });
  }

  /** Ends the node without a word to the others. */
  async kill(): Promise<void> {
    this.proxy.refuse();
    await this.opened.close();
  }
}

export class JournalNodes {
  readonly database: FreshDatabase;
  readonly #server: PostgresServer;
  readonly #nodes: JournalNode[] = [];
  readonly #proxies: TcpFaultProxy[] = [];

  static async make(server: PostgresServer): Promise<JournalNodes> {
    return new JournalNodes(server, await journalDatabase(server));
  }

  private constructor(server: PostgresServer, database: FreshDatabase) {
    this.#server = server;
    this.database = database;
  }

  /** Starts a node, which does not serve yet. Nodes tell each other at once when they have changed who owns what. */
  async start({
    isExclusive = false,
    fingerprint = 'test',
    admit,
  }: NodeOptions = {}): Promise<JournalNode> {
    const proxy = await TcpFaultProxy.to(this.#server.port);
    this.#proxies.push(proxy);
    const url = new URL(this.database.url);
    url.port = String(proxy.port);
    const opened = await openPostgresJournal(
      { kind: 'postgres', source: urlFile(this.#server.folder, this.database.name, url.href) },
      {
        limits: { bytesMax: 0, closeMs: 3_000 },
        timerLimits: TIMER_LIMITS_DEFAULT,
        series: new JournalSeries(),
        fingerprint,
        isExclusive,
        admit,
      },
    );
    const node = new JournalNode(opened, proxy);
    this.#nodes.push(node);
    opened.cluster.onOwners(() => {
      for (const other of this.#nodes) if (other !== node) other.opened.cluster.look();
    });
    return node;
  }

  /** Starts nodes that serve, one after the other, and waits until each has its share. */
  async startServing(count: number): Promise<readonly JournalNode[]> {
    const nodes: JournalNode[] = [];
    for (let index = 0; index < count; index++) {
      const node = await this.start();
      await node.serve();
      nodes.push(node);
    }
    await this.agreed(nodes);
    return nodes;
  }

  /** Resolves once these nodes own everything, each its share, and all see the same owners, which are those of the database. */
  async agreed(nodes: readonly JournalNode[]): Promise<void> {
    for (;;) {
      const rows = await this.database.sql(
        'SELECT coalesce(owner, 0)::int AS owner FROM svc.slice ORDER BY slice',
      );
      const owners = rows.map((row) => row['owner'] as number);
      const isSeen = nodes.every(({ table }) =>
        owners.every((owner, slice) => table.ownerOf(slice) === owner),
      );
      const shares = new SliceShares(
        nodes.map(({ number }) => ({ number, status: 'Up', fingerprint: 'test' })),
      );
      if (isSeen && owners.every((owner, slice) => owner === shares.takerOf(slice))) return;
      await pause(LOOK_MS);
    }
  }

  /** Returns the value in the only row and column of a query's result. */
  async value(text: string): Promise<unknown> {
    const [row] = await this.database.sql(text);
    return Object.values(row!)[0];
  }

  /** Ends all nodes, and all connections to the database. */
  async close(): Promise<void> {
    for (const proxy of this.#proxies) {
      proxy.letAnswersThrough();
      proxy.accept();
    }
    await Promise.all(this.#nodes.map(({ opened }) => opened.close()));
    await Promise.all(this.#proxies.map((proxy) => proxy.close()));
    await this.database.end();
  }
}
