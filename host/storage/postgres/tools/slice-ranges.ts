// SliceRanges divides the slices into ranges that have few records each, so that statements that read all records of a range are short.
import { SLICE_COUNT } from '@svc/model/slice';
import type { SliceEnds } from './commit-order.ts';

/** Records of a range, unless one slice has more. */
const RECORDS_AT_ONCE = 200_000;

/** Yields ranges of slices, the first one and the one after the last, that have all slices together. */
export function* slicesAtOnce(
  ends: SliceEnds,
): Generator<readonly [first: number, end: number], void> {
  let first = 0;
  let records = 0;
  for (const [slice, end] of ends.entries()) {
    records += end;
    if (records < RECORDS_AT_ONCE && slice + 1 < SLICE_COUNT) continue;
    yield [first, slice + 1];
    first = slice + 1;
    records = 0;
  }
}
