// PostgresViews is the store of views in a database: a row of `svc.view_definition` and a table of rows for each definition. The tables of
// schema.ts have to be there.
import type {
  FormerRows,
  KeptView,
  RowsProgress,
  StoredView,
  ViewStore,
  ViewWriter,
} from '../../../engine/needs/views.ts';
import type { ViewLimits } from '@svc/model/view-limits';
import { databaseError } from '../database-errors.ts';
import { DatabaseFailure } from '../database-failure.ts';
import type { Row } from '../database-session.ts';
import { openRows } from './opened-rows.ts';
import { PostgresViewReader } from './postgres-view-reader.ts';
import { PostgresViewWriter } from './postgres-view-writer.ts';
import { dropUnusedTables } from './unused-tables.ts';
import { type Connect, ViewDatabase } from './view-database.ts';
import { viewFailure } from './view-failure.ts';
import { HEAD, TABLE, type ViewHead, headOf, revisionOf } from './view-head.ts';
import { IS_LEASED, RENEWAL_MS, type ViewLease, renewLeases } from './view-lease.ts';

export interface PostgresViewsNeeds {
  readonly connect: Connect;
  /** `postgresql://host:port/database`, for messages. */
  readonly shown: string;
  readonly limits: ViewLimits;
  /** Names the process for people who look at the leases. */
  readonly owner: string;
}

export class PostgresViews implements ViewStore {
  readonly #needs: PostgresViewsNeeds;
  readonly #database: ViewDatabase;
  /** The leases of the writers that are open. */
  readonly #leases = new Set<ViewLease>();
  #renewal: NodeJS.Timeout | undefined;
  #isRenewing = false;

  /** Connects when the first statement is carried out. */
  constructor(needs: PostgresViewsNeeds) {
    this.#needs = needs;
    this.#database = new ViewDatabase(needs.connect, needs.shown);
  }

  reader(view: StoredView): PostgresViewReader {
    return new PostgresViewReader(this.#database, view, this.#needs.limits);
  }

  async former({ id, rowType, definition }: StoredView): Promise<readonly FormerRows[]> {
    const rows = await this.#guarded(() =>
      this.#database.read(
        `SELECT ${HEAD} FROM svc.view_definition
          WHERE view = $1 AND row_type = $2 AND definition <> $3 AND is_live`,
        [id, rowType, definition],
      ),
    );
    return rows.flatMap((row) => formerRows(row) ?? []);
  }

  async progress({ definition }: StoredView): Promise<RowsProgress> {
    const [row] = await this.#guarded(() =>
      this.#database.read(`SELECT ${HEAD} FROM svc.view_definition WHERE definition = $1`, [
        definition,
      ]),
    );
    const head = row && usableHead(row);
    return { revision: head ? revisionOf(head) : '', foldedTo: head?.foldedTo };
  }

  async openWriter(view: StoredView, takesOver = false): Promise<ViewWriter> {
    const { limits, owner, shown } = this.#needs;
    const opened = await this.#database
      .write((session) => openRows(session, view, { owner, takesOver }))
      .catch((error: unknown) => {
        throw viewFailure(error, view.definition, shown);
      });
    this.#leases.add(opened.lease);
    this.#renewal ??= setInterval(() => void this.#renew(), RENEWAL_MS).unref();
    const onClose = (lease: ViewLease) => this.#release(lease);
    return new PostgresViewWriter({ database: this.#database, view, limits, onClose }, opened);
  }

  /** The database does not say how much space its disk has. `ViewLimits.bytesMax` bounds the rows. */
  freeBytes(): number {
    return Infinity;
  }

  async list(): Promise<readonly KeptView[]> {
    const rows = await this.#guarded(() =>
      this.#database.read(
        `SELECT definition, coalesce(pg_total_relation_size(${TABLE}), 0), used_ms FROM svc.view_definition`,
        [],
      ),
    );
    return rows.map(([definition, bytes, usedMs]) => ({
      definition: String(definition),
      bytes: Number(bytes),
      usedMs: Number(usedMs),
    }));
  }

  async removeUnused(inUse: ReadonlySet<string>, nowMs: number): Promise<readonly string[]> {
    const used = [...inUse];
    const unusedSinceMs = Math.floor(nowMs) - this.#needs.limits.keptMs;
    const removed = await this.#guarded(() =>
      this.#database.write(async (session) => {
        await session.execute(
          'UPDATE svc.view_definition SET used_ms = greatest(used_ms, $2) WHERE definition = ANY($1::text[])',
          [used, Math.floor(nowMs)],
        );
        const rows = await session.execute(
          `DELETE FROM svc.view_definition
            WHERE definition <> ALL($1::text[]) AND used_ms <= $2 AND NOT coalesce(${IS_LEASED}, false)
            RETURNING definition`,
          [used, unusedSinceMs],
        );
        await dropUnusedTables(session);
        return rows;
      }),
    );
    return removed.map(([definition]) => String(definition));
  }

  /** Ends the connections once the leases of the writers that were closed are given back. */
  async close(): Promise<void> {
    clearInterval(this.#renewal);
    this.#renewal = undefined;
    await this.#database.close();
  }

  #release(lease: ViewLease): void {
    this.#leases.delete(lease);
    if (this.#leases.size === 0) {
      clearInterval(this.#renewal);
      this.#renewal = undefined;
    }
    // If it fails, the lease ends by itself.
    this.#database.write((session) => lease.release(session)).catch(() => {});
  }

  async #renew(): Promise<void> {
    // The database may not answer for long.
    if (this.#isRenewing) return;
    this.#isRenewing = true;
    // If it fails, it is tried again; a writer that has lost its lease fails with its next statement.
    await this.#database
      .write((session) => renewLeases(session, [...this.#leases]))
      .catch(() => {});
    this.#isRenewing = false;
  }

  /** Rejects with an SvcError for a failure of the database. */
  async #guarded<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      throw error instanceof DatabaseFailure ? databaseError(error, this.#needs.shown) : error;
    }
  }
}

function formerRows(row: Row): FormerRows | undefined {
  const foldedTo = usableHead(row)?.foldedTo;
  return foldedTo && { definition: String(row[0]), foldedTo };
}

/** Returns undefined for rows that cannot be used. */
function usableHead(row: Row): ViewHead | undefined {
  try {
    return headOf(row);
  } catch {
    return undefined;
  }
}
