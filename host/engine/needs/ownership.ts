// Ownership is the interface that says which shard owns an entity. Only the owner has the entity in memory and appends
// records of it to the journal, so the routers of host/shards send its calls to the owner; the engine itself does not
// ask. Callers ask anew for each call and store no owner. HashOwnership never changes an owner while the service runs.

export interface Ownership {
  /** Returns the index of the shard that owns the entity, from 0 on. At any moment an entity has at most one owner. */
  ownerOf(component: string, id: string): number;
}
