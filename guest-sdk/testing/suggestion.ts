// Names that a test got wrong: what there is, and which of them was probably meant.

/** ` Did you mean 'add-item'? There are: add-item, check-out.` */
export function whatThereIs(word: string, names: readonly string[]): string {
  if (names.length === 0) return ' There is none.';
  const near = nearest(word, names);
  const suggestion = near === undefined ? '' : ` Did you mean '${near}'?`;
  return `${suggestion} There ${names.length === 1 ? 'is' : 'are'}: ${names.join(', ')}.`;
}

/** The name that shares most pairs of letters with the word, when it is half of them. */
function nearest(word: string, names: readonly string[]): string | undefined {
  let best: string | undefined;
  let bestLikeness = 0.5;
  for (const name of names) {
    const likeness = likenessOf(pairs(word), pairs(name));
    if (likeness >= bestLikeness) [best, bestLikeness] = [name, likeness];
  }
  return best;
}

/** Sørensen and Dice: 0 for nothing in common, 1 for the same pairs. */
function likenessOf(a: readonly string[], b: readonly string[]): number {
  const left = [...b];
  let shared = 0;
  for (const pair of a) {
    const at = left.indexOf(pair);
    if (at < 0) continue;
    left.splice(at, 1);
    shared++;
  }
  return (2 * shared) / (a.length + b.length);
}

function pairs(word: string): string[] {
  // Letters only, so that `addItem` is near to `add-item`; the blanks let the ends count.
  const letters = ` ${word.toLowerCase().replaceAll(/[^a-z0-9]/g, '')} `;
  return Array.from({ length: letters.length - 1 }, (_, at) => letters.slice(at, at + 2));
}
