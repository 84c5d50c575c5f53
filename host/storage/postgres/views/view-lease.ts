// ViewLease is the right of a writer to the rows of a definition. It is a row of `view_definition` with the name of its owner, an epoch that
// is given once, and the time until which nobody else may take it, by the clock of the database. Everything that a writer stores is
// stored only if the row still has its epoch.
//
// Invariant: a writer whose epoch was replaced stores nothing more: its statements lock the row before they compare it.
import { viewInUse } from '../../view-walk/view-refusals.ts';
import type { Parameter, Row } from '../database-session.ts';
import type { ViewSession } from './view-session.ts';

/** How long a writer that has ended without a word keeps others out, in seconds. */
export const LEASE_SECONDS = 10;
/** How often the leases of open writers are renewed, in milliseconds. `put` renews, too. */
export const RENEWAL_MS = 3_000;

/** SQL: the time in milliseconds by the clock of the database. */
export const NOW_MS = '(extract(epoch FROM clock_timestamp()) * 1000)::bigint';
/** SQL: whether another writer may not take the lease. */
export const IS_LEASED = 'owner IS NOT NULL AND lease_until > clock_timestamp()';

export class ViewLease {
  readonly definition: string;
  readonly epoch: number;

  constructor(definition: string, epoch: number) {
    this.definition = definition;
    this.epoch = epoch;
  }

  /**
   * Sets columns of the definition, and returns those of `returned`. Values are numbered from $3. Rejects with SVC_VIEW_IN_USE if
   * another writer has taken over.
   */
  async update(
    session: ViewSession,
    set: string,
    values: readonly Parameter[] = [],
    returned = '1',
  ): Promise<Row> {
    const rows = await session.execute(
      `UPDATE svc.view_definition SET ${set} WHERE definition = $1 AND epoch = $2 RETURNING ${returned}`,
      [this.definition, this.epoch, ...values],
    );
    return this.held(rows);
  }

  /** Returns the row that a statement of the writer has returned. Throws SVC_VIEW_IN_USE if it has returned none. */
  held(rows: readonly Row[]): Row {
    const [row] = rows;
    if (row === undefined) throw viewInUse(this.definition);
    return row;
  }

  /** Gives the lease back, unless another writer has it. */
  async release(session: ViewSession): Promise<void> {
    await session.execute(
      `UPDATE svc.view_definition SET owner = NULL, lease_until = NULL, used_ms = ${NOW_MS}
        WHERE definition = $1 AND epoch = $2`,
      [this.definition, this.epoch],
    );
  }
}

/** Renews leases. Those that another writer has taken stay as they are. */
export async function renewLeases(
  session: ViewSession,
  leases: readonly ViewLease[],
): Promise<void> {
  await session.query(
    `UPDATE svc.view_definition SET lease_until = clock_timestamp() + make_interval(secs => $3), used_ms = ${NOW_MS}
      WHERE (definition, epoch) IN (SELECT * FROM unnest($1::text[], $2::bigint[]))`,
    [leases.map(({ definition }) => definition), leases.map(({ epoch }) => epoch), LEASE_SECONDS],
  );
}
