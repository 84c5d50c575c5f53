// Problem: one thing that is wrong with a value, and where in the value. `Problems` gathers those of a value.

export interface Problem {
  /** JSON pointer (RFC 6901) to the part of the value: `/mounts/0/path`; empty for the whole value. */
  readonly path: string;
  /** Reason, worded to follow the path: `is missing`. It ends without a full stop. */
  readonly reason: string;
}

/** Returns a problem as a sentence on one line: `mounts/0/path is empty: write a path such as /cart`. */
export function problemLine({ path, reason }: Problem): string {
  return `${path === '' ? 'the descriptor' : path.slice(1)} ${reason}`;
}

/** Problems of a value, as seen from one part of it. */
export class Problems {
  readonly #all: { readonly segments: readonly (string | number)[]; readonly reason: string }[];
  readonly #segments: readonly (string | number)[];

  constructor(parent?: Problems, segment: string | number = '') {
    this.#all = parent === undefined ? [] : parent.#all;
    this.#segments = parent === undefined ? [] : [...parent.#segments, segment];
  }

  /** Returns the same problems, as seen from a part of this part. */
  at(segment: string | number): Problems {
    return new Problems(this, segment);
  }

  add(reason: string): void {
    this.#all.push({ segments: this.#segments, reason });
  }

  /** Returns all problems of the value, sorted by path, and those of one path by reason. */
  sorted(): readonly Problem[] {
    return this.#all
      .toSorted((a, b) => comparePaths(a.segments, b.segments) || compare(a.reason, b.reason))
      .map(({ segments, reason }) => ({ path: segments.map(pointer).join(''), reason }));
  }
}

type Segment = string | number;

/** Compares segment by segment, and indexes by their numbers. */
function comparePaths(a: readonly Segment[], b: readonly Segment[]): number {
  for (const [depth, left] of a.entries()) {
    const right = b[depth];
    if (right === undefined) return 1;
    const order = compare(left, right);
    if (order !== 0) return order;
  }
  return a.length - b.length;
}

function compare(a: Segment, b: Segment): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

function pointer(segment: Segment): string {
  return `/${String(segment).replaceAll('~', '~0').replaceAll('/', '~1')}`;
}

const QUOTED_LENGTH_MAX = 80;

/** Quotes text of a value for a message: shortened, and on one line of ASCII. */
export function quoted(text: string): string {
  const short = text.length > QUOTED_LENGTH_MAX ? `${text.slice(0, QUOTED_LENGTH_MAX)}…` : text;
  const escaped = JSON.stringify(short).replaceAll(
    /[^\x20-\x7e…]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  return escaped;
}

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
