// RecordKind is a number in the column `kind` of the journal's table. Each kind fills its own columns, and a row
// that fills others is damaged. Only this file compares a row's kind with the columns that are null: everything else
// asks it, or has a record whose `kind` says what it is.
import type { RecordKind } from '../../model/entity.ts';

export const KIND_EVENT = 0;
export const KIND_DELETED = 1;

const KIND_NUMBERS: Readonly<Record<RecordKind, number>> = {
  event: KIND_EVENT,
  deleted: KIND_DELETED,
};

/** The number that the column `kind` has for a kind. */
export function kindNumberOf(kind: RecordKind): number {
  return KIND_NUMBERS[kind];
}

/**
 * The kind of a stored record, from its columns. An event has a manifest and JSON text, a deletion has neither.
 * Undefined: the row has the number of no kind, or the columns of another one.
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
