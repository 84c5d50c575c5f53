// SliceClaims are the slices that one user of the journal writes: a thread, with a connection of its own. To claim a slice is to
// raise its epoch. That waits for what an earlier user has under way, shuts out what it sends later, and gives the head. Only slices
// that the node owns are claimed.
//
// Invariants
// - Two users with the same epoch of a slice do not exist: each claim has an epoch that was never given before.
// - A head that is known here is the one in the database, as long as the claim is valid and no group is under way.
// - A claim belongs to one acquisition of its slice by the node (SliceTable). It is not valid under the next one.
import { SvcError } from '@svc/kit/svc-error';
import { NOBODY } from '../cluster-nodes.ts';
import type { DatabaseSession } from './database-session.ts';
import type { SliceTable } from './nodes/slice-table.ts';

export interface Claim {
  /** The acquisition under which the slice was claimed. */
  readonly acquisition: number;
  readonly epoch: number;
  /** Number of the last record of the slice. */
  readonly head: number;
  /** How often something was stored for entities of the slice. */
  readonly commits: number;
}

export type SliceHead = readonly [slice: number, head: number];

export interface ClaimNeeds {
  /** The slices that the user writes if the node owns them, in ascending order. */
  readonly slices: readonly number[];
  readonly table: SliceTable;
  /** Called when slices have turned out to belong to another node. */
  readonly onLost: () => void;
}

type ClaimRow = readonly [slice: number, epoch: number, head: number, commits: number];

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
  /** The last claim of each slice, whether it is valid or not. */
  readonly #claims = new Map<number, Claim>();
  /** The slices whose last claim was not invalidated. */
  readonly #valid = new Set<number>();
  readonly #releasing = new Set<number>();
  #node = NOBODY;
  /** The version of the table for which no claim is missing. */
  #version: number | undefined = undefined;

  constructor(needs: ClaimNeeds) {
    this.#needs = needs;
  }

  /** Whether all slices of the user that the node owns are claimed. */
  get areCurrent(): boolean {
    const { version } = this.#needs.table;
    if (version === this.#version) return true;
    if (this.#missing().acquisitions.size > 0) return false;
    this.#version = version;
    return true;
  }

  /** Returns the claim of a slice; undefined: it is not claimed under the acquisition by which the node owns it now. */
  of(slice: number): Claim | undefined {
    const claim = this.#claims.get(slice);
    const isValid =
      this.#valid.has(slice) && this.#needs.table.acquisitionOf(slice) === claim?.acquisition;
    return isValid ? claim : undefined;
  }

  /** Returns a slice that is claimed; undefined: none is. */
  any(): number | undefined {
    for (const slice of this.#valid) if (this.of(slice) !== undefined) return slice;
    return undefined;
  }

  /** Number of the node by which the valid claims were made. */
  get node(): number {
    return this.#node;
  }

  /** Notes that a group with so many records of each slice is stored, and returns the new heads. */
  advance(counts: readonly (readonly [slice: number, records: number])[]): readonly SliceHead[] {
    return counts.map(([slice, records]) => {
      const claim = this.#claims.get(slice)!;
      const head = claim.head + records;
      this.#claims.set(slice, { ...claim, head, commits: claim.commits + 1 });
      return [slice, head];
    });
  }

  /** Lets no claim be valid any more: nobody knows what has become of a statement. */
  invalidate(): void {
    this.#valid.clear();
    this.#version = undefined;
  }

  /**
   * Lets go of slices. Their valid claims can still be used. A slice that would have to be claimed is given up at once: its next
   * owner may have it already, and may even have returned it.
   */
  release(slices: Iterable<number>): void {
    for (const slice of slices) this.#releasing.add(slice);
    this.#version = undefined;
  }

  /** Ends a release: slices that the node owns are claimed again. */
  endRelease(slices: Iterable<number>): void {
    for (const slice of slices) this.#releasing.delete(slice);
    this.#version = undefined;
  }

  /**
   * Claims all slices of the user that the node owns, and returns their heads. Rejects with DatabaseFailure, and with
   * SVC_JOURNAL_REGRESSED if the database has gone back behind what it has confirmed.
   */
  async claim(session: DatabaseSession): Promise<readonly SliceHead[]> {
    const heads: SliceHead[] = [];
    while (!this.areCurrent) heads.push(...(await this.#claimMissing(session)));
    return heads;
  }

  /**
   * Finds out why the database has not let slices be used that the node has acquired by these acquisitions, and invalidates their
   * claims. Slices that turn out to belong to another node are lost, also those that were not asked for. Returns whether any of
   * `missed` is lost; otherwise an earlier claim of this user, whose outcome was not known, came late. Rejects as `claim` does.
   */
  async examine(session: DatabaseSession, missed: ReadonlyMap<number, number>): Promise<boolean> {
    const { table, onLost } = this.#needs;
    const acquisitions = new Map(missed);
    for (const slice of this.#valid) {
      const claim = this.of(slice);
      if (claim !== undefined) acquisitions.set(slice, claim.acquisition);
    }
    const rows = (await session.query(OWNERS, [[...acquisitions.keys()]])) as readonly OwnerRow[];
    const own = new Set<number>();
    for (const [slice, owner, epoch, head, commits] of rows) {
      this.#checkRow(slice, { epoch, head, commits });
      if (owner === this.#node) own.add(slice);
    }
    const lost = [...acquisitions].filter(([slice]) => !own.has(slice));
    for (const [slice, acquisition] of lost) table.lose(slice, acquisition);
    for (const slice of missed.keys()) this.#valid.delete(slice);
    this.#version = undefined;
    if (lost.length > 0) onLost();
    return lost.some(([slice]) => missed.has(slice));
  }

  async #claimMissing(session: DatabaseSession): Promise<readonly SliceHead[]> {
    const { node, acquisitions } = this.#missing();
    const rows = (await session.query(CLAIM, [
      [...acquisitions.keys()],
      node,
    ])) as readonly ClaimRow[];
    this.#node = node;
    for (const [slice, epoch, head, commits] of rows) {
      const claim = { acquisition: acquisitions.get(slice)!, epoch, head, commits };
      this.#checkProgress(slice, claim);
      this.#claims.set(slice, claim);
      this.#valid.add(slice);
      acquisitions.delete(slice);
    }
    if (acquisitions.size > 0) await this.examine(session, acquisitions);
    return rows.map(([slice, , head]) => [slice, head]);
  }

  /** Returns the slices that are to be claimed, each with its acquisition, and the number of the node that has acquired them. */
  #missing(): { readonly node: number; readonly acquisitions: Map<number, number> } {
    const { slices, table } = this.#needs;
    for (;;) {
      const node = table.self;
      const acquisitions = new Map<number, number>();
      for (const slice of slices) {
        const acquisition = table.acquisitionOf(slice);
        if (acquisition === undefined || this.of(slice) !== undefined) continue;
        if (this.#releasing.has(slice)) table.lose(slice, acquisition);
        else acquisitions.set(slice, acquisition);
      }
      // If the number has changed, some of the acquisitions may belong to the next one.
      if (table.self === node) return { node, acquisitions };
    }
  }

  /** Throws SVC_JOURNAL_REGRESSED if a row contradicts what the database has confirmed. */
  #checkRow(slice: number, { epoch, head, commits }: Found): void {
    const known = this.#claims.get(slice);
    if (known === undefined) return;
    const isBack = epoch < known.epoch || head < known.head || commits < known.commits;
    const hasMore = head > known.head || commits > known.commits;
    // After a connection was lost, a group of this user may be stored that it does not know of.
    const isForeign = epoch === known.epoch && hasMore && this.#valid.has(slice);
    if (isBack || isForeign) throw regressed(slice, known, { epoch, head });
  }

  /** Throws SVC_JOURNAL_REGRESSED if a claim does not follow the one before. */
  #checkProgress(slice: number, { epoch, head, commits }: Found): void {
    const known = this.#claims.get(slice);
    if (known === undefined) return;
    if (epoch > known.epoch && head >= known.head && commits >= known.commits) return;
    throw regressed(slice, known, { epoch, head });
  }
}

type Found = Pick<Claim, 'epoch' | 'head' | 'commits'>;

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
