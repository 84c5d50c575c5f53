// ForeignImports: finds imports that the sandbox does not have, with the locations in the author's files that lead to
// them: a function of the standard library may reach an import through several calls.
import type binaryen from 'assemblyscript/binaryen';
import { PropertyAccessExpression, type Program, type Range, type Source } from 'assemblyscript';
import type { Problem } from './build-error.ts';
import { isUserSource } from './declarations.ts';
import { problemAt, textOf } from './syntax.ts';
import { walk } from './syntax-walk.ts';

export interface ForeignImport {
  readonly module: string;
  readonly base: string;
  /** Name of the function in the compiler. */
  readonly internalName: string;
}

/** Prefixes of the names of imports → what to use instead. */
const INSTEAD: readonly (readonly [prefix: string, help: string])[] = [
  ['performance.now', 'use Date.now(), the clock of the runtime, or the time of the Context'],
  ['process.exit', 'end a call by answering it, with refuse(…) or by throwing an Error'],
  ['process.', 'a module has no process: no arguments, no environment, no streams'],
  ['crypto.', 'use Math.random(), which the runtime seeds for each call; a module has no secrets'],
  ['console.', 'use console.log, .debug, .info, .warn or .error'],
  ['Date.', 'use Date.now() and the members of Date that take UTC'],
];
const OTHERWISE =
  'a module computes; what it needs of the outside comes with the call that it serves';

/** Returns the problems. `module` has source locations (the option sourceMap). */
export function foreignImportProblems(
  module: binaryen.Module,
  program: Program,
  imports: readonly ForeignImport[],
): Problem[] {
  if (imports.length === 0) return [];
  const calls = callsOf(module.emitText());
  return imports.flatMap((one) => {
    const message = `the import '${one.base}' of '${one.module}' is not there: a module reaches the runtime through @svc/guest-sdk and nothing else`;
    const help = INSTEAD.find(([prefix]) => one.base.startsWith(prefix))?.[1] ?? OTHERWISE;
    const declared = declarationOf(program, one.internalName);
    if (declared !== undefined && isUserSource(declared.source))
      return [problemAt(declared, message, help)];
    const locations = [
      ...locationsCalling(one.internalName, calls).flatMap(
        (location) => rangeOf(program, location) ?? [],
      ),
      ...mentions(program, one.base),
    ];
    const distinct = new Map(
      locations.map((range) => [`${range.source.normalizedPath} ${range.start}`, range]),
    );
    if (distinct.size === 0) return [{ message, help }];
    return [...distinct.values()].map((range) => problemAt(range, message, help));
  });
}

function declarationOf(program: Program, internalName: string): Range | undefined {
  const element = program.instancesByName.get(internalName);
  return element !== undefined && 'declaration' in element
    ? (element.declaration as { readonly range: Range }).range
    : undefined;
}

interface CodeLocation {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

interface Call {
  readonly from: string;
  readonly to: string;
  /** Undefined: the code has no source line. */
  readonly location: CodeLocation | undefined;
}

const NAME = String.raw`\$(?:"((?:[^"\\]|\\.)*)"|([^\s()"]+))`;
const LINE = new RegExp(
  String.raw`^ \(func ${NAME}|;;@ ?(?:(.+):(\d+):(\d+))?$|\((?:return_)?call ${NAME}`,
);

/**
 * Reads each call, with its caller and its location, from the text format of the module; no other format has the
 * locations.
 */
function callsOf(text: string): Call[] {
  const calls: Call[] = [];
  let from = '';
  let location: CodeLocation | undefined;
  for (const line of text.split('\n')) {
    const match = LINE.exec(line);
    if (match === null) continue;
    const [whole, quotedFunction, plainFunction, file, lineNumber, column, quoted, plain] = match;
    if (whole.startsWith(' (func')) {
      from = quotedFunction ?? plainFunction ?? '';
      location = undefined;
    } else if (whole.startsWith(';;@')) {
      // Code without a location belongs to the code around it.
      if (file !== undefined) location = { file, line: Number(lineNumber), column: Number(column) };
    } else calls.push({ from, to: quoted ?? plain ?? '', location });
  }
  return calls;
}

/** Returns the locations in the author's files from which calls lead to a function. */
function locationsCalling(target: string, calls: readonly Call[]): CodeLocation[] {
  const callers = Map.groupBy(calls, (call) => call.to);
  const locations: CodeLocation[] = [];
  const seen = new Set([target]);
  for (const reached of seen)
    for (const { from, location } of callers.get(reached) ?? [])
      if (location !== undefined && !location.file.startsWith('~lib/')) locations.push(location);
      else seen.add(from);
  return locations;
}

function rangeOf(program: Program, location: CodeLocation): Range | undefined {
  const source = program.sources.find((one) => one.normalizedPath === location.file);
  if (source === undefined) return undefined;
  const start = startOfLine(source, location.line) + location.column;
  // A called function is written as a name, or as names joined by dots.
  const name = /^[\w$.]+/.exec(source.text.slice(start, start + 200))?.[0] ?? '';
  const range = source.range.atEnd;
  range.start = start;
  range.end = start + Math.max(1, name.length);
  return range;
}

function startOfLine({ text }: Source, line: number): number {
  let start = 0;
  for (let count = 1; count < line; count++) start = text.indexOf('\n', start) + 1;
  return start;
}

/** Finds mentions of a function by its name, because a function that is passed as a value has no call. */
function mentions(program: Program, name: string): Range[] {
  const ranges: Range[] = [];
  for (const source of program.sources.filter((one) => isUserSource(one)))
    for (const statement of source.statements)
      walk(statement, (node) => {
        if (node instanceof PropertyAccessExpression && textOf(node) === name)
          ranges.push(node.range);
      });
  return ranges;
}
