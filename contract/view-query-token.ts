// ViewQueryToken: the words of a view query's text, with their positions. Splitting reads each character once and uses no
// regular expression on more than one character.

/** `offset`: the position of the token's first character in the text, in UTF-16 code units from 0. */
export type ViewQueryToken = { readonly offset: number } & (
  | { readonly kind: 'name'; readonly text: string; readonly isQuoted: boolean }
  | { readonly kind: 'parameter'; readonly name: string }
  | { readonly kind: 'comparison'; readonly operator: ComparisonOperator }
  /** Characters that have no meaning in a query. */
  | { readonly kind: 'other'; readonly text: string }
  | { readonly kind: 'end' }
);

export type ComparisonOperator = '=' | '<' | '<=' | '>' | '>=';

/** A reason why a query cannot run. */
export interface ViewQueryProblem {
  readonly message: string;
  /** Position in the text, in UTF-16 code units from 0; undefined for a problem of the query as a whole. */
  readonly offset?: number | undefined;
  /** The fields of the index that the query needs, in order, if that is the problem. */
  readonly missingIndex?: readonly string[] | undefined;
}

/** Maximum length of a name, in UTF-16 code units: that of a record's field. */
const NAME_LENGTH_MAX = 200;
const OPERATORS: readonly string[] = ['=', '<', '<=', '>', '>='] satisfies ComparisonOperator[];
const NAME_START = /^[\p{ID_Start}$_]$/u;
const NAME_PART = /^[\p{ID_Continue}$\u200c\u200d]$/u;
const CONTROL = /^\p{Cc}$/u;

/** Splits the text. The last token is `end`. */
export function viewQueryTokens(text: string): readonly ViewQueryToken[] | ViewQueryProblem {
  const tokens: ViewQueryToken[] = [];
  let at = 0;
  while (at < text.length) {
    const character = characterAt(text, at);
    if (' \t\r\n'.includes(character)) {
      at++;
      continue;
    }
    const next = tokenAt(text, at, character);
    if ('message' in next) return next;
    tokens.push(next.token);
    at = next.end;
  }
  return [...tokens, { kind: 'end', offset: text.length }];
}

interface Found<Content> {
  readonly token: Content;
  /** Position after the token. */
  readonly end: number;
}

function tokenAt(
  text: string,
  offset: number,
  character: string,
): Found<ViewQueryToken> | ViewQueryProblem {
  if (character === ':') {
    const name = nameAt(text, offset + 1);
    if ('message' in name) return name;
    return { token: { kind: 'parameter', name: name.token, offset }, end: name.end };
  }
  if (character === '"' || NAME_START.test(character)) {
    const name = nameAt(text, offset);
    if ('message' in name) return name;
    const isQuoted = character === '"';
    return { token: { kind: 'name', text: name.token, isQuoted, offset }, end: name.end };
  }
  let end = offset;
  while ('<>=!'.includes(text[end] ?? ' ')) end++;
  const operator = text.slice(offset, end);
  if (isOperator(operator)) return { token: { kind: 'comparison', operator, offset }, end };
  const other = operator === '' ? character : operator;
  return { token: { kind: 'other', text: other, offset }, end: offset + other.length };
}

function isOperator(text: string): text is ComparisonOperator {
  return OPERATORS.includes(text);
}

/** Reads a name: an identifier, or any text in double quotes, in which two quotes stand for one. */
function nameAt(text: string, offset: number): Found<string> | ViewQueryProblem {
  const name = text[offset] === '"' ? quotedAt(text, offset) : identifierAt(text, offset);
  if ('message' in name || name.token.length <= NAME_LENGTH_MAX) return name;
  return { message: `a name has more than ${NAME_LENGTH_MAX} characters`, offset };
}

function identifierAt(text: string, offset: number): Found<string> | ViewQueryProblem {
  let end = offset;
  for (;;) {
    const character = characterAt(text, end);
    if (!(end === offset ? NAME_START : NAME_PART).test(character)) break;
    end += character.length;
  }
  if (end > offset) return { token: text.slice(offset, end), end };
  return { message: "':' has to be followed by the name of a parameter", offset };
}

function quotedAt(text: string, offset: number): Found<string> | ViewQueryProblem {
  let name = '';
  let at = offset + 1;
  while (at < text.length) {
    const character = text[at]!;
    if (CONTROL.test(character))
      return { message: 'a name in quotes has a control character', offset: at };
    if (character !== '"') {
      name += character;
      at++;
      continue;
    }
    if (text[at + 1] !== '"') {
      if (name === '') return { message: 'a name in quotes is empty', offset };
      return { token: name, end: at + 1 };
    }
    name += '"';
    at += 2;
  }
  return { message: 'the name in quotes has no end', offset };
}

/** Returns the character at a position, which may have two code units; an empty text at the end. */
function characterAt(text: string, offset: number): string {
  const point = text.codePointAt(offset);
  return point === undefined ? '' : String.fromCodePoint(point);
}

/** Returns a name as a query writes it: in quotes if it is no identifier. */
export function writtenName(name: string): string {
  const found = identifierAt(name, 0);
  return 'token' in found && found.token === name ? name : `"${name.replaceAll('"', '""')}"`;
}
