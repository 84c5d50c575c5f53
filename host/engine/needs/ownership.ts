// Ownership is what the engine needs to know of the other shards: which of them owns an entity. Only the owner has the entity
// in memory and appends to its journal, so calls are sent to the owner. Callers ask for each call anew, because owners may
// change while the service runs.

export interface Ownership {
  /** Returns the index of the shard that owns the entity, from 0 on. At any moment an entity has at most one owner. */
  ownerOf(component: string, id: string): number;
}
