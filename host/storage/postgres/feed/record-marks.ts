// RecordMarks makes the text by which a follower finds out whether a position that it has kept belongs to this journal: the id of
// the journal, and a checksum of the last record before the position in each slice. The text is another one for a journal that was
// restored to an earlier state and written again, as long as it has other records there.
//
// The checksums of a page follow from those of the page before, so that a follower asks the database only for its first position.
import { crc32 } from 'node:zlib';
import { SLICE_COUNT } from '@svc/model/slice';
import type { Awaitable } from '@svc/model/call';
import type { Position } from '../../../engine/needs/feed.ts';
import type { FollowingSession } from '../following-session.ts';
import { safeNumber } from '../safe-number.ts';
import type { ReadTo } from './feed-page.ts';
import { RecentPositions } from './recent-positions.ts';
import { SliceOffsets } from './slice-offsets.ts';

const CHECKSUMS = {
  name: 'feed-marks',
  text: `SELECT w.slice, ${safeNumber('n.crc')} FROM unnest($1::int2[], $2::int8[]) AS w(slice, off)
  CROSS JOIN LATERAL (
    SELECT j.crc FROM svc.journal j WHERE j.slice = w.slice AND j.off = w.off ORDER BY j.off LIMIT 1
  ) n`,
};

export interface RecordMarksNeeds {
  readonly session: FollowingSession;
  /** Id of the journal. */
  readonly journal: string;
}

export class RecordMarks {
  readonly #needs: RecordMarksNeeds;
  /** The checksums of the last record of each slice; 0 where there is none. */
  readonly #recent = new RecentPositions<Uint32Array>();

  constructor(needs: RecordMarksNeeds) {
    this.#needs = needs;
  }

  /** Notes the records between two positions. */
  note(after: Position, to: Position, readTo: readonly ReadTo[]): void {
    const checksums =
      after === SliceOffsets.start.text
        ? new Uint32Array(SLICE_COUNT)
        : this.#recent.get(after)?.slice();
    if (checksums === undefined) return;
    for (const { slice, crc } of readTo) checksums[slice] = crc;
    this.#recent.add(to, checksums);
  }

  /** Returns the mark of a position; undefined if the journal does not have all of its last records. Rejects as FollowingSession does. */
  of(offsets: SliceOffsets): Awaitable<string | undefined> {
    const kept = this.#recent.get(offsets.text);
    return kept === undefined ? this.#read(offsets) : this.#text(kept);
  }

  async #read({ offs, text }: SliceOffsets): Promise<string | undefined> {
    const slices = Array.from(offs.keys()).filter((slice) => offs[slice]! > 0);
    const asked = [slices, slices.map((slice) => offs[slice]!)];
    const rows = await this.#needs.session.query(CHECKSUMS, asked);
    if (rows.length < slices.length) return undefined;
    const checksums = new Uint32Array(SLICE_COUNT);
    for (const [slice, crc] of rows as readonly (readonly [number, number])[])
      checksums[slice] = crc;
    this.#recent.add(text, checksums);
    return this.#text(checksums);
  }

  #text(checksums: Uint32Array): string {
    const crc = crc32(new Uint8Array(checksums.buffer));
    return `${this.#needs.journal} ${crc.toString(16)}`;
  }
}
