// AssemblyScript's own messages as problems. Invariants:
// I1  A problem stands at a line of the author's: a message about code that was written for a declaration stands at
//     the declaration, one about code of the SDK or of another package at the expression that led there. Where no
//     expression did, as with a syntax error, it stands at the line of the package, and the help says that.
// I2  What follows from another error is left out.
import { Range, type DiagnosticMessage, type Source } from 'assemblyscript';
import type { Problem } from './build-error.ts';
import { callSiteOf } from './call-sites.ts';
import { diagnosticHelp, readable, type KnownNames } from './diagnostic-help.ts';
import { isWritten, originOf } from './inject.ts';
import { problemAt } from './syntax.ts';

const ERROR_CATEGORY = 3;
const CANNOT_FIND_NAME = 2304;
/** Diagnostic codes of AssemblyScript after which the compiler guesses, and reports what follows from its guess. */
const CAUSES: ReadonlySet<number> = new Set([CANNOT_FIND_NAME, 2305, 2339, 6054]);
/** The compiler's type of an expression that did not compile, and members that are missing in a class that did not. */
const FOLLOWING = /\btype 'auto'|'__svc_/i;
/** The line that a merge left before the two sides of a conflict. */
const CONFLICT_MARKER = /^<{7}(?:\s|$)/m;
/** `Cannot find name 'Loan'` follows from `Module 'loan' has no exported member 'Loan'`. */
const NAME_OF_IMPORT = /has no exported member '([^']+)'/;

const SYNTAX_ERROR = (code: number): boolean => code >= 1000 && code < 2000;
const REINSTALL =
  'the file is part of a package that the component imports, and is not as it was published: install the package again';
const RESOLVE =
  'resolve the conflict: keep one side or both, and take out the lines that begin with <<<<<<<, ======= and >>>>>>>';

interface Placed {
  readonly diagnostic: DiagnosticMessage;
  /** Place in a file of the author's; undefined when the compiler named none. */
  readonly range: Range | undefined;
  /** Whether the author wrote the code that the message is about. */
  readonly isOwn: boolean;
}

export function isError(diagnostic: DiagnosticMessage): boolean {
  const category: number = diagnostic.category;
  return category === ERROR_CATEGORY;
}

export function isLibrary(source: Source): boolean {
  return source.normalizedPath.startsWith('~lib/');
}

/** The errors that an author has to know of; of two at one place the one that has help. */
export function errorProblems(
  diagnostics: readonly DiagnosticMessage[],
  known: KnownNames,
): Problem[] {
  const errors = diagnostics.filter((one) => isError(one)).map((one) => placed(one));
  const own = errors.filter(({ isOwn }) => isOwn);
  const conflicts = conflictProblems(errors);
  if (conflicts.length > 0) return conflicts;
  const first = withoutFollowing(own.length > 0 ? own : errors);
  const byPlace = new Map<string, Problem>();
  for (const one of first) {
    const problem = problemOf(one, known);
    const { file, line, column } = problem;
    const key = file === undefined ? problem.message : `${file}:${line}:${column}`;
    const other = byPlace.get(key);
    if (other === undefined || (other.help === undefined && problem.help !== undefined))
      byPlace.set(key, problem);
  }
  return [...new Map([...byPlace.values()].map((one) => [lineKey(one), one])).values()];
}

/** One problem for each file with an unresolved merge: the syntax errors of its markers are not the author's. */
function conflictProblems(errors: readonly Placed[]): Problem[] {
  const sources = new Set(
    errors
      .filter(({ diagnostic }) => SYNTAX_ERROR(diagnostic.code))
      .flatMap(({ range }) => (range === undefined ? [] : [range.source])),
  );
  return [...sources].flatMap((source) => {
    const start = source.text.search(CONFLICT_MARKER);
    if (start < 0) return [];
    const range = new Range(start, start + 7);
    range.source = source;
    const help = isLibrary(source) ? REINSTALL : RESOLVE;
    return [problemAt(range, 'the file has a marker of a merge conflict', help)];
  });
}

/** One line gets the same help once. */
function lineKey({ file, line, column, help }: Problem): string {
  return `${file}:${line}:${help ?? column}`;
}

/** What the compiler remarked without failing. */
export function warningProblems(
  diagnostics: readonly DiagnosticMessage[],
  known: KnownNames,
): Problem[] {
  return diagnostics
    .filter((one) => !isError(one) && (one.range === null || !isLibrary(one.range.source)))
    .map((one): Problem => ({ ...problemOf(placed(one), known), severity: 'warning' }));
}

function placed(diagnostic: DiagnosticMessage): Placed {
  const { range } = diagnostic;
  if (range === null) return { diagnostic, range: undefined, isOwn: true };
  if (isWritten(range.source)) return { diagnostic, range: originOf(range), isOwn: false };
  if (!isLibrary(range.source)) return { diagnostic, range, isOwn: true };
  const site = callSiteOf(diagnostic);
  // What stands in a package and is wrong wherever it is used, the author can only find there.
  if (site === undefined) return { diagnostic, range, isOwn: false };
  if (!isWritten(site.source)) return { diagnostic, range: site, isOwn: true };
  return { diagnostic, range: originOf(site), isOwn: false };
}

/** Without what the compiler concludes from a name that it does not know, and from what did not compile. */
function withoutFollowing(errors: readonly Placed[]): readonly Placed[] {
  const imports = errors.map(({ diagnostic }) => NAME_OF_IMPORT.exec(diagnostic.message)?.[1]);
  const isOfImport = ({ diagnostic: { code, message } }: Placed): boolean =>
    code === CANNOT_FIND_NAME && imports.some((name) => name && message.includes(`'${name}'`));
  const causes = errors.filter(({ diagnostic }) => CAUSES.has(diagnostic.code));
  const left = errors.filter(
    (one) =>
      !isOfImport(one) &&
      (causes.includes(one) || !causes.some((cause) => isInside(cause.range, one.range))),
  );
  const first = left.filter(({ diagnostic }) => !FOLLOWING.test(diagnostic.message));
  return first.length > 0 ? first : left;
}

function isInside(inner: Range | undefined, outer: Range | undefined): boolean {
  return (
    inner !== undefined &&
    inner.source === outer?.source &&
    inner.start >= outer.start &&
    inner.end <= outer.end
  );
}

function problemOf({ diagnostic, range, isOwn }: Placed, known: KnownNames): Problem {
  const ofSdk = /^User-defined: "(.*)"$/.exec(diagnostic.message)?.[1];
  const message = ofSdk ?? `${readable(diagnostic.message)} (AS${diagnostic.code})`;
  if (range === undefined) return { message };
  const problem = problemAt(range, message);
  if (isLibrary(range.source)) return { ...problem, help: REINSTALL };
  const help =
    diagnosticHelp({ code: diagnostic.code, message }, problem, known) ??
    seeAlso(diagnostic, isOwn);
  return help === undefined ? problem : { ...problem, help };
}

function seeAlso({ relatedRange }: DiagnosticMessage, isOwn: boolean): string | undefined {
  if (!isOwn || relatedRange === null || isWritten(relatedRange.source)) return undefined;
  const { source, start } = relatedRange;
  return isLibrary(source)
    ? undefined
    : `see also ${source.normalizedPath}:${source.lineAt(start)}`;
}
