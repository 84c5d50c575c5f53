// The rules for the words of a source: doc comments that begin without a subject, and retired words in comments and
// identifiers. Literals and JSON_MEMBERS are not checked, because names of columns and of JSON members belong to formats.
// The functions are pure.
import { parseSync } from 'oxc-parser';
import {
  COMMENT_WORDS,
  FRAGMENTS,
  IDENTIFIER_WORDS,
  JSON_MEMBERS,
  type RetiredWord,
} from './retired-words.ts';

interface SyntaxNode {
  readonly type: string;
  readonly start: number;
  readonly name?: unknown;
  readonly key?: unknown;
  readonly property?: unknown;
  readonly computed?: unknown;
}

/** A line `file:line: found; use instead` for each retired word, and for each comment without a subject. */
export function retiredWords(file: string, text: string): string[] {
  const { program, comments } = parseSync(file, text);
  const found: { readonly at: number; readonly what: string; readonly instead: string }[] = [];
  const look = (at: number, value: string, words: readonly RetiredWord[]): void => {
    for (const { word, instead } of words) {
      const match = word.exec(value);
      if (match !== null) found.push({ at: at + match.index, what: match[0], instead });
    }
  };
  for (const { type, value, start } of comments) {
    if (type === 'Block') look(start, value.replace(/^[\s*]+/, ''), FRAGMENTS);
    look(start, value, COMMENT_WORDS);
  }
  for (const { start, name } of identifiersIn(program)) look(start, name, IDENTIFIER_WORDS);
  return found
    .map(({ at, what, instead }) => ({ line: text.slice(0, at).split('\n').length, what, instead }))
    .toSorted((one, other) => one.line - other.line)
    .map(({ line, what, instead }) => `${file}:${line}: '${what}'; use ${instead}`);
}

/** Whether the rules apply to a file. Examples have the words of their own domains: a waiting list has places. */
export function isHeldToWords(file: string): boolean {
  return !file.startsWith('examples/');
}

function* identifiersIn(
  node: unknown,
): Generator<{ readonly start: number; readonly name: string }> {
  if (typeof node !== 'object' || node === null) return;
  const { type, start, name } = node as Partial<SyntaxNode>;
  if (start !== undefined && typeof name === 'string') {
    if (type === 'Identifier') yield { start, name };
    if (type === 'PrivateIdentifier') yield { start, name: `#${name}` };
  }
  for (const child of Object.values(node))
    if (!isJsonMember(node, child)) yield* identifiersIn(child);
}

/** Whether the child is the name of a property that the contract names. */
function isJsonMember(parent: Partial<SyntaxNode>, child: unknown): boolean {
  const { key, property, computed } = parent;
  if (computed === true || (child !== key && child !== property)) return false;
  return JSON_MEMBERS.has(String((child as Partial<SyntaxNode> | undefined)?.name));
}
