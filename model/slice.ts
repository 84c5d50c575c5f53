// Slice is one of the parts into which the entities of a journal are divided, by a hash of component and id. A shard owns the
// slices of a range, and a journal that several nodes write gives each slice an owner.
//
// Invariant: the slice of an entity never changes, because journals store it. Another hash is another version, and a journal
// of one version is not written with the other.

/** How many slices there are. */
export const SLICE_COUNT = 1_024;
/** The version of the hash, which a journal stores beside its slices. */
export const SLICE_HASH_VERSION = 1;

/**
 * Returns the slice of an entity, from 0 on. The hash is FNV-1a over the UTF-16 units of both texts, and its bits are mixed once
 * more; the slice is its highest ten bits.
 */
export function sliceOf(component: string, id: string): number {
  // A value that is no UTF-16 unit separates the texts, so that `a`, `bc` and `ab`, `c` are hashed differently.
  let hash = Math.imul(hashed(component, 0x811c9dc5) ^ 0x10000, 0x01000193);
  hash = hashed(id, hash);
  // FNV-1a alone gives most ids that differ only in their last digit the same high bits.
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  hash ^= hash >>> 16;
  return hash >>> 22;
}

function hashed(text: string, start: number): number {
  let hash = start;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return hash;
}
