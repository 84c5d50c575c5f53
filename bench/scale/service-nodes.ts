// ServiceNodes are the nodes of one service, as measured: deployed `svc run` processes with one shard each and one database. Each
// names its connections to the database after itself, so that the server's statistics show whose a connection is.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { SLICE_COUNT } from '@svc/model/slice';
import { freePorts } from '../../test/support/free-ports.ts';
import { type FreshDatabase, urlFile } from '../../test/support/postgres/fresh-database.ts';
import type { PostgresServer } from '../../test/support/postgres/postgres-server.ts';
import { processorUs } from '../processor-time.ts';
import { type BenchModule, type Service, startSvc } from '../service.ts';

const SHARED_WITHIN_MS = 60_000;
const LOOK_MS = 100;
/** Part of its even share that a node has at least, and beyond it at most, once the nodes share the slices. */
const SHARE_DEVIATION_MAX = 0.2;
const CALLS_SENT = /^svc_cluster_calls_total\{[^}]*kind="sent"[^}]*\} (\d+)$/gm;

interface RunningNode {
  readonly service: Service;
  /** URL of the metrics. */
  readonly metrics: string;
}

export class ServiceNodes {
  readonly database: FreshDatabase;
  readonly #nodes: RunningNode[] = [];

  /** Starts nodes one after the other, and resolves once they share the slices evenly. */
  static async start(
    server: PostgresServer,
    module: BenchModule,
    count: number,
  ): Promise<ServiceNodes> {
    const nodes = new ServiceNodes(await server.freshDatabase());
    try {
      for (let index = 0; index < count; index++)
        // oxlint-disable-next-line no-await-in-loop -- the order in which nodes join is their order here
        await nodes.#startNext(server, module);
      await nodes.#untilShared();
      return nodes;
    } catch (error) {
      await nodes.stop();
      throw error;
    }
  }

  private constructor(database: FreshDatabase) {
    this.database = database;
  }

  get count(): number {
    return this.#nodes.length;
  }

  /** Ports of the nodes for HTTP, in the order in which they joined. */
  get ports(): readonly number[] {
    return this.#nodes.map(({ service }) => Number(new URL(service.url).port));
  }

  /** Returns the processor time of all nodes so far, in microseconds. */
  usedUs(): number {
    return this.#nodes.reduce((sum, { service }) => sum + processorUs(service.pid), 0);
  }

  /** Returns the index of the owner of each slice. */
  async owners(): Promise<readonly number[]> {
    const rows = await this.database.sql(
      `SELECT (SELECT count(*) FROM svc.node n WHERE n.number < s.owner)::int AS owner
        FROM svc.slice s WHERE s.owner IS NOT NULL ORDER BY slice`,
    );
    return rows.map(({ owner }) => owner as number);
  }

  /** Returns how many calls and requests the nodes have sent to each other so far. */
  async forwarded(): Promise<number> {
    const texts = await Promise.all(
      this.#nodes.map(async ({ metrics }) => (await fetch(metrics)).text()),
    );
    return texts
      .flatMap((text) => [...text.matchAll(CALLS_SENT)])
      .reduce((sum, [, count]) => sum + Number(count), 0);
  }

  async stop(): Promise<void> {
    await Promise.all(this.#nodes.map(({ service }) => service.stop()));
  }

  async #startNext(server: PostgresServer, module: BenchModule): Promise<void> {
    const name = `node-${this.#nodes.length + 1}`;
    const url = new URL(this.database.url);
    url.searchParams.set('application_name', name);
    const source = urlFile(server.folder, `${this.database.name}-${name}`, url.href);
    assert(source.kind === 'file');
    const [management] = await freePorts(1);
    const folder = join(module.folder, `${this.database.name}-${name}`);
    const service = await startSvc(module.file, folder, undefined, {
      'svc.database.url-file': source.path,
      'svc.remoting.host': '127.0.0.1',
      'svc.remoting.port': '0',
      'svc.management.host': '127.0.0.1',
      'svc.management.port': String(management),
    });
    this.#nodes.push({ service, metrics: `http://127.0.0.1:${management}/svc/metrics` });
  }

  async #untilShared(): Promise<void> {
    const share = SLICE_COUNT / this.count;
    const endMs = performance.now() + SHARED_WITHIN_MS;
    for (;;) {
      // oxlint-disable-next-line no-await-in-loop -- a look follows the other
      const owners = await this.owners();
      const counts = this.#nodes.map((_, index) => owners.filter((one) => one === index).length);
      const isEven = counts.every(
        (count) => Math.abs(count - share) <= SHARE_DEVIATION_MAX * share,
      );
      if (owners.length === SLICE_COUNT && isEven) return;
      if (performance.now() > endMs)
        throw new Error(`the nodes do not share the slices: ${counts.join(', ')}`);
      // oxlint-disable-next-line no-await-in-loop -- the same
      await pause(LOOK_MS);
    }
  }
}
