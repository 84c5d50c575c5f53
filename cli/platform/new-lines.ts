// NewLines: which lines of an instance's output are new. Each answer overlaps with the one before, so that no line is lost between
// them, and what both have is dropped.
import { linesOf } from './log-lines.ts';

/** Number of lines by which two answers are compared. An overlap that is longer is found all the same. */
const COMPARED_LINES = 1_000;

export class NewLines {
  /** The lines that were returned last. */
  #last: readonly string[] = [];
  /** A line without its end in the answer before. */
  #unfinished: string | undefined;

  /** Takes an answer, and returns its new lines. A line without its end is returned once nothing was added to it. */
  take(output: string): readonly string[] {
    const all = linesOf(output);
    const isUnfinished = output !== '' && !output.endsWith('\n');
    const unfinished = isUnfinished ? all.at(-1) : undefined;
    const waits = unfinished !== undefined && unfinished !== this.#unfinished;
    this.#unfinished = unfinished;
    const lines = waits ? all.slice(0, -1) : all;
    const fresh = lines.slice(overlap(this.#last, lines));
    this.#last = [...this.#last, ...fresh].slice(-COMPARED_LINES);
    return fresh;
  }
}

/** Returns how many of the lines are known: up to the last position at which they end as the known ones do. */
function overlap(known: readonly string[], lines: readonly string[]): number {
  if (known.length === 0) return 0;
  for (let end = lines.length; end > 0; end--) {
    const count = Math.min(end, known.length);
    let same = 0;
    while (same < count && lines[end - 1 - same] === known[known.length - 1 - same]) same++;
    if (same === count) return end;
  }
  return 0;
}
