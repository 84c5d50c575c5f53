// DiagnosticHelp: help for messages of AssemblyScript whose cause is a missing import, a mistyped name or a habit from
// TypeScript. Other messages have no help.
import { closest } from '@svc/contract/suggestion';
import type { Problem } from './build-error.ts';
import { NO_IMPLICIT_CONVERSION, NOT_EXPORTED } from './habit-rule.ts';
import { SDK_PACKAGE } from './syntax.ts';
import { NAMES_ELSEWHERE, habitHelp } from './typescript-habits.ts';

/** Diagnostic codes of AssemblyScript. */
const CANNOT_FIND_NAME = 2304;
const NO_SUCH_MEMBER = 2339;
const NOT_ASSIGNABLE = 2322;
const ABSTRACT_CLASS = 2511;
const FILE_NOT_FOUND = 6054;

/** Maximum number of members that a help lists. */
const MEMBERS_MAX = 12;

/** Exports of `@svc/guest-sdk`. */
export const SDK_NAMES: ReadonlySet<string> = new Set([
  'Change',
  'Code',
  'Context',
  'Decimal',
  'DeferredCall',
  'Done',
  'Due',
  'Duration',
  'Effect',
  'Consumer',
  'EntityClient',
  'EventContext',
  'EventSourcedEntity',
  'FoundRow',
  'Header',
  'NullablePatch',
  'Page',
  'Patch',
  'Principal',
  'RecordedEvent',
  'Refusal',
  'Request',
  'Response',
  'Result',
  'RoundingMode',
  'RowChange',
  'RowCount',
  'ServiceClient',
  'ServiceReply',
  'ServiceResponse',
  'Start',
  'Timers',
  'VerifiedBody',
  'Verdict',
  'View',
  'checkedAdd',
  'checkedMul',
  'checkedSub',
  'clone',
  'parseF64',
  'parseI32',
  'parseI64',
  'ok',
  'refuse',
  'register',
  'toJson',
  'settings',
  'verifyWebhook',
  'verifyWebhookPath',
]);
const BUILT_IN_TYPES: readonly string[] = [
  'bool',
  'string',
  'i8',
  'i16',
  'i32',
  'i64',
  'u8',
  'u16',
  'u32',
  'u64',
  'f32',
  'f64',
  'Date',
  'Map',
  'Math',
  'Set',
  'Uint8Array',
  'console',
  'parseFloat',
  'parseInt',
];

/** Returns the message without the path of a file that the compiler puts before each name. */
export function readable(message: string): string {
  const names = message
    .replaceAll('~lib/string/String', 'string')
    .replaceAll(/~lib\/(?:[@\w.-]+\/)+(?=[A-Z]\w*)/g, '');
  // These messages name a file.
  if (/^(?:File|Module) '/.test(message)) return names.replace("'~lib/", "'");
  return names
    .replaceAll(/(?<=['(<,: |]|=> )(?:[\w.@-]+\/)+(?=[A-Za-z_$])/g, '')
    .replaceAll(/(?<=\w)#(?=\w)/g, '.');
}

/** Names of the author's program that the build knows. */
export interface KnownNames {
  /** Names of the clients that the compiler writes → their files. */
  readonly clients: ReadonlyMap<string, string>;
  /** Names of the classes of deferred calls that the compiler writes → their files, and the queries of their entities. */
  readonly calls: ReadonlyMap<
    string,
    { readonly file: string; readonly queries: readonly string[] }
  >;
  /** `Event.amount` → the cases of `Event` that have the member. */
  readonly caseMembers: ReadonlyMap<string, readonly string[]>;
  /** Sum types → their cases. */
  readonly cases: ReadonlyMap<string, readonly string[]>;
  /** Data enums → their members. */
  readonly enums: ReadonlyMap<string, readonly string[]>;
  /** Exports of the top level of a file → the files. */
  readonly exported: ReadonlyMap<string, readonly string[]>;
  /** Returns the names that the top level of a file declares, exported or not. */
  declaredIn(file: string): readonly string[];
  /** Returns the names that are valid in a file without a further import: its own, and those that it imports. */
  namesOf(file: string): readonly string[];
  /** Returns the members of a type; none if the type is unknown. */
  membersOf(type: string): readonly string[];
}

export const NO_NAMES: KnownNames = {
  clients: new Map(),
  calls: new Map(),
  caseMembers: new Map(),
  cases: new Map(),
  enums: new Map(),
  exported: new Map(),
  declaredIn: () => [],
  namesOf: () => [],
  membersOf: () => [],
};

/**
 * Returns what to write instead; undefined if nothing is known about the message. `message`: the message as the author
 * reads it.
 */
export function diagnosticHelp(
  { code, message }: { readonly code: number; readonly message: string },
  problem: Problem,
  known: KnownNames,
): string | undefined {
  const { sourceLine = '', column = 1 } = problem;
  const inLine = {
    code,
    message,
    before: sourceLine.slice(0, column - 1),
    after: sourceLine.slice(column - 1),
  };
  const [, name = '', type = ''] = /'([^']+)'(?:[^']+'([^']+)')?/.exec(inLine.message) ?? [];
  switch (code) {
    case CANNOT_FIND_NAME:
      return nameHelp(name, problem.file ?? '', known);
    case NOT_EXPORTED:
      return exportHelp(type, name, known);
    case NO_SUCH_MEMBER:
      return (
        memberHelp(name, type, known) ??
        habitHelp(inLine) ??
        amongMembers(name, known.membersOf(type))
      );
    case NOT_ASSIGNABLE: {
      const [member] = (name === 'string' && known.enums.get(type)) || [];
      if (member !== undefined) return `name a member: ${type}.${member}`;
      return replyHelp(message, inLine.after) ?? habitHelp(inLine);
    }
    case ABSTRACT_CLASS: {
      const cases = known.cases.get(/^(?:new\s+)?(\w+)/.exec(inLine.after)?.[1] ?? '');
      const [first = 'Lent'] = cases ?? [];
      return `make an object of one of its cases: new ${first}(), or const event: ${first} = { … }`;
    }
    case FILE_NOT_FOUND:
      if (/\.ts["']/.test(sourceLine)) return 'leave the ending away: import … from "./file"';
      return !/["']\.\.?\//.test(sourceLine)
        ? `a module imports "${SDK_PACKAGE}", its own files as "./file", and packages of AssemblyScript that are installed`
        : 'a file is named from the one that imports it, without its ending: import … from "./file"';
    case NO_IMPLICIT_CONVERSION:
      // The help of these rules names i32 in place of every type.
      return habitHelp(inLine)?.replace('<i32>', `<${type}>`);
    default:
      return habitHelp(inLine);
  }
}

function replyHelp(message: string, after: string): string | undefined {
  const [, kind, nullable] =
    /^Type '(Effect|Result)<(.+?) ?\| ?null>' is .* type '\1<\2>'/.exec(message) ?? [];
  const method = /\.thenReply\(/.test(after.split(';', 1)[0]!) ? 'thenReply' : 'reply';
  if (kind === 'Effect')
    return `an inferred type argument keeps the | null, also after a check: write it, ${method}<${nullable}>(value); or declare the command as Effect<${nullable} | null>`;
  if (kind === 'Result')
    return `an inferred type argument keeps the | null, also after a check: write it, ok<${nullable}>(value); or declare the result as Result<${nullable} | null>`;
  const [, given, wanted] = /^Type 'Effect<(.+)>' is .* type 'Effect<(.+)>'/.exec(message) ?? [];
  return wanted === undefined || given === 'usize'
    ? undefined
    : `it replies ${given}: declare the command as Effect<${given}>, or reply with ${wanted}`;
}

function nameHelp(name: string, file: string, known: KnownNames): string | undefined {
  return (
    NAMES_ELSEWHERE.get(name) ??
    sourceOf(name, [file], known) ??
    nearest(name, [...known.namesOf(file), ...BUILT_IN_TYPES]) ??
    'declare it, or import it from the file that does: import { … } from "./file"'
  );
}

/** Helps with a missing export. `module`: path of a file without its extension, as the compiler names it. */
function exportHelp(name: string, module: string, known: KnownNames): string | undefined {
  const files = [`${module}.ts`, `${module}/index.ts`];
  if (files.some((file) => known.declaredIn(file).includes(name)))
    return 'write export before its declaration there';
  const elsewhere = sourceOf(name, files, known);
  if (elsewhere !== undefined) return `it is not declared there: ${elsewhere}`;
  const exported = [...known.exported].filter(([, exporting]) =>
    exporting.some((file) => files.includes(file)),
  );
  return (
    nearest(
      name,
      exported.map(([one]) => one),
    ) ?? 'it is not declared there: declare it with export, or import it from the file that does'
  );
}

/** Describes where to import a name from; undefined if nothing exports it. `except`: files that do not count. */
function sourceOf(name: string, except: readonly string[], known: KnownNames): string | undefined {
  if (SDK_NAMES.has(name)) return `add import { ${name} } from "${SDK_PACKAGE}";`;
  const entityFile = known.clients.get(name) ?? known.calls.get(name)?.file;
  if (entityFile !== undefined)
    return `the compiler writes it into the file of its entity: import { ${name} } from that file, ${entityFile}`;
  const exporting = known.exported.get(name)?.find((file) => !except.includes(file));
  return exporting === undefined ? undefined : `import { ${name} } from its file, ${exporting}`;
}

function memberHelp(name: string, type: string, known: KnownNames): string | undefined {
  if (known.calls.get(type)?.queries.includes(name) === true)
    return `'${name}' is a query: what is sent later is a command, which can have an effect`;
  const [first] = known.caseMembers.get(`${type}.${name}`) ?? [];
  if (first !== undefined)
    return `it is a member of '${first}': instanceof does not narrow the type, write (event as ${first}).${name}`;
  const [aCase] = known.cases.get(type) ?? [];
  if (name === 'type' && aCase !== undefined)
    return `ask which case it is: if (event instanceof ${aCase}) { … (event as ${aCase}) … }`;
  const members = known.enums.get(type);
  return members && amongMembers(name, members);
}

/** Names the nearest member; all of them if there are few and none is near. */
function amongMembers(name: string, members: readonly string[]): string | undefined {
  const meant = nearest(name, members);
  if (meant !== undefined || members.length === 0 || members.length > MEMBERS_MAX) return meant;
  const named = members.filter((one) => !one.startsWith('__'));
  return named.length === 0 ? undefined : `it has ${named.join(', ')}`;
}

/** Returns the most similar name; undefined for a name of one or two letters, which would be similar to any name. */
function nearest(name: string, names: readonly string[]): string | undefined {
  if (name.length < 3) return undefined;
  const meant = closest(
    name,
    names.filter((one) => !one.startsWith('__')),
  );
  return meant === undefined || meant === name ? undefined : `did you mean '${meant}'?`;
}
