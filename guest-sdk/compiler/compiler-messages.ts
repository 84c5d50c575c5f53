// CompilerMessages: converts AssemblyScript's own messages to problems.
//
// Invariants:
// - I1 The location of a problem is in the author's files. A problem in code that the compiler wrote for a declaration
//   is located at the declaration; one in generic code of the SDK or of another package, at the expression that led
//   there. Only package code that is wrong whoever uses it is located at its own line, and the help says so.
// - I2 Consequences of another error are left out.
import { Range, type DiagnosticMessage, type Source } from 'assemblyscript';
import type { Problem } from './build-error.ts';
import { callSiteOf } from './call-sites.ts';
import { diagnosticHelp, readable, type KnownNames } from './diagnostic-help.ts';
import { isWritten, originOf } from './inject.ts';
import { problemAt } from './syntax.ts';

const ERROR_CATEGORY = 3;
const CANNOT_FIND_NAME = 2304;
/**
 * Diagnostic codes of AssemblyScript after which the compiler guesses a type, and reports consequences of the guess.
 */
const CAUSES: ReadonlySet<number> = new Set([CANNOT_FIND_NAME, 2305, 2339, 6054]);
/** Diagnostic codes of AssemblyScript for a name, a member of a file or a file that does not exist. */
const MISSING: ReadonlySet<number> = new Set([CANNOT_FIND_NAME, 2305, 6054]);
/**
 * Matches the compiler's type of an expression that did not compile, and missing members of a class that did not
 * compile. An object literal without a type is no consequence, though its message names the same type.
 */
const FOLLOWING = /^(?!Type '<object>' is ).*\btype 'auto'|'__svc_/i;
/** Matches the line that a merge leaves before the first side of a conflict. */
const CONFLICT_MARKER = /^<{7}(?:\s|$)/m;
/** `Cannot find name 'Loan'` follows from `Module 'loan' has no exported member 'Loan'`. */
const NAME_OF_IMPORT = /has no exported member '([^']+)'/;

const SYNTAX_ERROR = (code: number): boolean => code >= 1000 && code < 2000;
const REINSTALL =
  'the file is part of a package that the component imports, and does not compile: install the package again, or another version of it';
const RESOLVE =
  'resolve the conflict: keep one side or both, and take out the lines that begin with <<<<<<<, ======= and >>>>>>>';

interface LocatedDiagnostic {
  readonly diagnostic: DiagnosticMessage;
  /** Location in the author's files, or in a package if no code of the author led there; undefined if there is none. */
  readonly range: Range | undefined;
  /** Whether the author wrote the code at `range`, and not only the declaration that written code belongs to. */
  readonly isOwn: boolean;
}

export function isError(diagnostic: DiagnosticMessage): boolean {
  const category: number = diagnostic.category;
  return category === ERROR_CATEGORY;
}

export function isLibrary(source: Source): boolean {
  return source.normalizedPath.startsWith('~lib/');
}

/** Returns the errors that an author needs; of two errors at one location the one with help. */
export function errorProblems(
  diagnostics: readonly DiagnosticMessage[],
  known: KnownNames,
): Problem[] {
  const errors = diagnostics.filter((one) => isError(one)).map((one) => located(one));
  const own = errors.filter(({ isOwn }) => isOwn);
  const conflicts = conflictProblems(errors);
  if (conflicts.length > 0) return conflicts;
  const broken = errors.filter((one) => isBrokenPackage(one));
  const first = withoutFollowing([broken, own, errors].find((some) => some.length > 0) ?? []);
  const byLocation = new Map<string, Problem>();
  for (const one of first) {
    const problem = problemOf(one, known);
    const { file, line, column } = problem;
    const key = file === undefined ? problem.message : `${file}:${line}:${column}`;
    const other = byLocation.get(key);
    if (other === undefined || (other.help === undefined && problem.help !== undefined))
      byLocation.set(key, problem);
  }
  return firstOfEach([...byLocation.values()], lineKey);
}

/** Returns whether a package lacks a name or a file: errors of the author's files may follow from that. */
function isBrokenPackage({ diagnostic: { code }, range }: LocatedDiagnostic): boolean {
  return range !== undefined && isLibrary(range.source) && MISSING.has(code);
}

/** Returns one problem for each file with an unresolved merge, instead of the syntax errors of the conflict markers. */
function conflictProblems(errors: readonly LocatedDiagnostic[]): Problem[] {
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

function firstOfEach<T>(values: readonly T[], keyOf: (value: T) => string): T[] {
  const byKey = new Map<string, T>();
  for (const one of values) if (!byKey.has(keyOf(one))) byKey.set(keyOf(one), one);
  return [...byKey.values()];
}

/** Returns a key by which a line gets the same help only once. */
function lineKey({ file, line, column, help }: Problem): string {
  return `${file}:${line}:${help ?? column}`;
}

/** Returns the warnings of the compiler, without those about code of packages. */
export function warningProblems(
  diagnostics: readonly DiagnosticMessage[],
  known: KnownNames,
): Problem[] {
  return diagnostics
    .filter((one) => !isError(one) && (one.range === null || !isLibrary(one.range.source)))
    .map((one): Problem => ({ ...problemOf(located(one), known), severity: 'warning' }));
}

function located(diagnostic: DiagnosticMessage): LocatedDiagnostic {
  const { range } = diagnostic;
  if (range === null) return { diagnostic, range: undefined, isOwn: true };
  if (isWritten(range.source)) return { diagnostic, range: originOf(range), isOwn: false };
  if (!isLibrary(range.source)) return { diagnostic, range, isOwn: true };
  const site = callSiteOf(diagnostic);
  // Package code that is wrong whoever uses it keeps its own location.
  if (site === undefined || diagnostic.code === CANNOT_FIND_NAME)
    return { diagnostic, range, isOwn: false };
  if (isLibrary(site.source)) return { diagnostic, range: site, isOwn: false };
  if (!isWritten(site.source)) return { diagnostic, range: site, isOwn: true };
  return { diagnostic, range: originOf(site), isOwn: false };
}

/** Removes the consequences of an unknown name, and of code that did not compile. */
function withoutFollowing(errors: readonly LocatedDiagnostic[]): readonly LocatedDiagnostic[] {
  const imports = errors.map(({ diagnostic }) => NAME_OF_IMPORT.exec(diagnostic.message)?.[1]);
  const isOfImport = ({ diagnostic: { code, message } }: LocatedDiagnostic): boolean =>
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

function problemOf({ diagnostic, range, isOwn }: LocatedDiagnostic, known: KnownNames): Problem {
  const sdkMessage = /^User-defined: "(.*)"$/.exec(diagnostic.message)?.[1];
  const message = sdkMessage ?? `${readable(diagnostic.message)} (AS${diagnostic.code})`;
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
