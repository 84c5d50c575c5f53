// MetLeases are the leases of other nodes that keep this one from joining. A node that lives renews its lease, and one that was lost
// does not: its row is removed once the lease has ended, so waiting helps.
//
// Invariant: only renewals of the same node are compared. When leases end says nothing, because a promoted server begins all of them
// again.

/** A node that was met: its number, and the number of renewals of its lease. */
export interface MetNode {
  readonly number: number;
  readonly renewals: number;
}

export class MetLeases {
  /** For each node, the number of renewals at which it was met first. */
  readonly #renewals = new Map<number, number>();

  /** Notes a node. Returns whether it lives: it has renewed its lease since it was met first. */
  isRenewed({ number, renewals }: MetNode): boolean {
    return this.#renewals.getOrInsert(number, renewals) !== renewals;
  }

  /** Forgets all nodes, because an attempt to join has ended. */
  forget(): void {
    this.#renewals.clear();
  }
}
