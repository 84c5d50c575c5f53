// ViewHead is what the table `view_definition` says of the rows of a definition.
//
// A version is given to each state of number, layout and liveness. A reader that knows it knows which statements answer queries.
import type { FoldedTo, SkippedEvent, StoredView } from '../../../engine/needs/views.ts';
import type { Row } from '../database-session.ts';
import { TABLE_PREFIX } from './rows-table.ts';
import { sealed, unsealed } from './sealed-text.ts';
import { UnusableRows } from './view-failure.ts';
import type { ViewLayout } from './view-layout.ts';

/** Version of the format of rows and of what describes them. Rows of another one are made new. */
export const FORMAT = 1;

export interface ViewHead {
  /** Number of the table of rows. */
  readonly number: number;
  readonly version: number;
  readonly isLive: boolean;
  readonly layout: ViewLayout;
  readonly foldedTo: FoldedTo | undefined;
  readonly skips: readonly SkippedEvent[];
  readonly rowCount: number;
  /** Bytes of keys and JSON texts. */
  readonly textBytes: number;
}

/** The table of the rows of a definition; null if there is none. */
export const TABLE = `to_regclass('svc.${TABLE_PREFIX}' || number)`;
/** The columns that `headOf` reads. */
export const HEAD = `definition, format, number, version, is_live, layout, folded_to, skips, row_count, text_bytes, ${TABLE} IS NOT NULL`;

/** Throws UnusableRows if the rows are of another format, or what describes them is damaged. */
export function headOf(row: Row): ViewHead {
  const [name, format, number, version, isLive, storedLayout, storedFoldedTo, storedSkips] = row;
  const [rowCount, textBytes, hasTable] = row.slice(8);
  const definition = String(name);
  if (format !== FORMAT) throw new UnusableRows('another version of svc has written them');
  const layout = unsealed(layoutName(definition), storedLayout) as ViewLayout | undefined;
  if (layout === undefined) throw new UnusableRows('their layout is damaged');
  const foldedTo = storedFoldedTo === null ? undefined : foldedToOf(definition, storedFoldedTo);
  const skips = skipsOf(definition, storedSkips);
  if (skips === undefined) throw new UnusableRows('the list of skipped events is damaged');
  if (hasTable !== true) throw new UnusableRows('their table is missing');
  return {
    number: number as number,
    version: version as number,
    isLive: isLive as boolean,
    layout,
    foldedTo,
    skips,
    rowCount: rowCount as number,
    textBytes: textBytes as number,
  };
}

/** Returns what `ViewWriter.revision` says: events are only ever added to those that are skipped. */
export function revisionOf({ version, skips }: ViewHead): string {
  return `${version} ${skips.length}`;
}

/** Returns the skipped events; undefined if they are damaged. */
export function skipsOf(definition: string, text: unknown): readonly SkippedEvent[] | undefined {
  return unsealed(skipsName(definition), text) as readonly SkippedEvent[] | undefined;
}

function foldedToOf(definition: string, text: unknown): FoldedTo {
  const foldedTo = unsealed(foldedName(definition), text);
  if (foldedTo === undefined) throw new UnusableRows('the position of their events is damaged');
  return foldedTo as FoldedTo;
}

export function layoutText({ definition }: StoredView, layout: ViewLayout): string {
  return sealed(layoutName(definition), layout);
}

export function foldedText({ definition }: StoredView, foldedTo: FoldedTo): string {
  return sealed(foldedName(definition), foldedTo);
}

export function skipsText({ definition }: StoredView, skips: readonly SkippedEvent[]): string {
  return sealed(skipsName(definition), skips);
}

function layoutName(definition: string): string {
  return `${definition} layout`;
}

function foldedName(definition: string): string {
  return `${definition} folded to`;
}

function skipsName(definition: string): string {
  return `${definition} skips`;
}
