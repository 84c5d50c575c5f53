// What to do about messages of AssemblyScript's own that TypeScript's habits or a forgotten import
// lead to. A message that is not known here stands for itself.
import { SDK_PACKAGE } from './syntax.ts';

/** Diagnostic codes of AssemblyScript. */
const CANNOT_FIND_NAME = 2304;
const NOT_IMPLEMENTED = 100;

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
]);
const NO_NETWORK =
  'a module has no network: what it needs comes with the request or from an entity';
const NO_TIMERS = 'a module has no timers: it runs while it is called, and computes';
const ELSEWHERE: ReadonlyMap<string, string> = new Map([
  ...['fetch', 'XMLHttpRequest', 'WebSocket', 'EventSource'].map(
    (name) => [name, NO_NETWORK] as const,
  ),
  ...['setTimeout', 'setInterval', 'setImmediate', 'queueMicrotask'].map(
    (name) => [name, NO_TIMERS] as const,
  ),
  ['Promise', 'calls of entities answer at once: use the Result that they give'],
  ['JSON', 'a @data class is read and written as JSON by itself'],
  ['Buffer', 'use Uint8Array'],
  ['require', 'use import at the top of the file; there are no npm packages of Node in a module'],
  ['number', 'use f64, or an integer: i32, i64, u32, u64'],
  ['bigint', 'use i64 or u64'],
  ['any', 'write the type: a @data class, or a sum type of @variant classes'],
  ['object', 'write the type: a @data class'],
  ['structuredClone', 'copy the fields: `const copy: State = { n: state.n }`'],
]);

/** The names of the library's types without their files, as they are written. */
export function readable(message: string): string {
  return message
    .replaceAll('~lib/string/String', 'string')
    .replaceAll(/~lib\/(?:[@\w.-]+\/)+(?=[A-Z]\w*)/g, '');
}

export function diagnosticHelp(
  code: number,
  message: string,
  clients: ReadonlyMap<string, string>,
): string | undefined {
  if (code === CANNOT_FIND_NAME) {
    const name = /'([^']+)'/.exec(message)?.[1] ?? '';
    if (SDK_NAMES.has(name)) return `add import { ${name} } from "${SDK_PACKAGE}";`;
    const file = clients.get(name);
    if (file !== undefined)
      return `the compiler writes it into the file of its entity: import { ${name} } from that file, ${file}`;
    return ELSEWHERE.get(name);
  }
  if (code === NOT_IMPLEMENTED && message.includes('Closures'))
    return 'a function sees its parameters and what stands at the top level: hand over what it needs, or write a loop';
  return undefined;
}
