// SourcePattern: a piece of TypeScript or AssemblyScript that is compared with a source by its syntax tree. White
// space, comments, line breaks, quotes, parentheses and trailing commas do not matter. `_` matches any expression or
// statement, `..._` at the end of a list matches what is left of it.
import { parseSync } from 'oxc-parser';

export interface SyntaxNode {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [field: string]: unknown;
}

/** One node, or statements that follow one another. */
export interface SourcePattern {
  readonly kind: 'expression' | 'statements' | 'element';
  readonly nodes: readonly SyntaxNode[];
}

/** Where a pattern matches: the first and the last character behind it, in UTF-16 units. */
export interface SourceRange {
  readonly start: number;
  readonly end: number;
}

const IGNORED_FIELDS = new Set(['type', 'start', 'end', 'raw', 'parent']);

/** Parses a source file. Throws when it has a syntax error. */
export function parseSource(file: string, source: string): SyntaxNode {
  const { program, errors } = parseSync(file, source, { preserveParens: false });
  if (errors.length > 0) throw new Error(`${file} does not parse: ${errors[0]!.message}`);
  return program as unknown as SyntaxNode;
}

/** Undefined: the text is neither an expression nor statements, a property or a `case`. */
export function parsePattern(text: string): SourcePattern | undefined {
  if (text.trim() === '') return undefined;
  const expression = bodyOf(`(${text}\n)`);
  if (expression?.length === 1 && expression[0]!.type === 'ExpressionStatement')
    return { kind: 'expression', nodes: [expression[0]!['expression'] as SyntaxNode] };
  // Before the statements: `a: 1` could be a statement with a label too.
  const property = propertyOf(text);
  if (property !== undefined) return { kind: 'element', nodes: [property] };
  const statements = bodyOf(text);
  if (statements !== undefined && statements.length > 0)
    return { kind: 'statements', nodes: statements };
  const element = caseOf(text);
  return element === undefined ? undefined : { kind: 'element', nodes: element };
}

/** Finds each place in the tree where the pattern matches. */
export function findPattern(tree: SyntaxNode, pattern: SourcePattern): readonly SourceRange[] {
  const found = new Map<string, SourceRange>();
  const add = (start: number, end: number) => found.set(`${start} ${end}`, { start, end });
  const { nodes } = pattern;
  visit(tree, (value) => {
    if (isNode(value)) {
      if (nodes.length === 1 && matches(nodes[0], value)) add(value.start, value.end);
      return;
    }
    if (nodes.length === 1) return;
    for (let at = 0; at + nodes.length <= value.length; at++)
      if (nodes.every((node, index) => matches(node, value[at + index])))
        add((value[at] as SyntaxNode).start, (value[at + nodes.length - 1] as SyntaxNode).end);
  });
  return [...found.values()];
}

/** Whether two trees are the same code. Wildcards of the first match anything. */
export function matches(pattern: unknown, value: unknown): boolean {
  if (isWildcard(pattern)) return isNode(value);
  if (Array.isArray(pattern)) return Array.isArray(value) && listMatches(pattern, value);
  if (!isNode(pattern) || !isNode(value)) return sameValue(pattern, value);
  if (pattern.type !== value.type) return false;
  const fields = new Set([...Object.keys(pattern), ...Object.keys(value)]);
  return [...fields].every(
    (field) => IGNORED_FIELDS.has(field) || matches(pattern[field], value[field]),
  );
}

function listMatches(patterns: readonly unknown[], values: readonly unknown[]): boolean {
  const last = patterns.at(-1);
  const isOpen = isNode(last) && last.type === 'SpreadElement' && isWildcard(last['argument']);
  const fixed = isOpen ? patterns.slice(0, -1) : patterns;
  if (isOpen ? values.length < fixed.length : values.length !== fixed.length) return false;
  return fixed.every((pattern, index) => matches(pattern, values[index]));
}

/** Plain values, and objects that are no nodes: the texts of a template, the parts of a regular expression. */
function sameValue(one: unknown, other: unknown): boolean {
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null)
    return (one ?? undefined) === (other ?? undefined);
  if (one instanceof RegExp || other instanceof RegExp)
    return one instanceof RegExp && other instanceof RegExp && one.source === other.source;
  const [first, second] = [Object.entries(one), other as Readonly<Record<string, unknown>>];
  return (
    first.length === Object.keys(second).length &&
    first.every(([field, value]) => matches(value, second[field]))
  );
}

/** `_`, or the statement `_;`. */
function isWildcard(value: unknown): boolean {
  if (!isNode(value)) return false;
  if (value.type === 'ExpressionStatement') return isWildcard(value['expression']);
  return value.type === 'Identifier' && value['name'] === '_';
}

export function isNode(value: unknown): value is SyntaxNode {
  return typeof value === 'object' && value !== null && 'type' in value && 'start' in value;
}

/** Calls back for each node and each list of nodes, from the outermost on. */
export function visit(
  node: SyntaxNode,
  callback: (value: SyntaxNode | readonly unknown[]) => void,
): void {
  callback(node);
  for (const value of Object.values(node))
    if (Array.isArray(value)) {
      callback(value);
      for (const one of value as readonly unknown[]) if (isNode(one)) visit(one, callback);
    } else if (isNode(value)) visit(value, callback);
}

/** The statements of a text as they stand in a method, where `this`, `await` and `yield` have a meaning. */
function bodyOf(text: string): readonly SyntaxNode[] | undefined {
  const { program, errors } = parseSync('p.ts', `class P { async *p() {\n${text}\n} }`, {
    preserveParens: false,
  });
  if (errors.length > 0 || program.body.length !== 1) return undefined;
  const members = children(children(program.body[0], 'body'), 'body') as readonly SyntaxNode[];
  if (members.length !== 1) return undefined;
  return children(children(members[0]!['value'], 'body'), 'body') as readonly SyntaxNode[];
}

/** `key: value` or `...rest`; methods are left out, since `if (a) {}` could be one. */
function propertyOf(text: string): SyntaxNode | undefined {
  const [statement] = bodyOf(`({${text}\n})`) ?? [];
  const properties = children(statement?.['expression'], 'properties');
  if (!Array.isArray(properties) || properties.length !== 1) return undefined;
  const [property] = properties as readonly SyntaxNode[];
  const isSpread = property!.type === 'SpreadElement';
  const isValue = property!['kind'] === 'init' && property!['method'] !== true;
  return isSpread || isValue ? property : undefined;
}

function caseOf(text: string): readonly SyntaxNode[] | undefined {
  const [statement] = bodyOf(`switch (0) {\n${text}\n}`) ?? [];
  const cases = statement?.['cases'];
  return Array.isArray(cases) && cases.length === 1 ? (cases as SyntaxNode[]) : undefined;
}

function children(node: unknown, field: string): unknown {
  return (node as Readonly<Record<string, unknown>> | undefined)?.[field];
}
