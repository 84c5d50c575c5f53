// LastLogLines: the lines that a module logged before a fault, as far as the fault keeps them. A module may write any
// number of lines, and spans keep their faults, so the lines and their characters are bounded.

const LINES_MAX = 20;
/** Maximum length of all lines together, in UTF-16 code units. */
const CHARACTERS_MAX = 2_000;

/**
 * Returns the last 20 of `lines`, oldest first, with at most 2,000 characters together. A line that does not fit
 * completely is cut and ends in `…`, and the lines before it are left out. Undefined if there are none.
 */
export function lastLogLines(lines: readonly string[]): readonly string[] | undefined {
  const kept: string[] = [];
  let left = CHARACTERS_MAX;
  for (const line of lines.slice(-LINES_MAX).toReversed()) {
    if (left === 0) break;
    kept.push(line.length <= left ? line : `${line.slice(0, left - 1)}…`);
    left -= Math.min(left, line.length);
  }
  return kept.length === 0 ? undefined : kept.toReversed();
}
