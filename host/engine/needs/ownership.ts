// Ownership is the interface that says which shard owns an entity. Only the owner has the entity in memory and appends
// records of it to the journal, so the routers of host/shards send its calls to the owner; the engine itself does not
// ask. Callers ask anew for each call and store no owner. HashOwnership never changes an owner while the service runs;
// ClusterOwnership does.

export interface Ownership {
  /** Returns the index of the peer that owns the entity: a shard from 0 on, or another node (cluster-ownership.ts). At any moment an entity has at most one owner. */
  ownerOf(component: string, id: string): number;
}
