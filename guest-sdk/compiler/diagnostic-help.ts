// What to do about messages of AssemblyScript's own that TypeScript's habits or a forgotten import
// lead to. A message that is not known here stands for itself.
import { SDK_PACKAGE } from './syntax.ts';

/** Diagnostic codes of AssemblyScript. */
const CANNOT_FIND_NAME = 2304;
const NOT_IMPLEMENTED = 100;
const NOT_NULLABLE = 204;
const NO_OPTIONAL_MEMBERS = 219;
const PUNCTUATION_EXPECTED = 1005;
const EXPRESSION_EXPECTED = 1109;
const TYPE_EXPECTED = 1110;
const TYPE_ARGUMENT_EXPECTED = 1140;
const NOT_EXPORTED = 2305;
const NOT_ASSIGNABLE = 2322;
const TYPE_ARGUMENT_COUNT = 2558;
const NO_SUCH_MEMBER = 2339;
const NO_INITIALIZER = 2564;
const FILE_NOT_FOUND = 6054;
/** Said where a word means nothing to the language. */
const SYNTAX: ReadonlySet<number> = new Set([
  PUNCTUATION_EXPECTED,
  EXPRESSION_EXPECTED,
  TYPE_EXPECTED,
]);

const SDK_NAMES: ReadonlySet<string> = new Set([
  'Change',
  'Code',
  'Context',
  'Done',
  'Effect',
  'EntityClient',
  'EventSourcedEntity',
  'Header',
  'RecordedEvent',
  'Refusal',
  'Request',
  'Response',
  'Result',
  'ok',
  'refuse',
  'register',
  'toJson',
]);
const NO_NETWORK =
  'a module has no network: what it needs comes with the request or from an entity';
const NO_TIMERS = 'a module has no timers: it runs while it is called, and computes';
const NO_WAITING =
  'calls of entities answer at once: use the Result that they give, without async, await and Promise';
const ELSEWHERE: ReadonlyMap<string, string> = new Map([
  ...['fetch', 'XMLHttpRequest', 'WebSocket', 'EventSource'].map(
    (name) => [name, NO_NETWORK] as const,
  ),
  ...['setTimeout', 'setInterval', 'setImmediate', 'queueMicrotask'].map(
    (name) => [name, NO_TIMERS] as const,
  ),
  ['Promise', NO_WAITING],
  ['JSON', 'a @data class is read and written as JSON by itself'],
  ['Buffer', 'use Uint8Array'],
  ['require', 'use import at the top of the file; there are no npm packages of Node in a module'],
  ['number', 'use f64, or an integer: i32, i64, u32, u64'],
  ['bigint', 'use i64 or u64'],
  ['any', 'write the type: a @data class, or a sum type of @variant classes'],
  ['object', 'write the type: a @data class'],
  ['structuredClone', 'copy the fields: `const copy: State = { n: state.n }`'],
]);

const BY_CODE: ReadonlyMap<number, string> = new Map([
  [
    TYPE_EXPECTED,
    'write the type, name: i32 = 1, get(id: string): Done: only those of variables follow by themselves',
  ],
  [TYPE_ARGUMENT_EXPECTED, 'write it out: this.refuse<Reply>("…"), refuse<Reply>("…")'],
  [
    NOT_NULLABLE,
    'only classes can be null: use an array of none or one, a class with the one field, or a member None of the enum',
  ],
  [NOT_EXPORTED, 'write export before its declaration there'],
  [NO_OPTIONAL_MEMBERS, '@optional name: string = "", or name: string | null = null'],
  [
    NO_INITIALIZER,
    'write a value: name: string = "", list: Item[] = [], place: Place = new Place()',
  ],
]);
/** What AssemblyScript says it has not, by what its message names. */
const NOT_THERE: readonly (readonly [what: string, help: string])[] = [
  [
    'Closures',
    'a function sees its parameters and what stands at the top level: hand over what it needs, or write a loop',
  ],
  [
    'union types',
    'a class may be T | null; else write an abstract @data class with a @variant class for each case, or a @data enum for a choice of names',
  ],
  ['Exceptions', 'there is nothing to catch: what can fail gives a Result; a throw ends the call'],
  ['Iterators', 'for (let i = 0; i < list.length; i++) { … list[i] … }'],
];

/** Names without the files that they stand in, which the compiler has in front of them. */
export function readable(message: string): string {
  const names = message
    .replaceAll('~lib/string/String', 'string')
    .replaceAll(/~lib\/(?:[@\w.-]+\/)+(?=[A-Z]\w*)/g, '');
  // What these name is a file.
  if (/^(?:File|Module) '/.test(message)) return names.replace("'~lib/", "'");
  return names
    .replaceAll(/(?<=['(<,: |]|=> )(?:[\w.@-]+\/)+(?=[A-Za-z_$])/g, '')
    .replaceAll(/(?<=\w)#(?=\w)/g, '.');
}

/** What the build knows of the user's names. */
export interface KnownNames {
  /** The clients that the compiler writes → the files that it writes them into. */
  readonly clients: ReadonlyMap<string, string>;
  /** `Event.amount` → the cases of `Event` that have the field. */
  readonly caseFields: ReadonlyMap<string, readonly string[]>;
}

/** `sourceLine`: the line that the message is about. */
export function diagnosticHelp(
  { code, message }: { readonly code: number; readonly message: string },
  sourceLine: string,
  known: KnownNames,
): string | undefined {
  if (SYNTAX.has(code) && /\b(?:async|await)\b/.test(sourceLine)) return NO_WAITING;
  const [, name = '', type = ''] = /'([^']+)'(?:[^']+'([^']+)')?/.exec(message) ?? [];
  switch (code) {
    case CANNOT_FIND_NAME: {
      if (SDK_NAMES.has(name)) return `add import { ${name} } from "${SDK_PACKAGE}";`;
      const file = known.clients.get(name);
      return file === undefined
        ? ELSEWHERE.get(name)
        : `the compiler writes it into the file of its entity: import { ${name} } from that file, ${file}`;
    }
    case NO_SUCH_MEMBER: {
      const [first] = known.caseFields.get(`${readable(`'${type}'`).slice(1, -1)}.${name}`) ?? [];
      return first === undefined
        ? undefined
        : `it is a field of '${first}': instanceof does not narrow the type, write (event as ${first}).${name}`;
    }
    case FILE_NOT_FOUND:
      if (/\.ts["']/.test(sourceLine)) return 'leave the ending away: import … from "./file"';
      return name.startsWith('~lib/')
        ? `a module imports "${SDK_PACKAGE}", its own files as "./file", and packages of AssemblyScript that are installed`
        : undefined;
    case NOT_ASSIGNABLE: {
      const [, given, wanted] =
        /^Type 'Effect<(.+)>' is .* type 'Effect<(.+)>'/.exec(readable(message)) ?? [];
      return wanted === undefined
        ? undefined
        : `it replies ${given}: declare the command as Effect<${given}>, or reply with ${wanted}`;
    }
    case TYPE_ARGUMENT_COUNT:
      return sourceLine.includes('Change<') ? 'Change<State, Event> has both types' : undefined;
    case TYPE_ARGUMENT_EXPECTED:
      return sourceLine.includes('thenReplyFrom')
        ? 'thenReplyFrom is called in the class of the entity, with one of its methods: thenReplyFrom(this.summary)'
        : BY_CODE.get(code);
    case NOT_IMPLEMENTED:
      return NOT_THERE.find(([what]) => message.includes(what))?.[1];
    default:
      return BY_CODE.get(code);
  }
}
