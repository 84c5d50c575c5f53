// TimelineMarks: the records of an entity as marks on a strip: one mark for each record, or, if there are more than
// MARKS_MAX records, one mark for each group of records. The functions are pure.

export interface TimelineMark {
  /** Middle of the mark, in percent of the strip. */
  readonly position: number;
  /** First and last sequence number, both included. */
  readonly first: number;
  readonly last: number;
}

export const MARKS_MAX = 160;

export function timelineMarks(total: number): TimelineMark[] {
  const size = Math.ceil(total / MARKS_MAX);
  const marks: TimelineMark[] = [];
  for (let first = 1; first <= total; first += size) {
    const last = Math.min(total, first + size - 1);
    marks.push({ first, last, position: sequencePosition((first + last) / 2, total) });
  }
  return marks;
}

/** Returns the position of the slider's thumb, in percent. */
export function sequencePosition(seq: number, total: number): number {
  return total <= 1 ? 0 : ((seq - 1) / (total - 1)) * 100;
}

/** Returns the first sequence number of the page of a history that contains a record. */
export function pageStart(seq: number, pageLength: number): number {
  return Math.floor((seq - 1) / pageLength) * pageLength + 1;
}
