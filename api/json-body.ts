// JsonBody: reads the JSON of a request's body, whatever its media type, more strictly than JSON.parse: a key that is given
// twice, half of a character, and nesting beyond what any body has are problems with their paths. Of a key that is given twice,
// programs on the way may have judged the other value.
//
// Invariant: JSON.parse decides what is JSON, once the levels are counted. The scan reads only text that it has taken, so it needs no grammar of its own:
// outside of strings every brace, bracket, comma and quotation mark means what it looks like. Time and memory are linear.
import { PROBLEMS_BYTES_MAX, type Problem } from '@svc/client';

export type JsonBody =
  | { readonly kind: 'none' }
  | { readonly kind: 'unreadable'; readonly problem: Problem }
  /** `problems`: those of the text; the value may have others. */
  | { readonly kind: 'value'; readonly value: unknown; readonly problems: readonly Problem[] };

/** No body of a request has more than a few levels. */
const DEPTH_MAX = 32;
/** Problems of this size in bytes are cut from the answer anyway. */
const PROBLEMS_MAX = PROBLEMS_BYTES_MAX / 32;
const UTF8 = new TextDecoder('utf-8', { fatal: true });

export function readJsonBody(bytes: Uint8Array): JsonBody {
  if (bytes.byteLength === 0) return { kind: 'none' };
  let text: string;
  try {
    text = UTF8.decode(bytes);
  } catch {
    return unreadable('is not UTF-8');
  }
  if (isTooDeep(text)) return unreadable(`has more than ${DEPTH_MAX} levels`);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return unreadable(`is not JSON: ${onOneLine((error as Error).message)}`);
  }
  return { kind: 'value', value, problems: new JsonScan(text).problems };
}

/** Returns whether a text, which need not be JSON, opens too many braces and brackets outside of strings. */
function isTooDeep(text: string): boolean {
  let depth = 0;
  let isString = false;
  for (let at = 0; at < text.length; at++) {
    const character = text.charAt(at);
    if (character === '"') isString = !isString;
    else if (isString) at += character === '\\' ? 1 : 0;
    else if (character === '{' || character === '[') depth += 1;
    else if (character === '}' || character === ']') depth -= 1;
    if (depth > DEPTH_MAX) return true;
  }
  return false;
}

/** Returns a message of JSON.parse, which quotes a few characters of the text, on one line of ASCII. */
function onOneLine(message: string): string {
  return message.replaceAll(
    /[^\x20-\x7e]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

function unreadable(reason: string): JsonBody {
  return { kind: 'unreadable', problem: { path: '', reason } };
}

/** An object or a list that the scan is in. */
interface Level {
  /** The keys so far; undefined in a list. */
  readonly keys: Set<string> | undefined;
  /** Key or index of the present value. */
  segment: string | number;
  /** Whether the next string is a key. */
  isKeyNext: boolean;
}

class JsonScan {
  readonly problems: Problem[] = [];
  readonly #text: string;
  readonly #levels: Level[] = [];

  constructor(text: string) {
    this.#text = text;
    this.#scan();
  }

  #scan(): void {
    const text = this.#text;
    for (let at = 0; at < text.length && this.problems.length < PROBLEMS_MAX; at++)
      switch (text.charAt(at)) {
        case '{':
          this.#levels.push({ keys: new Set(), segment: '', isKeyNext: true });
          break;
        case '[':
          this.#levels.push({ keys: undefined, segment: 0, isKeyNext: false });
          break;
        case '}':
        case ']':
          this.#levels.pop();
          break;
        case ',':
          this.#next();
          break;
        case '"': {
          const end = endOfString(text, at);
          this.#string(text.slice(at, end));
          at = end - 1;
        }
      }
  }

  #next(): void {
    const level = this.#levels.at(-1);
    if (level.keys !== undefined) level.isKeyNext = true;
    else level.segment = Number(level.segment) + 1;
  }

  /** `token`: the string with its quotation marks. */
  #string(token: string): void {
    const value = token.includes('\\') ? (JSON.parse(token) as string) : token.slice(1, -1);
    const level = this.#levels.at(-1);
    if (level?.isKeyNext) {
      level.isKeyNext = false;
      level.segment = value.toWellFormed();
      if (level.keys!.has(value)) this.#add('is given twice');
      level.keys!.add(value);
    }
    if (!value.isWellFormed()) this.#add('has half of a character: a surrogate without the other');
  }

  #add(reason: string): void {
    const path = this.#levels
      .map(({ segment }) => `/${String(segment).replaceAll('~', '~0').replaceAll('/', '~1')}`)
      .join('');
    this.problems.push({ path, reason });
  }
}

/** Returns the position after the string that begins at a quotation mark. */
function endOfString(text: string, start: number): number {
  let at = start + 1;
  while (text[at] !== '"') at += text[at] === '\\' ? 2 : 1;
  return at + 1;
}
