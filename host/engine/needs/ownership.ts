// What the engine needs to know of the other shards: which of them owns an entity. The owner alone has the entity in
// memory and appends to its journal, so calls and queries are sent to it. Callers
// ask for each call anew and keep no answer: owners may change while the service runs.

export interface Ownership {
  /** Index of the shard that owns the entity, from 0 on. At any moment an entity has at most one owner. */
  ownerOf(component: string, id: string): number;
}
