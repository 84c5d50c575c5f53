// ScannedView is what a tool reads of the rows of a definition beside the rows.
import type { FoldedTo, SkippedEvent, ViewRow } from '../../engine/needs/views.ts';

export interface ScannedView {
  /** The position up to which events are folded into the rows; undefined: none are. */
  readonly foldedTo: FoldedTo | undefined;
  /** The events that are left out of the rows. */
  readonly skips: readonly SkippedEvent[];
}

/** Receives rows in parts. With the first part of a scan, rows that were received before are void. */
export type TakeRows = (rows: Iterable<ViewRow>, isFirst: boolean) => void;
