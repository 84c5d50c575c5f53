// StoredSlices is a journal in PostgreSQL for the tests of its feed and of its consumers: it stores records as they are appended, one
// append after the other, without the writer of a journal.
import { Client } from 'pg';
import type { Journal } from '../../../../host/engine/needs/journal.ts';
import { connectDatabase } from '../../../../host/storage/postgres/connect-database.ts';
import type { DatabaseSession } from '../../../../host/storage/postgres/database-session.ts';
import { FollowingSession } from '../../../../host/storage/postgres/following-session.ts';
import { PostgresFeed } from '../../../../host/storage/postgres/feed/postgres-feed.ts';
import { SliceHeads } from '../../../../host/storage/postgres/feed/slice-heads.ts';
import { SlicePositions } from '../../../../host/storage/postgres/feed/slice-positions.ts';
import { migrateJournal } from '../../../../host/storage/postgres/migration.ts';
import { recordValues } from '../../../../host/storage/postgres/record-row.ts';
import { SvcError } from '../../../../kit/svc-error.ts';
import type { EntityRef, JournalRecord } from '../../../../model/entity.ts';
import { sliceOf } from '../../../../model/slice.ts';
import type { FreshDatabase } from '../../../support/postgres/fresh-database.ts';
import { PostgresServer } from '../../../support/postgres/postgres-server.ts';
import type { PostgresVersion } from '../../../support/postgres/postgres-programs.ts';

const clock = { monotonicMs: () => performance.now() };
const PUT = `INSERT INTO svc.journal (slice, off, component, id, seq, kind, time_ms, manifest, event, seed, trace, key, by, crc)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)`;

const EMPTY = `DELETE FROM svc.journal; DELETE FROM svc.consumer; DELETE FROM svc.consumer_offset; DELETE FROM svc.lane;
  UPDATE svc.slice SET head = 0 WHERE head > 0`;

/** The tests of a file share a database, because it takes long to make one. */
const databases = new Map<PostgresVersion, Promise<FreshDatabase>>();

async function databaseOf(version: PostgresVersion): Promise<FreshDatabase> {
  const server = await PostgresServer.shared(version);
  const database = await server.freshDatabase();
  const session = await connectDatabase(database.source);
  await migrateJournal(session);
  await session.close();
  return database;
}

/** The journal as the suites use it. */
export type AppendedJournal = Pick<Journal, 'append' | 'positions'>;

export class StoredSlices implements AppendedJournal {
  readonly database: FreshDatabase;
  readonly heads = new SliceHeads();
  readonly positions = new SlicePositions(this.heads);
  readonly #writer: DatabaseSession;
  readonly #writerPid: number;
  readonly #feeds: PostgresFeed[] = [];
  readonly #blockers: Client[] = [];
  #last: Promise<unknown> = Promise.resolve();

  private constructor(database: FreshDatabase, writer: DatabaseSession, writerPid: number) {
    this.database = database;
    this.#writer = writer;
    this.#writerPid = writerPid;
  }

  /** Opens an empty journal. Only one at a time may be open. */
  static async open(version: PostgresVersion = '18'): Promise<StoredSlices> {
    const made = databases.get(version) ?? databaseOf(version);
    databases.set(version, made);
    const database = await made;
    await database.sql(EMPTY);
    const writer = await connectDatabase(database.source);
    const [[pid]] = (await writer.query({ text: 'SELECT pg_backend_pid()' })) as [[number]];
    return new StoredSlices(database, writer, pid);
  }

  append(
    entity: EntityRef,
    records: readonly JournalRecord[],
    settled: (failure?: SvcError) => void,
  ): void {
    this.#last = this.#last
      .then(() => this.#store(entity, records))
      .then(
        () => settled(),
        (error: Error) => settled(new SvcError('SVC_JOURNAL_UNAVAILABLE', error.message)),
      );
  }

  async #store(entity: EntityRef, records: readonly JournalRecord[]): Promise<void> {
    const slice = sliceOf(entity.component, entity.id);
    await this.#writer.query({ text: 'BEGIN' });
    let off = this.heads.offsets().offs[slice]!;
    for (const record of records) {
      off++;
      const values = [
        slice,
        off,
        entity.component,
        entity.id,
        ...recordValues(entity, { slice, off }, record),
      ];
      // oxlint-disable-next-line no-await-in-loop -- a record follows the other
      await this.#writer.query({ name: 'put', text: PUT }, values);
    }
    await this.#writer.query({ text: `UPDATE svc.slice SET head = ${off} WHERE slice = ${slice}` });
    await this.#writer.query({ text: 'COMMIT' });
    this.heads.advance([[slice, off]]);
  }

  /** A session whose connection is made when it is needed. */
  session(): FollowingSession {
    const { source, name } = this.database;
    return new FollowingSession({ connect: () => connectDatabase(source), shown: name, clock });
  }

  feed(heads = this.heads): PostgresFeed {
    const feed = new PostgresFeed({
      session: this.session(),
      heads: heads.shared,
      journal: 'test',
    });
    this.#feeds.push(feed);
    return feed;
  }

  connect(): Promise<DatabaseSession> {
    return connectDatabase(this.database.source);
  }

  /** A connection that a test keeps others waiting with. It ends with `discard`. */
  async blocker(): Promise<Client> {
    const client = new Client({ connectionString: this.database.url, ssl: false });
    client.on('error', () => undefined);
    await client.connect();
    this.#blockers.push(client);
    return client;
  }

  /** Ends every connection but those of the appends and of the tests. */
  async endReaders(): Promise<void> {
    await this.database.sql(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE datname = current_database() AND pid NOT IN (pg_backend_pid(), $1)`,
      [this.#writerPid],
    );
  }

  /** Resolves once so many connections wait for a lock. */
  async waiting(count: number): Promise<void> {
    const text = `SELECT count(*)::int AS n FROM pg_stat_activity
      WHERE datname = current_database() AND wait_event_type = 'Lock'`;
    // oxlint-disable-next-line no-await-in-loop -- it asks until they wait
    while ((await this.database.sql(text))[0]!['n'] < count);
  }

  async discard(): Promise<void> {
    await this.#last;
    await Promise.all(this.#blockers.map((client) => client.end()));
    for (const feed of this.#feeds) feed.close();
    await this.#writer.close();
  }
}

/** Returns ids of a component whose slices are all different, in the order of their slices. */
export function idsApart(component: string, count: number): readonly string[] {
  const ids = new Map<number, string>();
  for (let n = 0; ids.size < count; n++) {
    const slice = sliceOf(component, `e${n}`);
    if (!ids.has(slice)) ids.set(slice, `e${n}`);
  }
  return [...ids].toSorted(([a], [b]) => a - b).map(([, id]) => id);
}
