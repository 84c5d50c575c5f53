// SliceMovements counts the slices that this node gets and hands over, for the metrics. Only the thread that keeps the membership
// counts and reads.
import { SECONDS_BOUNDS, SharedHistogram } from '@svc/model/shared-histogram';
import { type ClusterCounts, NOBODY, type SliceOrigin } from '../../cluster-nodes.ts';
import type { ClusterRows } from './cluster-rows.ts';

const MS_PER_S = 1_000;

type Owners = Pick<ClusterRows, 'nodes' | 'owners'>;

export class SliceMovements {
  readonly #acquired: Record<SliceOrigin, number> = { free: 0, ended: 0, node: 0 };
  readonly #handOverSeconds = new SharedHistogram(SECONDS_BOUNDS);
  #handedOver = 0;
  #before: Owners | undefined;

  /** Compares a look at the owners with the one before, and counts the slices that the node `self` has got since. */
  looked(now: Owners, self: number): void {
    const before = this.#before;
    this.#before = now;
    if (before === undefined) return;
    for (const [slice, owner] of now.owners.entries())
      if (owner === self && before.owners[slice] !== self)
        this.#acquired[originOf(before, before.owners[slice]!)]++;
  }

  /** Counts slices that were handed over together. `tookMs`: how long their calls were held, in milliseconds. */
  handedOver(slices: number, tookMs: number): void {
    this.#handedOver += slices;
    this.#handOverSeconds.add(tookMs / MS_PER_S);
  }

  read(): Pick<ClusterCounts, 'acquired' | 'handedOver' | 'handOverSeconds'> {
    return {
      acquired: { ...this.#acquired },
      handedOver: this.#handedOver,
      handOverSeconds: this.#handOverSeconds.read(),
    };
  }
}

/** An owner that is no node any more was removed because its lease had ended: a node that leaves gives up what it owns. */
function originOf({ nodes }: Owners, owner: number): SliceOrigin {
  if (owner === NOBODY) return 'free';
  const node = nodes.find(({ number }) => number === owner);
  return node === undefined || node.status === 'Down' ? 'ended' : 'node';
}
