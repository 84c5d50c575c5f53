// SliceEnds compare the heads of slices with their last records. Both are stored by the same statement, so that a head before the
// last record was set back by somebody: by hand, or by a restore of one table alone. Records would then get numbers that others have.
import { SLICE_COUNT } from '@svc/model/slice';
import { SvcError } from '@svc/kit/svc-error';
import type { DatabaseFailure } from './database-failure.ts';
import type { DatabaseSession } from './database-session.ts';

/** SQLSTATE of a row whose key another row has. */
export const UNIQUE_VIOLATION = '23505';
/** One statement sees a head and a last record of the same moment, whoever writes meanwhile. */
const SET_BACK = {
  text: `SELECT s.slice, s.head, l.off FROM svc.slice s
    CROSS JOIN LATERAL (SELECT max(j.off) AS off FROM svc.journal j WHERE j.slice = s.slice) l
    WHERE s.slice = ANY($1::int2[]) AND s.head < l.off ORDER BY s.slice LIMIT 1`,
};
const ALL = Array.from({ length: SLICE_COUNT }, (_, slice) => slice);

/** Returns SVC_JOURNAL_REGRESSED if the head of a slice is before its last record. Rejects with DatabaseFailure. */
export async function headSetBack(
  session: DatabaseSession,
  slices: readonly number[] = ALL,
): Promise<SvcError | undefined> {
  const [row] = await session.query(SET_BACK, [slices]);
  if (row === undefined) return undefined;
  const [slice, head, last] = row as readonly [number, number, number];
  return new SvcError(
    'SVC_JOURNAL_REGRESSED',
    `Slice ${slice} of the journal in ${session.shown} has gone back: its head is ${head}, and its last record has the number ` +
      `${last}. The table slice was changed or restored without the others. Restore the database from a backup.`,
  );
}

/** Returns SVC_JOURNAL_REGRESSED if the database has refused appends because other records have their numbers. */
export async function regressionOf(
  session: DatabaseSession,
  appends: readonly { readonly slice: number }[],
  { sqlState }: DatabaseFailure,
): Promise<SvcError | undefined> {
  if (sqlState !== UNIQUE_VIOLATION) return undefined;
  const slices = appends.map(({ slice }) => slice);
  // Without an answer, the failure of the appends is the one that is known.
  return headSetBack(session, slices).catch(() => undefined);
}
