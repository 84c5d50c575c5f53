// BuildError: the reasons why a component could not be built. A Problem is one reason, with its source location and
// what to do. Its text is for a terminal, so control characters are escaped.
import { HARMFUL_CHARACTERS, escapedCharacter } from '@svc/contract/harmful-character';

export interface Problem {
  /**
   * File of the problem, relative to the entry file as the caller named it: `cart.ts` for `/home/me/index.ts`,
   * `assembly/cart.ts` for `assembly/index.ts`. Undefined if the problem has no location.
   */
  readonly file?: string;
  /** Line number, from 1. */
  readonly line?: number;
  /** Column number, from 1. */
  readonly column?: number;
  /** The source line, and the length of the part of it that the problem is about. */
  readonly sourceLine?: string;
  readonly length?: number;
  /** Description of the problem, as a sentence. */
  readonly message: string;
  /** Advice, which may have several lines. */
  readonly help?: string;
  /** Absent: the problem is an error. */
  readonly severity?: 'warning';
}

const LINE_MAX = 120;
/** Maximum number of characters that an excerpt of a long line has before the column. */
const LEAD_MAX = 40;
const HELP_INDENT = '      ';

/** Parts of a problem that a terminal may colour. */
export type ProblemPart = 'location' | 'error' | 'warning' | 'mark' | 'help';

/** Returns `file:line:column: error: message`, the line with a mark below the column, and `help: …`. */
export function problemText(
  problem: Problem,
  paint: (part: ProblemPart, text: string) => string = (_part, text) => text,
): string {
  const severity = problem.severity ?? 'error';
  const location = locationOf(problem);
  const head = location === '' ? '' : `${paint('location', location)} `;
  const lines = [`${head}${paint(severity, `${severity}:`)} ${printable(problem.message)}`];
  const excerpt = excerptOf(problem);
  if (excerpt !== undefined)
    lines.push(excerpt.source, `${excerpt.margin}${paint('mark', excerpt.mark)}`);
  if (problem.help !== undefined) {
    const help = problem.help.split('\n').map((line) => printable(line));
    lines.push(`${paint('help', 'help:')} ${help.join(`\n${HELP_INDENT}`)}`);
  }
  return lines.join('\n');
}

function locationOf(problem: Problem): string {
  if (problem.file === undefined) return '';
  const location = problem.line === undefined ? '' : `:${problem.line}:${problem.column ?? 1}`;
  return `${printable(problem.file)}${location}:`;
}

interface Excerpt {
  readonly source: string;
  readonly margin: string;
  readonly mark: string;
}

function excerptOf({ sourceLine, line, column = 1, length = 1 }: Problem): Excerpt | undefined {
  if (sourceLine === undefined || line === undefined) return undefined;
  const start = sourceLine.length <= LINE_MAX ? 0 : Math.max(0, column - 1 - LEAD_MAX);
  const at = column - 1;
  const end = start + LINE_MAX;
  const before = printable(sourceLine.slice(start, at));
  const marked = printable(sourceLine.slice(at, Math.min(at + length, end)));
  const after = printable(sourceLine.slice(Math.min(at + length, end), end));
  return {
    source: `  ${line} | ${before}${marked}${after}`.trimEnd(),
    margin: `  ${' '.repeat(String(line).length)} | ${' '.repeat(columnsOf(before))}`,
    mark: '^'.repeat(Math.max(1, columnsOf(marked))),
  };
}

/** Wide characters of East Asian scripts and emoji, which take two columns of a terminal. */
const WIDE =
  /^[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]/u;

/** Returns the number of terminal columns that the text takes. A combining mark takes none. */
function columnsOf(text: string): number {
  let columns = 0;
  for (const character of text)
    if (WIDE.test(character)) columns += 2;
    else if (!/^\p{Mark}/u.test(character)) columns += 1;
  return columns;
}

function printable(text: string): string {
  return text.replaceAll('\t', ' ').replaceAll(HARMFUL_CHARACTERS, escapedCharacter);
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** Sorts problems by file, line and column; problems without a location come last. */
export function inOrder(problems: readonly Problem[]): Problem[] {
  return problems.toSorted((a, b) => {
    if (a.file === undefined || b.file === undefined)
      return Number(a.file === undefined) - Number(b.file === undefined);
    return (
      compare(a.file, b.file) || (a.line ?? 0) - (b.line ?? 0) || (a.column ?? 0) - (b.column ?? 0)
    );
  });
}

export class BuildError extends Error {
  /** The code is documented in docs/errors, like those of the runtime. */
  readonly code = 'SVC_BUILD_FAILED';
  readonly problems: readonly Problem[];

  constructor(problems: readonly Problem[], options: { readonly cause?: unknown } = {}) {
    const sorted = inOrder(problems);
    super(
      sorted.map((problem) => problemText(problem)).join('\n\n'),
      options.cause === undefined ? {} : { cause: options.cause },
    );
    this.name = 'BuildError';
    this.problems = sorted;
  }
}
