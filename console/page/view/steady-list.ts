// SteadyList: a list that is loaded again and again while somebody reads it: its rows show their newest state, but no row
// is added until the user asks for it. The functions are pure.

interface Identified {
  readonly id: string;
}

/** Returns the displayed rows in their newest state. Those that the newest list no longer has stay as they are. */
export function refreshed<T extends Identified>(
  shown: readonly T[],
  newest: readonly T[],
): readonly T[] {
  const byId = new Map(newest.map((row) => [row.id, row]));
  return shown.map((row) => byId.get(row.id) ?? row);
}

/** Returns the number of rows of the newest list that are not displayed. */
export function addedCount(shown: readonly Identified[], newest: readonly Identified[]): number {
  const ids = new Set(shown.map(({ id }) => id));
  const at = newest.findIndex(({ id }) => ids.has(id));
  return at === -1 ? newest.length : at;
}
