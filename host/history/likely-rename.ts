// LikelyRename suggests the new name of a declaration that was perhaps renamed.
import { closest } from '@svc/contract/suggestion';

/** Maximum number of names that are compared. */
export const COMPARED_NAMES_MAX = 50;
/** Maximum length of a name that is compared: the time to compare a pair grows with the product of their lengths. */
const COMPARED_LENGTH_MAX = 100;

/**
 * Returns the name that a removed declaration (`gone`) probably has now; undefined if none is likely, or if there are
 * too many names to compare. `added`: new names. `isAlike`: whether the declaration of a new name is like the removed
 * one. The result is the most similar of the alike names if it is similar enough; otherwise the only alike name,
 * however different it is; otherwise the most similar of all new names if it is similar enough.
 */
export function likelyRename(
  gone: string,
  added: readonly string[],
  isAlike: (name: string) => boolean,
): string | undefined {
  if (added.length > COMPARED_NAMES_MAX) return undefined;
  const nearest = (names: readonly string[]): string | undefined =>
    gone.length > COMPARED_LENGTH_MAX
      ? undefined
      : closest(
          gone,
          names.filter(({ length }) => length <= COMPARED_LENGTH_MAX),
        );
  const alike = added.filter(isAlike);
  return nearest(alike) ?? (alike.length === 1 ? alike[0] : nearest(added));
}

/**
 * Returns the end of a message about a missing field: `renamed`, the old field that perhaps has the name of the missing
 * field now, and the alias to declare.
 */
export function aliasHint(renamed: string): string {
  return `; perhaps '${renamed}' was renamed to it: as an alias of it, '${renamed}' is read, too`;
}
