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

/** Maximum size of an answer that lists problems, in bytes. */
export const PROBLEMS_BYTES_MAX = 64 * 1024;
/** Part of that size that the rest of the answer may take. */
const REST_BYTES = 256;

/**
 * Returns problems as the text of a refusal: a line `path: reason` for each, sorted. Text of more than 64 KiB, as it is
 * encoded in JSON, is cut, and its last line says how many problems are not shown.
 */
export function problemsText(problems: readonly Problem[]): string {
  const lines: string[] = [];
  let bytes = REST_BYTES;
  for (const { path, reason } of sortedProblems(problems)) {
    const line = `${path === '' ? 'body' : path.slice(1)}: ${reason}`;
    bytes += bytesOf(JSON.stringify(line));
    if (bytes > PROBLEMS_BYTES_MAX) {
      const more = problems.length - lines.length;
      lines.push(`${more} more ${more === 1 ? 'problem is' : 'problems are'} not shown`);
      break;
    }
    lines.push(line);
  }
  return lines.join('\n');
}

/** Returns problems sorted by path, with indexes by their numbers, and those of one path by reason. */
export function sortedProblems(problems: readonly Problem[]): readonly Problem[] {
  return problems
    .map((problem) => ({ problem, segments: problem.path.split('/') }))
    .toSorted(
      (a, b) => comparePaths(a.segments, b.segments) || compare(a.problem.reason, b.problem.reason),
    )
    .map(({ problem }) => problem);
}

/** Compares segment by segment. A path is before the paths of its parts. */
function comparePaths(a: readonly string[], b: readonly string[]): number {
  for (const [depth, left] of a.entries()) {
    const right = b[depth];
    if (right === undefined) return 1;
    const order = indexOf(left) - indexOf(right) || compare(left, right);
    if (order !== 0) return order;
  }
  return a.length - b.length;
}

function indexOf(segment: string): number {
  return /^\d+$/.test(segment) ? Number(segment) : -1;
}

function compare(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

/** Problems of a value, as seen from one part of it. */
export class Problems {
  readonly #all: Problem[];
  readonly #path: string;

  constructor(parent?: Problems, segment: string | number = '') {
    this.#all = parent === undefined ? [] : parent.#all;
    this.#path = parent === undefined ? '' : `${parent.#path}${pointer(segment)}`;
  }

  /** Returns the same problems, as seen from a part of this part. */
  at(segment: string | number): Problems {
    return new Problems(this, segment);
  }

  add(reason: string): void {
    this.#all.push({ path: this.#path, reason });
  }

  /** Returns all problems of the value, sorted. */
  sorted(): readonly Problem[] {
    return sortedProblems(this.#all);
  }
}

function pointer(segment: string | number): string {
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

/** Returns why a value is none of the texts that a field takes. `words`: what to write, such as `a version such as 1.4.0`. */
export function notOne(value: unknown, words: string): string {
  return typeof value === 'string'
    ? `is ${quoted(value)}: write ${words}`
    : `is not a text: write ${words}`;
}

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

const encoder = new TextEncoder();

/** Returns the size of a text in UTF-8. */
export function bytesOf(text: string): number {
  return encoder.encode(text).byteLength;
}

/** Returns the number of characters (code points) of a text. */
export function charactersOf(text: string): number {
  return Array.from(text).length;
}
