// shardOf: which shard an entity belongs to. All shards of a process answer alike, so an entity is alive in one
// of them at most. Nothing of it is stored: the journal is one, and another version may answer otherwise.

/** 0 to `count` - 1. FNV-1a over the UTF-16 units of both texts, its bits mixed once more. */
export function shardOf(component: string, id: string, count: number): number {
  // A unit that is in neither text stands between them, so that no two pairs are one text.
  let hash = Math.imul(hashed(component, 0x811c9dc5) ^ 0x10000, 0x01000193);
  hash = hashed(id, hash);
  // The low bits of FNV-1a know the low bits of the text only.
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  hash ^= hash >>> 16;
  return Math.floor(((hash >>> 0) / 2 ** 32) * count);
}

function hashed(text: string, start: number): number {
  let hash = start;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return hash;
}
