// EntityId: the rules for entity ids. Ids are stored, and appear in URLs, logs and on terminals.

/** The longest entity id, in UTF-16 code units. */
export const ENTITY_ID_UNITS_MAX = 256;

/** Returns the problem of an entity id as the end of a sentence about it (`is empty`); undefined if the id is valid. */
export function entityIdProblem(id: string): string | undefined {
  if (id.length === 0) return 'is empty';
  if (id.length > ENTITY_ID_UNITS_MAX)
    return `is longer than ${ENTITY_ID_UNITS_MAX} UTF-16 code units`;
  for (let index = 0; index < id.length; index++) {
    const unit = id.charCodeAt(index);
    if (unit < 0x20 || (unit >= 0x7f && unit <= 0x9f)) return 'contains a control character';
  }
  return id.isWellFormed() ? undefined : 'contains half of a surrogate pair';
}
