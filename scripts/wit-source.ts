// WitSource: parses a WIT file for its reference page: interfaces, functions and types, each with the comment before
// it. It supports only the part of WIT that wit/runtime.wit uses, and does not check that a file is valid WIT.

export interface WitItem {
  readonly name: string;
  /** Source text of the declaration, on one line. */
  readonly form: string;
  readonly comment: string;
  /** Members of a record, a variant or an enum; empty for any other declaration. */
  readonly members: readonly WitItem[];
}

export interface WitInterface {
  readonly name: string;
  readonly comment: string;
  /** Functions, and methods of resources as `RESOURCE.METHOD`. */
  readonly functions: readonly WitItem[];
  readonly types: readonly WitItem[];
}

export type Direction = 'import' | 'export';

export interface WitWorld {
  readonly name: string;
  readonly comment: string;
  /** Its imports, exports, and the worlds that it includes. */
  readonly members: readonly WitItem[];
}

export interface WitPackage {
  readonly name: string;
  readonly comment: string;
  readonly interfaces: readonly WitInterface[];
  readonly worlds: readonly WitWorld[];
  /** Name of an interface → whether a world imports or exports it. */
  readonly directions: ReadonlyMap<string, Direction>;
}

type Token =
  | { readonly kind: 'comment'; readonly text: string }
  /** A statement, a member of a block, the head of a block, or `}`, without the character that ends it. */
  | { readonly kind: 'code'; readonly text: string; readonly end: ';' | '{' | '}' | ',' };

export function readWit(text: string): WitPackage {
  const reader = new WitReader(tokensOf(text));
  return reader.package();
}

/** Splits the text into comment lines and code. Commas and semicolons within brackets do not end a statement. */
function tokensOf(text: string): readonly Token[] {
  const tokens: Token[] = [];
  let code = '';
  let depth = 0;
  for (const line of text.split('\n')) {
    const comment = /^\s*\/\/\/ ?(.*)$/.exec(line);
    if (comment !== null) {
      tokens.push({ kind: 'comment', text: comment[1]! });
      continue;
    }
    for (const character of line.replace(/\/\/.*$/, '')) {
      const isUse = /^\s*use\b/.test(code);
      if ('(<'.includes(character)) depth++;
      if (character === ')' || (character === '>' && !code.endsWith('-'))) depth--;
      const isEnd = depth === 0 && (isUse ? character === ';' : ';{},'.includes(character));
      if (!isEnd) {
        code += character;
        continue;
      }
      const before = code.trim().replaceAll(/\s+/g, ' ');
      code = '';
      // The last member of a record may have no comma after it.
      if (character === '}' && before !== '') tokens.push({ kind: 'code', text: before, end: ',' });
      if (before === '' && character !== '}') continue;
      tokens.push({
        kind: 'code',
        text: character === '}' ? '' : before,
        end: character as ';' | '{' | '}' | ',',
      });
    }
    code += ' ';
  }
  return tokens;
}

class WitReader {
  readonly #tokens: readonly Token[];
  #at = 0;

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens;
  }

  package(): WitPackage {
    const comment = this.#comment();
    const name = /^package (\S+)$/.exec(this.#code().text)?.[1];
    if (name === undefined) throw new Error('a WIT file begins with its package');
    const interfaces: WitInterface[] = [];
    const worlds: WitWorld[] = [];
    while (this.#at < this.#tokens.length) {
      const about = this.#comment();
      const [kind, called] = this.#code().text.split(' ');
      if (kind === 'interface') interfaces.push(this.#interface(called!, about));
      else if (kind === 'world')
        worlds.push({ name: called!, comment: about, members: this.#members() });
      else throw new Error(`the reference does not know '${kind} ${called}'`);
    }
    return { name, comment, interfaces, worlds, directions: directionsIn(worlds) };
  }

  #interface(name: string, comment: string): WitInterface {
    const functions: WitItem[] = [];
    const types: WitItem[] = [];
    for (;;) {
      const about = this.#comment();
      const { text, end } = this.#code();
      if (end === '}') return { name, comment, functions, types };
      if (text.startsWith('use ')) continue;
      if (end === '{') {
        const [kind, called] = text.split(' ') as [string, string];
        const members = this.#members();
        if (kind === 'resource')
          functions.push(
            ...members.map((one) => ({ ...one, form: `${called}.${one.form}`, members: [] })),
          );
        else types.push({ name: called, form: text, comment: about, members });
      } else {
        const item = itemOf(text, about);
        (text.startsWith('type ') ? types : functions).push(item);
      }
    }
  }

  /** Reads the members up to the end of the block. */
  #members(): readonly WitItem[] {
    const members: WitItem[] = [];
    for (;;) {
      const about = this.#comment();
      const { text, end } = this.#code();
      if (end === '}') return members;
      members.push(itemOf(text, about));
    }
  }

  /** Reads the comment lines before the next code; empty if there are none. */
  #comment(): string {
    const lines: string[] = [];
    for (let token = this.#tokens[this.#at]; token?.kind === 'comment';) {
      lines.push(token.text);
      token = this.#tokens[++this.#at];
    }
    return lines.join('\n');
  }

  /** Reads the next code. Throws at a comment or at the end of the file. */
  #code(): Extract<Token, { kind: 'code' }> {
    const token = this.#tokens[this.#at++];
    if (token?.kind !== 'code') throw new Error('the WIT file ends too early');
    return token;
  }
}

function directionsIn(worlds: readonly WitWorld[]): ReadonlyMap<string, Direction> {
  const directions = new Map<string, Direction>();
  for (const { members } of worlds)
    for (const { form } of members) {
      const [direction, name] = form.split(' ') as [Direction | 'include', string];
      if (direction !== 'include') directions.set(name, direction);
    }
  return directions;
}

/** Parses `name: type`, `name(type)`, `type name = …`, or in a world `import name` and `include name`. Has no members. */
function itemOf(text: string, comment: string): WitItem {
  const name = /^(?:type )?([a-z0-9-]+)/.exec(text)?.[1];
  if (name === undefined) throw new Error(`the reference does not know '${text}'`);
  const form = text
    .replace(/: func(?=\()/, '')
    .replaceAll(/\( /g, '(')
    .replaceAll(/,? \)/g, ')');
  return { name, form, comment, members: [] };
}
