// LikelyRename suggests the new name of a declaration that was perhaps renamed.
import { closest } from '@svc/contract/suggestion';

/** More names, or longer ones, are not compared: comparing a pair takes the product of their lengths. */
export const COMPARED_NAMES_MAX = 50;
const COMPARED_LENGTH_MAX = 100;

/**
 * Returns the new name that is likely a renaming of a removed one; undefined if none is likely, or if there are too
 * many names to compare. `added`: new names. `alike`: those of them that are declared alike; the nearest of these is
 * returned, or the only one. Of the others the nearest is returned if it is similar enough.
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
 * Returns the end of a message about a missing field: the field that it was perhaps renamed to, and the alias to
 * declare.
 */
export function aliasHint(renamed: string): string {
  return `; perhaps '${renamed}' was renamed to it: as an alias of it, '${renamed}' is read, too`;
}
