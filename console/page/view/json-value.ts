// JsonValue: a parser and printer of JSON for display and for forms. Numbers keep the text in which they are written,
// so that the displayed value equals the stored one, and keys keep their order. The functions are pure.

export type JsonValue =
  | { readonly kind: 'object'; readonly entries: readonly (readonly [string, JsonValue])[] }
  | { readonly kind: 'array'; readonly items: readonly JsonValue[] }
  | { readonly kind: 'string'; readonly value: string }
  /** The number as it is written. */
  | { readonly kind: 'number'; readonly text: string }
  | { readonly kind: 'literal'; readonly text: 'true' | 'false' | 'null' };

export type JsonReading =
  | { readonly ok: true; readonly value: JsonValue }
  | { readonly ok: false; readonly problem: string; readonly at: number };

const DEPTH_MAX = 256;
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const STRING =
  // oxlint-disable-next-line no-control-regex -- JSON forbids them in a string
  /"[^"\\\u0000-\u001f]*(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\u0000-\u001f]*)*"/y;
const SPACE = /[ \t\n\r]*/y;
const LITERAL = /true|false|null/y;

export function readJson(text: string): JsonReading {
  const reader = new Reader(text);
  try {
    const value = reader.value(0);
    reader.end();
    return { ok: true, value };
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error;
    return { ok: false, problem: error.message, at: error.at };
  }
}

class Unreadable extends Error {
  readonly at: number;

  constructor(message: string, at: number) {
    super(message);
    this.at = at;
  }
}

class Reader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
    this.#take(SPACE);
  }

  value(depth: number): JsonValue {
    if (depth > DEPTH_MAX) throw this.#problem(`deeper than ${DEPTH_MAX}`);
    switch (this.#text[this.#at]) {
      case '{':
        return { kind: 'object', entries: this.#entries(depth) };
      case '[':
        return { kind: 'array', items: this.#items(depth) };
      case '"':
        return { kind: 'string', value: this.#string() };
      case undefined:
      default: {
        const literal = this.#token(LITERAL);
        if (literal !== undefined)
          return { kind: 'literal', text: literal as 'true' | 'false' | 'null' };
        const number = this.#token(NUMBER);
        if (number === undefined) throw this.#problem('a value is expected');
        return { kind: 'number', text: number };
      }
    }
  }

  end(): void {
    if (this.#at < this.#text.length) throw this.#problem('nothing more is expected');
  }

  #entries(depth: number): [string, JsonValue][] {
    const entries: [string, JsonValue][] = [];
    this.#skip('{');
    if (this.#skip('}')) return entries;
    do {
      const key = this.#string();
      if (!this.#skip(':')) throw this.#problem("':' is expected");
      entries.push([key, this.value(depth + 1)]);
    } while (this.#skip(','));
    if (!this.#skip('}')) throw this.#problem("',' or '}' is expected");
    return entries;
  }

  #items(depth: number): JsonValue[] {
    const items: JsonValue[] = [];
    this.#skip('[');
    if (this.#skip(']')) return items;
    do items.push(this.value(depth + 1));
    while (this.#skip(','));
    if (!this.#skip(']')) throw this.#problem("',' or ']' is expected");
    return items;
  }

  #string(): string {
    const token = this.#token(STRING);
    if (token === undefined) throw this.#problem('a text in double quotes is expected');
    return JSON.parse(token) as string;
  }

  #skip(sign: string): boolean {
    if (this.#text[this.#at] !== sign) return false;
    this.#at++;
    this.#take(SPACE);
    return true;
  }

  #token(pattern: RegExp): string | undefined {
    const token = this.#take(pattern);
    if (token !== undefined) this.#take(SPACE);
    return token;
  }

  #take(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text)?.[0];
    if (found !== undefined) this.#at += found.length;
    return found;
  }

  #problem(message: string): Unreadable {
    const line = this.#text.slice(0, this.#at).split('\n');
    return new Unreadable(
      `line ${line.length}, column ${line.at(-1)!.length + 1}: ${message}`,
      this.#at,
    );
  }
}

/** Returns the value as JSON text; with `indent` on several lines. */
export function jsonText(value: JsonValue, indent = '', margin = ''): string {
  const inner = margin + indent;
  const lines = (open: string, parts: readonly string[], close: string) => {
    if (parts.length === 0) return open + close;
    if (indent === '') return open + parts.join(',') + close;
    return `${open}\n${parts.map((part) => inner + part).join(',\n')}\n${margin}${close}`;
  };
  switch (value.kind) {
    case 'object':
      return lines(
        '{',
        value.entries.map(
          ([key, item]) =>
            `${JSON.stringify(key)}:${indent === '' ? '' : ' '}${jsonText(item, indent, inner)}`,
        ),
        '}',
      );
    case 'array':
      return lines(
        '[',
        value.items.map((item) => jsonText(item, indent, inner)),
        ']',
      );
    case 'string':
      return JSON.stringify(value.value);
    case 'number':
    case 'literal':
    default:
      return value.text;
  }
}

/** Returns the value on one line, shortened, as the label of a collapsed node. */
export function jsonGist(value: JsonValue, lengthMax = 60): string {
  const text = gist(value, lengthMax);
  return text.length > lengthMax ? `${text.slice(0, lengthMax)}…` : text;
}

/** Returns the value on one line; of a large value, only the first members, and of a long string the beginning. */
function gist(value: JsonValue, lengthMax: number): string {
  if (value.kind === 'object') {
    const first = value.entries.slice(0, lengthMax / 8);
    return `{${first.map(([key, item]) => `${key}: ${leaf(item)}`).join(', ')}}`;
  }
  if (value.kind === 'array')
    return `[${value.items
      .slice(0, lengthMax / 4)
      .map(leaf)
      .join(', ')}]`;
  return leaf(value);
}

function leaf(value: JsonValue): string {
  if (value.kind === 'object') return value.entries.length === 0 ? '{}' : '{…}';
  if (value.kind === 'array') return value.items.length === 0 ? '[]' : `[${value.items.length}]`;
  return value.kind === 'string' ? JSON.stringify(value.value.slice(0, 40)) : value.text;
}

/** Returns the path of a member within a state, in the form that `pathOfChange` returns. */
export function pathWithin(path: string, key: string | number): string {
  if (typeof key === 'number') return `${path}[${key}]`;
  if (!/^[\p{L}_$][\p{L}\p{N}_$-]*$/u.test(key)) return `${path}[${JSON.stringify(key)}]`;
  return path === '' ? key : `${path}.${key}`;
}
