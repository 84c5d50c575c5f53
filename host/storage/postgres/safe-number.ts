// SafeNumber reads a number of a row that may be damaged, and then may be any.

const { MAX_SAFE_INTEGER, MIN_SAFE_INTEGER } = Number;

/**
 * Returns SQL for a column that is read as a number: the number of the column, or another one where JavaScript has no number for it,
 * so that the statement succeeds and the checksum of the row does not fit.
 */
export function safeNumber(column: string): string {
  return `CASE WHEN ${column} NOT BETWEEN ${MIN_SAFE_INTEGER} AND ${MAX_SAFE_INTEGER} THEN ${MAX_SAFE_INTEGER} ELSE ${column} END`;
}
