// PostgresFeed reads the records of a journal in PostgreSQL, which is divided into slices: those of a slice in their order, those of
// different slices side by side. It finds out from shared memory which slices have more, and then asks the database for them alone.
//
// Invariants
// - The records of a slice have no gaps. Where one is missing, or is damaged, the feed does not go on, and says so: other slices
//   go on up to the page that would begin with that record.
// - A position is never past a head that the threads that write have not confirmed.
// - A feed of some slices names no others in its positions.
import type { Awaitable } from '@svc/model/call';
import { SLICE_COUNT } from '@svc/model/slice';
import type { Feed, FeedPage, Position } from '../../../engine/needs/feed.ts';
import { readPage, regressed } from './feed-page.ts';
import type { FollowingSession } from '../following-session.ts';
import { RecordMarks } from './record-marks.ts';
import { SliceOffsets } from './slice-offsets.ts';
import { SliceHeads } from './slice-heads.ts';
import { SlicePositions } from './slice-positions.ts';
import { type SliceWindow, slicesAfter } from './slice-windows.ts';

/** Number of records of a page, whatever its limit is. */
const RECORDS_MAX = 5_000;

export interface PostgresFeedNeeds {
  /** The feed closes it. */
  readonly session: FollowingSession;
  /** Shared memory of the SliceHeads of the journal. */
  readonly heads: SharedArrayBuffer;
  /** Id of the journal, from the table `cluster`. */
  readonly journal: string;
  /** The slices whose records are read; absent: all. */
  readonly slices?: readonly number[] | undefined;
}

export class PostgresFeed extends SlicePositions implements Feed {
  readonly #session: FollowingSession;
  readonly #marks: RecordMarks;
  readonly #slices: readonly number[] | undefined;
  /** The end of the slices that are read, when the heads of all slices were these. */
  #end: readonly [heads: SliceOffsets, end: SliceOffsets] | undefined;
  #isClosed = false;

  constructor({ session, heads, journal, slices }: PostgresFeedNeeds) {
    super(new SliceHeads(heads));
    this.#session = session;
    this.#slices = slices;
    this.#marks = new RecordMarks({ session, journal });
  }

  /**
   * Does what Feed says. Also throws SVC_JOURNAL_REGRESSED, if the position is after the end of a slice: the database has lost
   * records that were read before.
   */
  read(after: Position, limit: number, components: ReadonlySet<string>): Awaitable<FeedPage> {
    const from = this.offsetsOf(after);
    const end = this.endOffsets();
    this.#checkProgress(from, end);
    const windows = slicesAfter(from, end, Math.min(limit, RECORDS_MAX));
    if (windows.length === 0) return { records: [], position: after };
    return this.#page(from, windows, components);
  }

  async #page(
    from: SliceOffsets,
    windows: readonly SliceWindow[],
    components: ReadonlySet<string>,
  ): Promise<FeedPage> {
    const { records, readTo } = await readPage(this.#session, windows, components);
    const position = this.positionOf(from.with(readTo.map(({ slice, off }) => [slice, off])));
    this.#marks.note(from.text, position, readTo);
    return { records, position };
  }

  protected override endOffsets(): SliceOffsets {
    const heads = super.endOffsets();
    if (this.#slices === undefined) return heads;
    if (this.#end?.[0] !== heads) {
      const own = this.#slices.map((slice) => [slice, heads.offs[slice]!] as const);
      this.#end = [heads, SliceOffsets.start.with(own)];
    }
    return this.#end[1];
  }

  #checkProgress(from: SliceOffsets, end: SliceOffsets): void {
    if (end.hasReached(from)) return;
    for (let slice = 0; slice < SLICE_COUNT; slice++) {
      const off = from.offs[slice]!;
      if (off > end.offs[slice]!)
        throw regressed(slice, off, end.offs[slice]!, this.#session.shown);
    }
  }

  mark(position: Position): Awaitable<string | undefined> {
    return position === this.start ? undefined : this.#marks.of(this.offsetsOf(position));
  }

  async advancedPast(position: Position): Promise<void> {
    const from = this.offsetsOf(position);
    for (;;) {
      const { version } = this.heads;
      if (this.#isClosed || !from.hasReached(this.endOffsets())) return;
      await this.heads.changed(version);
    }
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.heads.wake();
    this.#session.close();
  }
}
