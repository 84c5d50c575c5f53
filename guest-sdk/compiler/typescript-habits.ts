// TypescriptHabits: what to write instead of TypeScript that AssemblyScript does not accept, found by AssemblyScript's
// message. docs/reference/from-typescript.md has an example of each, and a test compiles that page.
import { NO_WAITING, NO_UNDEFINED, SYNTAX_HABITS } from './syntax-habits.ts';
import { TYPE_HABITS } from './type-habits.ts';

/** A message, and the text of its line before and after its column. */
export interface MessageInLine {
  readonly code: number;
  /** The message with the names that an author knows. */
  readonly message: string;
  readonly before: string;
  readonly after: string;
}

const SDK_RULES: readonly (readonly [message: RegExp, help: string])[] = [
  [/has no JSON form$/, 'give it a @data class, an array, a Map<string, T>, a string or a number'],
];

/** Returns what to write instead; undefined if no rule matches the message. */
export function habitHelp({ code, message, before, after }: MessageInLine): string | undefined {
  const sdkRule = SDK_RULES.find(([text]) => text.test(message));
  if (sdkRule !== undefined) return sdkRule[1];
  return [...SYNTAX_HABITS, ...TYPE_HABITS].find(
    (rule) =>
      rule.code === code &&
      (rule.message?.test(message) ?? true) &&
      (rule.before?.test(before) ?? true) &&
      (rule.after?.test(after) ?? true) &&
      (rule.line?.test(before + after) ?? true),
  )?.help;
}

const NO_NETWORK =
  'a module has no network: what it needs comes with the request or from an entity';
const NO_TIMERS =
  'a module runs while it is called; to do something later, set a timer: this.persist(event).thenSetTimer("expire", Due.after(900_000), OrderCall.expire(id))';
const NO_COMPUTED_TYPES = 'types cannot be computed: write a class with the fields';

/** Names that JavaScript or TypeScript programs have, but modules do not have → what to use instead. */
export const NAMES_ELSEWHERE: ReadonlyMap<string, string> = new Map([
  ...['fetch', 'XMLHttpRequest', 'WebSocket', 'EventSource'].map(
    (name) => [name, NO_NETWORK] as const,
  ),
  ...['setTimeout', 'setInterval', 'setImmediate', 'queueMicrotask'].map(
    (name) => [name, NO_TIMERS] as const,
  ),
  ...['Partial', 'Readonly', 'Pick', 'Omit', 'Required', 'NonNullable'].map(
    (name) => [name, NO_COMPUTED_TYPES] as const,
  ),
  ['Promise', NO_WAITING],
  ['JSON', 'a @data class is read and written as JSON by itself'],
  ['Buffer', 'use Uint8Array'],
  ['require', 'use import at the top of the file; there are no npm packages of Node in a module'],
  ['number', 'use f64, or an integer: i32, i64, u32, u64'],
  ['bigint', 'use i64 or u64'],
  ['any', 'write the type: a @data class, or a sum type of @variant classes'],
  ['unknown', 'write the type: a @data class, or a sum type of @variant classes'],
  ['object', 'write the type: a @data class'],
  ['never', 'write the type that the function would return, or void'],
  ['undefined', NO_UNDEFINED],
  ['delete', 'give the field another value, null or ""; a Map has map.delete(key)'],
  ['Record', 'use Map<string, T>: new Map<string, i32>()'],
  ['ReadonlyArray', 'use T[]'],
  ['structuredClone', 'each @data class has clone(): const copy = state.clone()'],
]);
