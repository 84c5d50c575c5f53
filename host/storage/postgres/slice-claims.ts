// SliceClaims are the slices that one user of the journal writes: a thread, with a connection of its own. To claim a slice is to
// raise its epoch. That waits for what an earlier user has under way, shuts out what it sends later, and gives the head.
//
// Invariants
// - Two users with the same epoch of a slice do not exist: each claim has an epoch that was never given before.
// - A head that is known here is the one in the database, as long as the claim is valid and no group is under way.
import { SvcError } from '@svc/kit/svc-error';
import type { DatabaseSession } from './database-session.ts';
import type { SliceTable } from './nodes/slice-table.ts';

export interface Claim {
  readonly epoch: number;
  /** Number of the last record of the slice. */
  head: number;
  /** How often something was stored for entities of the slice. */
  commits: number;
}

export interface ClaimNeeds {
  /** The slices, in ascending order. */
  readonly slices: readonly number[];
  /** Names the node that owns them. */
  readonly table: SliceTable;
}

type ClaimRow = readonly [slice: number, epoch: number, head: number, commits: number];

/** A claim that waits longer for an earlier write ends by itself, so that no number of them can wait in the database. */
const LIMIT_WAITS = { text: `SET lock_timeout = '8s'` };
/** The rows are locked in the order of their slices, as by everybody who locks several. */
const CLAIM = {
  text: `WITH mine AS (
    SELECT slice FROM svc.slice WHERE slice = ANY($1::int2[]) AND owner = $2 ORDER BY slice FOR UPDATE
  )
  UPDATE svc.slice s SET epoch = s.epoch + 1 FROM mine WHERE s.slice = mine.slice
  RETURNING s.slice, s.epoch, s.head, s.commits`,
};

const OWNERS = {
  text: 'SELECT slice, owner, epoch, head, commits FROM svc.slice WHERE slice = ANY($1::int2[])',
};
type OwnerRow = readonly [
  slice: number,
  owner: number | null,
  epoch: number,
  head: number,
  commits: number,
];

export class SliceClaims {
  readonly #needs: ClaimNeeds;
  readonly #claims = new Map<number, Claim>();

  constructor(needs: ClaimNeeds) {
    this.#needs = needs;
  }

  /** Number of the node that owns the slices. */
  get node(): number {
    return this.#needs.table.self;
  }

  /** Returns the claim of a slice. It has to be one of those that were claimed. */
  of(slice: number): Claim {
    const claim = this.#claims.get(slice);
    if (claim === undefined) throw notOwned(slice);
    return claim;
  }

  /** Returns how often something was stored in the slices of these appends. */
  commits(appends: readonly { readonly slice: number }[]): ReadonlyMap<number, number> {
    return new Map(appends.map(({ slice }) => [slice, this.of(slice).commits]));
  }

  /** The heads of all slices that are claimed. */
  *heads(): Generator<readonly [slice: number, head: number]> {
    for (const [slice, { head }] of this.#claims) yield [slice, head];
  }

  /** Notes that a group with so many records of each slice is stored, and returns the new heads. */
  advance(
    counts: readonly (readonly [slice: number, records: number])[],
  ): readonly (readonly [slice: number, head: number])[] {
    return counts.map(([slice, records]) => {
      const claim = this.of(slice);
      claim.head += records;
      claim.commits += 1;
      return [slice, claim.head] as const;
    });
  }

  /**
   * Returns why the database has not let a group be stored although the slices are claimed: SVC_JOURNAL_REGRESSED if it has gone
   * back, SVC_JOURNAL_UNAVAILABLE if another node owns a slice. Returns undefined if the slices have to be claimed again: an earlier
   * claim of this user, whose outcome was not known, came late.
   */
  async loss(session: DatabaseSession): Promise<SvcError | undefined> {
    const { slices, table } = this.#needs;
    const rows = (await session.query(OWNERS, [slices])) as readonly OwnerRow[];
    for (const [slice, , epoch, head, commits] of rows) {
      const known = this.#claims.get(slice);
      if (known === undefined) continue;
      const isBack = epoch < known.epoch || head < known.head || commits < known.commits;
      const isForeign = epoch === known.epoch && (head > known.head || commits > known.commits);
      if (isBack || isForeign) return regressed(slice, known, { epoch, head });
    }
    const lost = rows.find(([, owner]) => owner !== table.self);
    return lost && notOwned(lost[0]);
  }

  /**
   * Claims all slices. Rejects with DatabaseFailure, with SVC_JOURNAL_UNAVAILABLE if another node owns one of them, and with
   * SVC_JOURNAL_REGRESSED if the database has gone back behind what it has confirmed.
   */
  async claim(session: DatabaseSession): Promise<void> {
    const { slices, table } = this.#needs;
    await session.query(LIMIT_WAITS);
    const rows = (await session.query(CLAIM, [slices, table.self])) as readonly ClaimRow[];
    const claimed = new Map(rows.map(([slice, ...claim]) => [slice, claim]));
    for (const slice of slices) {
      const claim = claimed.get(slice);
      if (claim === undefined) throw (await this.loss(session)) ?? notOwned(slice);
      this.#checkProgress(slice, claim);
    }
    for (const [slice, [epoch, head, commits]] of claimed)
      this.#claims.set(slice, { epoch, head, commits });
  }

  #checkProgress(slice: number, [epoch, head, commits]: readonly [number, number, number]): void {
    const known = this.#claims.get(slice);
    if (known === undefined) return;
    if (epoch > known.epoch && head >= known.head && commits >= known.commits) return;
    throw regressed(slice, known, { epoch, head });
  }
}

function notOwned(slice: number): SvcError {
  return new SvcError(
    'SVC_JOURNAL_UNAVAILABLE',
    `Another node owns slice ${slice} of the journal. Ask again: the call goes to that node then.`,
  );
}

function regressed(
  slice: number,
  known: Pick<Claim, 'epoch' | 'head'>,
  found: Pick<Claim, 'epoch' | 'head'>,
): SvcError {
  return new SvcError(
    'SVC_JOURNAL_REGRESSED',
    `Slice ${slice} of the journal has gone back: its head was ${known.head} in epoch ${known.epoch}, and is ${found.head} in epoch ` +
      `${found.epoch}. The database has lost what it had confirmed: restore the server that has it, or start the service again to go ` +
      'on without what is lost.',
  );
}
