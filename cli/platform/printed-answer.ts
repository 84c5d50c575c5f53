// PrintedAnswer: an answer of the control plane as text on stdout. A terminal cuts the rows of a table at its width, so that no row
// wraps; files and pipes get them whole.
import { printable } from '@svc/kit/printable';
import { printData } from '../terminal.ts';
import { tableLines } from '../text-table.ts';

/** Names and values; values that are undefined are left out. */
export type Fields = Readonly<Record<string, string | undefined>>;

/** Writes names with their values, which are below one another. */
export async function printFields(fields: Fields): Promise<void> {
  const shown = Object.entries(fields).filter(([, value]) => value !== undefined);
  const width = Math.max(0, ...shown.map(([name]) => name.length));
  await printData(
    shown.map(([name, value]) => `${name.padEnd(width)}  ${printable(value!)}\n`).join(''),
  );
}

/** Writes a table, or nothing if it has no rows. */
export async function printTable(
  heads: readonly string[],
  rows: readonly (readonly string[])[],
): Promise<void> {
  if (rows.length === 0) return;
  const { isTTY, columns } = process.stdout;
  const width = isTTY && columns > 0 ? columns : Number.POSITIVE_INFINITY;
  const escaped = rows.map((row) => row.map((cell) => printable(cell)));
  await printData(
    tableLines(heads, escaped)
      .map((line) => `${cut(line, width)}\n`)
      .join(''),
  );
}

function cut(line: string, width: number): string {
  return line.length <= width ? line : `${line.slice(0, width - 1)}…`;
}
