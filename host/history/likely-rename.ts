// LikelyRename: what a name that is gone is perhaps called now, for a suggestion.
import { closest } from '@svc/contract/suggestion';

/**
 * `added`: the names that are new. Among those that are alike, the nearest one, or the only one; among the
 * others, the nearest if it is near. Undefined: none is likely.
 */
export function likelyRename(
  gone: string,
  added: readonly string[],
  isAlike: (name: string) => boolean,
): string | undefined {
  const alike = added.filter(isAlike);
  return closest(gone, alike) ?? (alike.length === 1 ? alike[0] : closest(gone, added));
}

/** Said of a field that is missing: the one that was perhaps renamed to it, and what to write. */
export function aliasHint(renamed: string): string {
  return `; perhaps '${renamed}' was renamed to it: as an alias of it, '${renamed}' is read, too`;
}
