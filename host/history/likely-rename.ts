// LikelyRename: what a name that is gone is perhaps called now, for a suggestion.
import { closest } from '@svc/contract/suggestion';

/** More names, or longer ones, are not compared: each pair costs the product of their lengths. */
export const COMPARED_NAMES_MAX = 50;
const COMPARED_LENGTH_MAX = 100;

/**
 * `added`: the names that are new. Among those that are alike, the nearest one, or the only one; among the
 * others, the nearest if it is near. Undefined: none is likely, or there are too many names to tell.
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

/** The end of a message about a missing field: the one that was perhaps renamed to it, and what to write. */
export function aliasHint(renamed: string): string {
  return `; perhaps '${renamed}' was renamed to it: as an alias of it, '${renamed}' is read, too`;
}
