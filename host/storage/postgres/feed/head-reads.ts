// HeadReads asks the database for the heads of all slices when a caller names a position that is past those which this node knows: another
// node has stored what is before it.
//
// Invariant: at most one read is made at a time, and it answers all callers that came before it began.
import type { FollowingSession } from '../following-session.ts';
import type { SliceHeads } from './slice-heads.ts';

const HEADS = { name: 'all-heads', text: 'SELECT slice, head FROM svc.slice WHERE head > 0' };

export interface HeadReadsNeeds {
  readonly session: Pick<FollowingSession, 'query'>;
  readonly heads: SliceHeads;
}

export class HeadReads {
  readonly #needs: HeadReadsNeeds;
  /** Settles with the read that has begun last. Never rejects. */
  #begun: Promise<void> = Promise.resolve();
  /** The read that follows. */
  #next: Promise<void> | undefined;

  constructor(needs: HeadReadsNeeds) {
    this.#needs = needs;
  }

  /** Advances the heads to those that are on disk at the time of the call. Rejects with SvcError. */
  read(): Promise<void> {
    this.#next ??= this.#begun.then(() => {
      this.#next = undefined;
      const read = this.#read();
      this.#begun = read.catch(() => undefined);
      return read;
    });
    return this.#next;
  }

  async #read(): Promise<void> {
    const { session, heads } = this.#needs;
    const rows = await session.query(HEADS, []);
    heads.advance(rows.map(([slice, head]) => [slice as number, head as number]));
  }
}
