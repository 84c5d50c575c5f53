// JournalNode is a node of a journal as the threads that serve see it: a table of owners, heads, and a journal that is attached. Tests
// move slices between such nodes, as the threads that keep the membership do.
import { once } from 'node:events';
import { MessageChannel, type MessagePort } from 'node:worker_threads';
import type { ClusterJournal } from '../../../host/storage/postgres/attached-postgres.ts';
import { attachPostgresJournal } from '../../../host/storage/postgres/attached-postgres.ts';
import { SliceHeads } from '../../../host/storage/postgres/feed/slice-heads.ts';
import { SliceTable } from '../../../host/storage/postgres/nodes/slice-table.ts';
import type {
  PostgresConnection,
  UserReport,
  UserRequest,
} from '../../../host/storage/postgres/postgres-connection.ts';
import type { JournalDatabase } from './journal-database.ts';

const MOVE = {
  text: `WITH moved AS (SELECT slice FROM svc.slice WHERE slice = ANY($1::int2[]) ORDER BY slice FOR UPDATE)
  UPDATE svc.slice s SET owner = $2, epoch = epoch + 1 FROM moved WHERE s.slice = moved.slice`,
};

export class JournalNode {
  readonly table = new SliceTable();
  readonly heads = new SliceHeads();
  readonly journal: ClusterJournal;
  readonly reports: UserReport[] = [];
  readonly #port: MessagePort;

  /** A node with a number that is no other's. It owns nothing. */
  constructor(journals: JournalDatabase, number: number, given: Partial<PostgresConnection> = {}) {
    const { port1, port2 } = new MessageChannel();
    this.#port = port2;
    port2.on('message', (report: UserReport) => this.reports.push(report));
    port2.unref();
    this.table.join(number);
    this.journal = attachPostgresJournal(
      journals.connection({
        owners: this.table.shared,
        heads: this.heads.shared,
        ports: [port1],
        ...given,
      }),
    );
  }

  get number(): number {
    return this.table.self;
  }

  request(request: UserRequest): void {
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- no window
    this.#port.postMessage(request);
  }

  /** Resolves once the node has sent a report of this kind. */
  async reported(kind: UserReport['kind']): Promise<void> {
    while (!this.reports.some((report) => report.kind === kind)) await once(this.#port, 'message');
  }

  /** Resolves once all requests that were sent have come. */
  async received(): Promise<void> {
    const number = -1;
    this.request({ kind: 'release', number, slices: [] });
    const isReleased = (report: UserReport): boolean =>
      report.kind === 'released' && report.number === number;
    while (!this.reports.some(isReleased)) await once(this.#port, 'message');
    this.reports.splice(this.reports.findIndex(isReleased), 1);
    this.request({ kind: 'release-ended', number });
  }
}

/** Gives slices to a node in the database, and then in the tables of these nodes. */
export async function move(
  journals: JournalDatabase,
  slices: readonly number[],
  to: JournalNode,
  knownTo: readonly JournalNode[] = [to],
): Promise<void> {
  // A connection of its own: the statement may wait for a write that is committed.
  const session = await journals.session();
  await session.query(MOVE, [slices, to.number]);
  await session.close();
  for (const { table } of knownTo) table.assign(slices.map((slice) => [slice, to.number]));
}
