// ShapeProblem: the mismatches between a value and its shape, each with the path to it.
//
// Invariant: it has at most PROBLEMS_MAX mismatches, however many a caller's value has, and its paths are bounded as well.

export const PROBLEMS_MAX = 20;
/** Maximum length of a found text in a problem, in UTF-16 units. */
const SHOWN_MAX = 40;
/** Maximum length of a path, in UTF-16 units: keys of a value may be as long as the value. */
const PATH_MAX = 200;

interface Mismatch {
  readonly path: string;
  readonly message: string;
}

export class ShapeProblem extends Error {
  #mismatches: readonly Mismatch[];

  constructor(message: string) {
    super(message);
    this.name = 'ShapeProblem';
    this.#mismatches = [{ path: '', message }];
  }

  /** Adds an outer step to the paths. */
  within(part: string | number): this {
    this.#mismatches = this.#mismatches.map(({ path, message }) => {
      const joint = path === '' || path.startsWith('[') ? '' : '.';
      const step = typeof part === 'number' ? `[${part}]` : part;
      return { path: shortened(`${step}${joint}${path}`, PATH_MAX), message };
    });
    return this;
  }

  /** Adds the mismatches of another problem. Throws itself if it has PROBLEMS_MAX. */
  with(other: ShapeProblem): this {
    this.#mismatches = [...this.#mismatches, ...other.#mismatches].slice(0, PROBLEMS_MAX);
    if (this.#mismatches.length === PROBLEMS_MAX) throw this;
    return this;
  }

  /** Returns `items[2].sku: must be a string, found 1; total: is missing`. `label`: used where there is no path. */
  text(label: string): string {
    const texts = this.#mismatches.map(
      ({ path, message }) => `${path === '' ? label : path}: ${message}`,
    );
    return texts.length < PROBLEMS_MAX ? texts.join('; ') : `${texts.join('; ')}; and perhaps more`;
  }
}

/**
 * Adds a mismatch to those that were found before, so that the caller learns of all of them. Throws any other error as it is, and
 * the mismatches once there are PROBLEMS_MAX.
 */
export function gathered(found: ShapeProblem | undefined, error: unknown): ShapeProblem {
  if (!(error instanceof ShapeProblem)) throw error;
  return found === undefined ? error : found.with(error);
}

export function mismatch(wanted: string, found: unknown): never {
  throw problem(wanted, found);
}

export function problem(wanted: string, found: unknown): ShapeProblem {
  return new ShapeProblem(`must be ${wanted}, found ${shown(found)}`);
}

function shown(value: unknown): string {
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object' && value !== null) return 'an object';
  if (typeof value !== 'string') return String(value);
  return JSON.stringify(shortened(value, SHOWN_MAX).toWellFormed());
}

/** Returns the text, or its beginning with an ellipsis if it is longer than `max` UTF-16 units. */
export function shortened(text: string, max: number): string {
  return text.length > max ? `${text.slice(0, max)}…` : text;
}
