// SliceWindows divides a page of the feed among the slices that have records after a position.
//
// Invariants
// - Each slice that waits gets as many records as each other one, or all that it has. No slice waits for the backlog of others.
// - The order in which slices have their turn follows from position and end. It goes on where the page before has ended, so that
//   small pages come to all slices.
import { SLICE_COUNT } from '@svc/model/slice';
import type { SliceOffsets } from './slice-offsets.ts';

/** The next records of a slice: `count` of them after the record `after`. */
export interface SliceWindow {
  readonly slice: number;
  readonly after: number;
  readonly count: number;
}

interface Waiting {
  readonly slice: number;
  readonly after: number;
  readonly left: number;
  count: number;
}

/** Returns the windows of a page of `limit` records at most, in the order of their turns; none if no record is before `end`. */
export function slicesAfter(
  after: SliceOffsets,
  end: SliceOffsets,
  limit: number,
): readonly SliceWindow[] {
  const waiting: Waiting[] = [];
  let read = 0;
  for (let slice = 0; slice < SLICE_COUNT; slice++) {
    const off = after.offs[slice]!;
    const left = end.offs[slice]! - off;
    read += off;
    if (left > 0) waiting.push({ slice, after: off, left, count: 0 });
  }
  const first = waiting.length === 0 ? 0 : read % waiting.length;
  const turns = [...waiting.slice(first), ...waiting.slice(0, first)];
  share(turns, limit);
  return turns.filter(({ count }) => count > 0);
}

function share(turns: readonly Waiting[], limit: number): void {
  let rest = limit;
  for (let open = turns; rest > 0 && open.length > 0;) {
    const each = Math.max(1, Math.floor(rest / open.length));
    for (const window of open) {
      const more = Math.min(each, window.left - window.count, rest);
      window.count += more;
      rest -= more;
    }
    open = open.filter(({ count, left }) => count < left);
  }
}
