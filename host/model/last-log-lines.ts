// LastLogLines: what a fault keeps of the lines that the module logged before it. A module writes as many as it likes, and
// spans keep their faults, so there is a bound on the lines and on their characters.

const LINES_MAX = 20;
/** UTF-16 code units, of all lines together. */
const CHARACTERS_MAX = 2_000;

/**
 * The last 20 of `lines`, the oldest first, with 2,000 characters in all: a line that does not fit as a whole is cut and
 * ends in `…`, and those before it are left out. Undefined where there are none.
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
