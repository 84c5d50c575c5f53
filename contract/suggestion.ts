// Suggests the intended name for a mistyped one. The file imports nothing, so that a command-line program that needs
// only suggestions does not load the validation of descriptors.

/** Returns the number of single-letter edits (added, dropped, changed, or two swapped) between two words. */
function distance(a: string, b: string): number {
  const rows: number[][] = [Array.from({ length: b.length + 1 }, (_, index) => index)];
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const cost = a[i - 1] === b[j - 1] ? 0 : 1;
      let steps = Math.min(rows[i - 1]![j]! + 1, row[j - 1]! + 1, rows[i - 1]![j - 1]! + cost);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        steps = Math.min(steps, rows[i - 2]![j - 2]! + 1);
      row.push(steps);
    }
    rows.push(row);
  }
  return rows[a.length]![b.length]!;
}

/**
 * Returns the candidate nearest to the word, in any case of letters; undefined if none is near enough: within one edit
 * for every three letters of the word, but at least one edit.
 */
export function closest(word: string, candidates: readonly string[]): string | undefined {
  let best: string | undefined;
  let bestDistance = Math.max(1, Math.floor(word.length / 3)) + 1;
  for (const candidate of candidates) {
    const steps = distance(word.toLowerCase(), candidate.toLowerCase());
    if (steps < bestDistance) [best, bestDistance] = [candidate, steps];
  }
  return best;
}

/** Returns ` Did you mean 'build'?`, or an empty text if no candidate is near enough. */
export function didYouMean(word: string, candidates: readonly string[]): string {
  const suggestion = closest(word, candidates);
  return suggestion === undefined ? '' : ` Did you mean '${suggestion}'?`;
}
