// JournalDatabase is a fresh database with the tables of a journal, and a node that owns all slices.
import assert from 'node:assert/strict';
import { MessageChannel } from 'node:worker_threads';
import { SLICE_COUNT } from '../../../model/slice.ts';
import { TIMER_LIMITS_DEFAULT } from '../../../model/timer-limits.ts';
import type { Journal } from '../../../host/engine/needs/journal.ts';
import { attachPostgresJournal } from '../../../host/storage/postgres/attached-postgres.ts';
import { connectDatabase } from '../../../host/storage/postgres/connect-database.ts';
import type { DatabaseSession } from '../../../host/storage/postgres/database-session.ts';
import type { DatabaseSource } from '../../../host/storage/postgres/database-source.ts';
import { SliceHeads } from '../../../host/storage/postgres/feed/slice-heads.ts';
import { migrateJournal } from '../../../host/storage/postgres/migration.ts';
import { JournalRoom } from '../../../host/storage/postgres/journal-room.ts';
import { NodeLease } from '../../../host/storage/postgres/nodes/node-lease.ts';
import {
  type NodeIdentity,
  NodeMembership,
  type TakenSlices,
} from '../../../host/storage/postgres/nodes/node-membership.ts';
import { SliceTable } from '../../../host/storage/postgres/nodes/slice-table.ts';
import type { PostgresConnection } from '../../../host/storage/postgres/postgres-connection.ts';
import { WritingModule } from '../../../host/storage/postgres/writing-module.ts';
import { TimerAlarm } from '../../../host/storage/timer-alarm.ts';
import type { TcpFaultProxy } from '../tcp-fault-proxy.ts';
import { type FreshDatabase, urlFile } from './fresh-database.ts';
import type { PostgresServer } from './postgres-server.ts';

const EMPTY = `TRUNCATE svc.journal, svc.reply, svc.snapshot, svc.timer, svc.module, svc.event_type, svc.consumer,
  svc.consumer_offset, svc.lane, svc.node;
  UPDATE svc.timer_count SET timers = 0 WHERE timers <> 0;
  UPDATE svc.slice SET owner = NULL, epoch = 0, head = 0, commits = 0`;

const migrated = new WeakMap<PostgresServer, Promise<FreshDatabase>>();

/** Makes a database with the tables of a journal. They are made once for a server, and copied. */
export async function journalDatabase(server: PostgresServer): Promise<FreshDatabase> {
  const like = migrated.get(server) ?? migratedDatabase(server);
  migrated.set(server, like);
  return server.freshDatabase(await like);
}

async function migratedDatabase(server: PostgresServer): Promise<FreshDatabase> {
  const database = await server.freshDatabase();
  const session = await connectDatabase(database.source);
  await migrateJournal(session);
  await session.close();
  return database;
}

/** A node as others see it, for tests. */
export function testNode(name: string): NodeIdentity {
  return { uid: name, machine: 'here', version: '0.0.0', fingerprint: 'test', isExclusive: true };
}

export class JournalDatabase {
  readonly database: FreshDatabase;
  readonly #server: PostgresServer;
  heads = new SliceHeads();
  module = new WritingModule();
  alarm = new TimerAlarm();
  readonly lease = new NodeLease();
  room = new JournalRoom();
  readonly #memberships = new Map<string, NodeMembership>();
  readonly #tables = new Map<string, SliceTable>();

  static async make(server: PostgresServer): Promise<JournalDatabase> {
    const journals = new JournalDatabase(server, await journalDatabase(server));
    await journals.join('node');
    return journals;
  }

  private constructor(server: PostgresServer, database: FreshDatabase) {
    this.#server = server;
    this.database = database;
  }

  /** Removes everything, and lets the node take all slices: the tests of a file share a database, because it takes long to make. */
  async empty(): Promise<void> {
    await this.database.sql(EMPTY);
    this.heads = new SliceHeads();
    this.module = new WritingModule();
    this.alarm = new TimerAlarm();
    this.room = new JournalRoom();
    await this.join('node');
  }

  /** Ends the lease of a node in the database. */
  async expire(name: string): Promise<void> {
    await this.database.sql(
      `UPDATE svc.node SET lease_until = clock_timestamp() - interval '1 second' WHERE uid = $1`,
      [name],
    );
  }

  /** The slices of a node of this name, which owns none before it has joined. */
  tableOf(name: string): SliceTable {
    let table = this.#tables.get(name);
    if (table === undefined) this.#tables.set(name, (table = new SliceTable()));
    return table;
  }

  /** Lets a node take all slices. Rejects with SVC_DATA_IN_USE while another one has a lease. */
  async join(name: string): Promise<void> {
    const session = await connectDatabase(this.database.source);
    const membership = new NodeMembership(testNode(name), this.database.name);
    this.#memberships.set(name, membership);
    try {
      const number = await membership.join(session);
      assert(number !== undefined, 'a node whose lease has ended cannot be removed yet');
      const table = this.tableOf(name);
      table.join(number);
      await takeAll(session, membership, (taken) => {
        this.heads.advance(taken);
        table.assign(taken.map(([slice]) => [slice, number]));
      });
    } finally {
      await session.close();
    }
  }

  /** Lets a node that has joined leave. */
  async leave(name: string): Promise<void> {
    const session = await connectDatabase(this.database.source);
    await this.#memberships.get(name)!.leave(session);
    await session.close();
  }

  /** Returns where a URL is that leads through a proxy. */
  through(proxy: TcpFaultProxy): DatabaseSource {
    const url = new URL(this.database.url);
    url.port = String(proxy.port);
    return urlFile(this.#server.folder, this.database.name, url.href);
  }

  /** A connection of its own, of the role that owns the tables. */
  session(): Promise<DatabaseSession> {
    return connectDatabase(this.database.source);
  }

  /** Returns the number in the only row and column of a query's result. */
  async number(text: string): Promise<number> {
    const [row] = await this.database.sql(text);
    return Number(Object.values(row!)[0]);
  }

  /** The connection of a thread that writes all slices of a node. */
  connection(given: Partial<PostgresConnection> = {}): PostgresConnection {
    return {
      kind: 'postgres',
      source: this.database.source,
      shown: this.database.name,
      node: 'node',
      owners: this.tableOf(given.node ?? 'node').shared,
      slices: [0, SLICE_COUNT],
      heads: this.heads.shared,
      alarm: this.alarm.shared,
      timerLimits: TIMER_LIMITS_DEFAULT,
      journal: 'test',
      module: this.module.shared,
      lease: this.lease.shared,
      room: this.room.shared,
      uncertainMs: 5_000,
      ports: [new MessageChannel().port1],
      ...given,
    };
  }

  attach(given?: Partial<PostgresConnection>): Journal {
    return attachPostgresJournal(this.connection(given));
  }
}

/** Takes all slices, some of them later if their rows are locked. */
async function takeAll(
  session: DatabaseSession,
  membership: NodeMembership,
  onTaken: (taken: TakenSlices) => void,
): Promise<void> {
  let missing = Array.from({ length: SLICE_COUNT }, (_, slice) => slice);
  while (missing.length > 0) {
    // oxlint-disable-next-line no-await-in-loop -- it asks until the locks are gone
    const taken = (await membership.take(session, missing)) ?? [];
    onTaken(taken);
    const found = new Set(taken.map(([slice]) => slice));
    missing = missing.filter((slice) => !found.has(slice));
  }
}
