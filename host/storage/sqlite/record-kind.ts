// RecordKind is a number in the column `kind` of the journal's table. Each kind fills its own columns, and a row
// that fills others is damaged. Only this file compares a row's kind with the columns that are null: all other
// code calls `kindOf`, or has a record with a `kind`.
import type { RecordKind } from '@svc/model/entity';

export const KIND_EVENT = 0;
export const KIND_DELETED = 1;

const KIND_NUMBERS: Readonly<Record<RecordKind, number>> = {
  event: KIND_EVENT,
  deleted: KIND_DELETED,
};

/** Returns the number that stands for a kind in the column `kind`. */
export function kindNumberOf(kind: RecordKind): number {
  return KIND_NUMBERS[kind];
}

/**
 * Returns the kind of a stored record, from its columns. An event has a manifest and JSON text, a deletion has neither.
 * Returns undefined if the number is that of no kind, or the columns are those of another kind.
 */
export function kindOf(
  kind: number,
  manifest: string | null,
  json: string | null,
): RecordKind | undefined {
  if (kind === KIND_EVENT) return manifest !== null && json !== null ? 'event' : undefined;
  if (kind === KIND_DELETED) return manifest === null && json === null ? 'deleted' : undefined;
  return undefined;
}
