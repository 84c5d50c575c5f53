// Transcript: a conversation between a runtime and a process, as a text that people read.
//
//   # A comment. The first one is the name of the test.
//   > {"ping":{"number":1}}       the runtime sends a message with this frame; a list is a message of several frames
//   < {"pong":{"number":1}}       the process sends this frame next; a list: these frames, in any order
//   [greet]                       the runtime sends `hello` of version 1 with usual windows, and the process `welcome`
//   [quiet]                       the process answers a ping, and sends nothing else before
//   [credit]                      the runtime credits everything that it has received
//   [bytes HEX]                   the runtime sends these bytes, which need not be a message
//   [late answer to CALL]         the process may answer this call, or not
//   [whatever]                    the process ends the stream, or answers a ping, whatever it sends besides
//   [ended]                       the process ends the stream
//   [stream NAME]                 what follows is of this stream, which is opened if there is none of the name
//
// A line that begins with a space continues the one before. Frames are JSON by the names of the .proto; fields at their defaults are left out. In place of a
// value there may be:
//
//   "$name"                the first time: whatever is there, which is known by the name from then on; later: the same once more
//   "*"                    whatever is there; "?": whatever is there, or nothing
//   {"$json": VALUE}       the text of this JSON, whatever its blanks and the order of its keys
//   {"$has": TEXT}         a text with this part
//   {"$bytes": TEXT}       bytes: those of this text
//   {"$repeated": [TEXT, COUNT]}   the text so many times
//   {"$route": "GET /tallies/{id}"}   sent only: the index of this route in the descriptor
import type { Json, JsonObject } from './frame-text.ts';

export type Step =
  | { readonly kind: 'send'; readonly line: number; readonly frames: readonly JsonObject[] }
  | { readonly kind: 'expect'; readonly line: number; readonly frames: readonly JsonObject[] }
  | { readonly kind: 'do'; readonly line: number; readonly words: readonly string[] };

export interface Transcript {
  readonly name: string;
  readonly steps: readonly Step[];
}

/** Throws for a line that is none of a transcript. */
export function transcriptOf(text: string): Transcript {
  const steps: Step[] = [];
  let name = '';
  const lines = text.split('\n');
  for (let index = 0; index < lines.length; index++) {
    const line = index + 1;
    let content = lines[index]!;
    while (lines[index + 1]?.startsWith(' ') === true) content += lines[++index]!;
    if (content.startsWith('#')) name ||= content.slice(1).trim();
    else if (content.startsWith('['))
      steps.push({ kind: 'do', line, words: content.slice(1, -1).split(' ') });
    else if (content.startsWith('> ') || content.startsWith('< ')) {
      const json = JSON.parse(content.slice(2)) as JsonObject | readonly JsonObject[];
      const frames = Array.isArray(json) ? (json as readonly JsonObject[]) : [json as JsonObject];
      steps.push({ kind: content.startsWith('>') ? 'send' : 'expect', line, frames });
    } else if (content !== '') throw new Error(`line ${line} is none of a transcript: ${content}`);
  }
  return { name, steps };
}

/** The values that a transcript has given names. */
export type Names = Map<string, Json>;

/** Returns the value to send. `routes`: routes of the descriptor, as `METHOD PATH`. */
export function sentValue(value: Json, names: Names, routes: readonly string[]): Json {
  if (typeof value === 'string' && value.startsWith('$')) {
    const known = names.get(value);
    if (known === undefined) throw new Error(`nothing is known by the name ${value}`);
    return known;
  }
  if (Array.isArray(value))
    return (value as readonly Json[]).map((one) => sentValue(one, names, routes));
  if (typeof value !== 'object' || value === null) return value;
  const { $json, $bytes, $repeated, $route } = value as JsonObject;
  if ($json !== undefined) return JSON.stringify(sentValue($json, names, routes));
  if ($bytes !== undefined) return Buffer.from($bytes as string).toString('base64');
  if ($repeated !== undefined) return repeated($repeated);
  if ($route !== undefined) return indexOf($route as string, routes);
  return Object.fromEntries(
    Object.entries(value).map(([name, child]) => [name, sentValue(child as Json, names, routes)]),
  );
}

function indexOf(route: string, routes: readonly string[]): number {
  const index = routes.indexOf(route);
  if (index < 0) throw new Error(`the process has no route '${route}', but ${routes.join(', ')}`);
  return index;
}

function repeated(parts: Json): string {
  const [text, count] = parts as readonly [string, number];
  return text.repeat(count);
}

/** Returns whether the value is the expected one, and adds to the names what it has named. */
export function isExpected(value: Json | undefined, expected: Json, names: Names): boolean {
  if (expected === '?') return true;
  if (value === undefined) return false;
  if (expected === '*') return true;
  if (typeof expected === 'string' && expected.startsWith('$')) {
    const known = names.get(expected);
    if (known === undefined) names.set(expected, value);
    return known === undefined || known === value;
  }
  if (Array.isArray(expected)) {
    const [values, list] = [value as readonly Json[], expected as readonly Json[]];
    if (!Array.isArray(values) || values.length !== list.length) return false;
    return list.every((one, index) => isExpected(values[index], one, names));
  }
  if (typeof expected !== 'object' || expected === null) return value === expected;
  const { $json, $has, $bytes, $repeated } = expected as JsonObject;
  if ($json !== undefined) return isExpected(parsed(value), $json, names);
  if ($has !== undefined) return typeof value === 'string' && value.includes($has as string);
  if ($bytes !== undefined) return value === Buffer.from($bytes as string).toString('base64');
  if ($repeated !== undefined) return value === repeated($repeated);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const keys = new Set([...Object.keys(value), ...Object.keys(expected)]);
  return [...keys].every((key) => {
    const wanted = (expected as JsonObject)[key];
    return wanted !== undefined && isExpected((value as JsonObject)[key], wanted, names);
  });
}

function parsed(text: Json): Json | undefined {
  try {
    return JSON.parse(text as string) as Json;
  } catch {
    return undefined;
  }
}
