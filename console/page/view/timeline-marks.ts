// TimelineMarks: an entity's records as marks on a strip. Few stand one by one, many in groups. Pure.

export interface TimelineMark {
  /** Of the strip, in percent: its middle. */
  readonly place: number;
  /** Sequence numbers, both included. */
  readonly first: number;
  readonly last: number;
}

export const MARKS_MAX = 160;

export function timelineMarks(total: number): TimelineMark[] {
  const size = Math.ceil(total / MARKS_MAX);
  const marks: TimelineMark[] = [];
  for (let first = 1; first <= total; first += size) {
    const last = Math.min(total, first + size - 1);
    marks.push({ first, last, place: sequencePlace((first + last) / 2, total) });
  }
  return marks;
}

/** In percent, where the slider's thumb stands. */
export function sequencePlace(seq: number, total: number): number {
  return total <= 1 ? 0 : ((seq - 1) / (total - 1)) * 100;
}

/** Of the page of a history that holds a record: its first sequence number. */
export function pageStart(seq: number, pageLength: number): number {
  return Math.floor((seq - 1) / pageLength) * pageLength + 1;
}
