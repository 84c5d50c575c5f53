// SentSlices are the claims with which a group was sent. If its answer is lost, they say what has become of it.
//
// Invariant: an outcome is only found once the statement cannot be carried out any more, because its slices have another epoch. Until
// then, a slice that shows nothing of it proves nothing.
import type { DatabaseSession } from './database-session.ts';
import type { Claim, SliceClaims, SliceHead } from './slice-claims.ts';

/** `unknown`: another node may have stored what is there. */
export type SliceOutcome = 'stored' | 'not stored' | 'unknown';

export interface FoundOutcomes {
  readonly outcomes: ReadonlyMap<number, SliceOutcome>;
  /** The heads of slices in which the group is stored. */
  readonly heads: readonly SliceHead[];
}

/** Shuts out a statement of slices that were not claimed again, as a claim does. It waits for one that is carried out. */
const FENCE = {
  text: `WITH sent AS (
    SELECT s.slice FROM svc.slice s JOIN unnest($1::int2[], $2::int8[]) AS u(slice, epoch)
      ON u.slice = s.slice AND u.epoch = s.epoch
    ORDER BY s.slice FOR UPDATE OF s
  )
  UPDATE svc.slice s SET epoch = s.epoch + 1 FROM sent WHERE s.slice = sent.slice`,
};
const FOUND = {
  text: 'SELECT slice, epoch, head, commits FROM svc.slice WHERE slice = ANY($1::int2[])',
};

export class SentSlices {
  /** Number of the node that has claimed the slices. */
  readonly node: number;
  readonly #claims: ReadonlyMap<number, Claim>;

  /** `claims`: those of the slices of the group, by their slices. */
  constructor(node: number, claims: ReadonlyMap<number, Claim>) {
    this.node = node;
    this.#claims = claims;
  }

  /** Returns the claim of a slice of the group. */
  of(slice: number): Claim {
    return this.#claims.get(slice)!;
  }

  /** Returns the acquisitions under which slices of the group were claimed. */
  acquisitions(slices: Iterable<number>): ReadonlyMap<number, number> {
    return new Map(Array.from(slices, (slice) => [slice, this.of(slice).acquisition]));
  }

  /** Finds out in which slices the group is stored. `claims`: those that are valid now. Rejects with DatabaseFailure. */
  async find(session: DatabaseSession, claims: Pick<SliceClaims, 'of'>): Promise<FoundOutcomes> {
    const outcomes = new Map<number, SliceOutcome>();
    const heads: SliceHead[] = [];
    const moved: number[] = [];
    for (const [slice, sent] of this.#claims) {
      const claim = claims.of(slice);
      if (claim?.acquisition !== sent.acquisition) moved.push(slice);
      else outcomes.set(slice, claim.commits > sent.commits ? 'stored' : 'not stored');
    }
    if (moved.length === 0) return { outcomes, heads };
    await session.query(FENCE, [moved, moved.map((slice) => this.of(slice).epoch)]);
    for (const [slice, epoch, head, commits] of await session.query(FOUND, [moved])) {
      const at = slice as number;
      const outcome = outcomeOf(this.of(at), epoch as number, commits as number);
      outcomes.set(at, outcome);
      if (outcome === 'stored') heads.push([at, head as number]);
    }
    return { outcomes, heads };
  }
}

/**
 * Returns the outcome for a slice that this user does not write any more. The first change of the epoch takes the slice away from it,
 * and only the second one lets somebody else write: to take a slice raises its epoch, and to claim it does so once more.
 */
function outcomeOf(sent: Claim, epoch: number, commits: number): SliceOutcome {
  if (commits === sent.commits) return 'not stored';
  return epoch === sent.epoch + 1 && commits === sent.commits + 1 ? 'stored' : 'unknown';
}
