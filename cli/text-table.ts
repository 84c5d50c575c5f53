// TextTable: rows of texts as columns for a terminal. The texts have to be escaped.

/** Columns whose texts are padded to the longest one are padded to at most this width. */
const WIDTH_MAX = 40;

/** Returns the lines of rows, after one of the heads; without it if the rows follow others. */
export function tableLines(
  heads: readonly string[],
  rows: readonly (readonly string[])[],
  hasHeads = true,
): string[] {
  const widths = heads.map((head, column) =>
    Math.min(WIDTH_MAX, Math.max(head.length, ...rows.map((row) => row[column]!.length))),
  );
  return [...(hasHeads ? [heads] : []), ...rows].map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column]!))
      .join('  ')
      .trimEnd(),
  );
}
