// Leases is the interface that says whether the engine may decide for an entity now. Several nodes may write to one journal; the
// node that holds the lease of an entity is the only one that decides its commands and answers from its state. It differs from
// Ownership, which divides the entities among the shards of one node. An engine without leases is the only writer of its journal.
import type { EntityRef } from '@svc/model/entity';

export interface Leases {
  /**
   * Returns the epoch of the lease of an entity that this node holds now; undefined: it holds none, and another node may hold
   * one. Each lease has an epoch of its own. While this returns the same epoch, no other node has decided anything for the entity.
   * Answers at once, and as often as it is called: before each decision, and after each answer from a state.
   */
  epochOf(entity: EntityRef): number | undefined;
}
