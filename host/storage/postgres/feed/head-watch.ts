// HeadWatch asks the database for the heads of the slices that other nodes own, so that what follows the journal here gets their events
// as well. The heads of this node's slices come from its own threads.
import type { DatabaseSession } from '../database-session.ts';
import type { SliceHeads } from './slice-heads.ts';

/** Interval, in milliseconds. */
const WATCH_MS = 100;
const HEADS = {
  name: 'foreign-heads',
  text: 'SELECT slice, head FROM svc.slice WHERE head > 0 AND owner IS DISTINCT FROM $1',
};

export interface HeadWatchNeeds {
  readonly use: <T>(work: (session: DatabaseSession) => Promise<T>) => Promise<T>;
  readonly heads: SliceHeads;
  /** Returns the number of this node. */
  readonly self: () => number;
  /** Whether there are other nodes now. */
  readonly hasOthers: () => boolean;
}

export class HeadWatch {
  readonly #needs: HeadWatchNeeds;
  readonly #timer: NodeJS.Timeout;
  #isAsking = false;

  constructor(needs: HeadWatchNeeds) {
    this.#needs = needs;
    this.#timer = setInterval(() => void this.#ask(), WATCH_MS).unref();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  async #ask(): Promise<void> {
    const { use, heads, self, hasOthers } = this.#needs;
    // The database may not answer for long.
    if (this.#isAsking || !hasOthers()) return;
    this.#isAsking = true;
    try {
      const rows = await use((session) => session.query(HEADS, [self()]));
      heads.advance(rows.map(([slice, head]) => [slice as number, head as number]));
    } catch {
      // The next time comes soon.
    }
    this.#isAsking = false;
  }
}
