// SteadyFeatures: what a cluster can do, although servers of two versions may answer for it at the same time, such as during an update. Each change
// of the features makes other manifests, by which pods are replaced.
//
// Invariants
// F1  Other features count once they were found three times in a row.
// F2  That pods wait by themselves is never taken back: it was true of a server of this cluster, and what the others do not know they leave out.
import type { ClusterFeatures } from './manifests/installation.ts';

const FINDINGS = 3;

export class SteadyFeatures {
  #taken: ClusterFeatures | undefined;
  #other: ClusterFeatures | undefined;
  /** How often `#other` was found in a row. */
  #findings = 0;

  /** Takes what was found, and returns what counts. The object is the same for as long as nothing has changed. */
  found(features: ClusterFeatures): ClusterFeatures {
    const taken = (this.#taken ??= features);
    const found = {
      ...features,
      hasSleepAction: features.hasSleepAction || taken.hasSleepAction,
    };
    const isFurther = this.#other !== undefined && areSame(this.#other, found);
    this.#findings = isFurther ? this.#findings + 1 : 1;
    this.#other = found;
    if (!areSame(taken, found) && this.#findings >= FINDINGS) this.#taken = found;
    return this.#taken;
  }
}

function areSame(one: ClusterFeatures, other: ClusterFeatures): boolean {
  return (
    one.disruptionBudgets === other.disruptionBudgets && one.hasSleepAction === other.hasSleepAction
  );
}
