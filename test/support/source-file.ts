// SourceFile: what a TypeScript or AssemblyScript file declares, read from its syntax tree: the names that it exports, and the
// members of its types in the words of the source.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isNode, parseSource, type SyntaxNode, visit } from './mutants/source-pattern.ts';

const ROOT = join(import.meta.dirname, '..', '..');

export interface ExportedNames {
  readonly names: readonly string[];
  /** The specifier in `export { … } from`; undefined: the file itself declares them. */
  readonly from: string | undefined;
}

export class SourceFile {
  readonly #text: string;
  readonly #statements: readonly SyntaxNode[];
  readonly #tree: SyntaxNode;

  /** Throws when the text has a syntax error. */
  constructor(name: string, text: string) {
    this.#text = text;
    this.#tree = parseSource(name, text);
    this.#statements = nodes(this.#tree['body']);
  }

  /** Reads a file of the checkout. */
  static read(path: string): SourceFile {
    return new SourceFile(path, readFileSync(join(ROOT, path), 'utf8'));
  }

  /** The names that each statement exports, types included. */
  get exports(): readonly ExportedNames[] {
    return this.#statements
      .filter(({ type }) => type === 'ExportNamedDeclaration')
      .map((statement) => ({ names: exportedBy(statement), from: specifierOf(statement) }));
  }

  /** Names of the functions that are declared without a body, `declare function NAME`. */
  get declaredFunctions(): readonly string[] {
    return this.#statements.filter(({ type }) => type === 'TSDeclareFunction').map(nameOf);
  }

  /** A class, interface, enum or function of the top level. Throws when there is none of the name. */
  declaration(name: string): SyntaxNode {
    const found = this.#statements
      .flatMap((statement) => [statement, ...nodes([statement['declaration']])])
      .find((node) => isNode(node['id']) && node['id']['name'] === name);
    if (found === undefined) throw new Error(`there is no declaration of ${name}`);
    return found;
  }

  /** Members of a class, an interface or an enum, without what stands before the name and behind it. */
  members(name: string): readonly SyntaxNode[] {
    const { body, members } = this.declaration(name) as SyntaxNode & Record<string, unknown>;
    if (!isNode(body)) return nodes(members);
    return nodes(body['body'] ?? body['members']);
  }

  /** The source of a node on one line. */
  textOf(node: unknown): string {
    return isNode(node) ? oneLine(this.#text.slice(node.start, node.end)) : '';
  }

  /** The parameters of a function as they are written: `(id: string, limit: u32 = 100)`. */
  parametersOf(callable: SyntaxNode): string {
    return `(${nodes(callable['params'])
      .map((parameter) => this.textOf(parameter))
      .join(', ')})`;
  }

  /** Titles of the groups and tests that the file declares, with `${…}` for what is computed in them. */
  get testTitles(): readonly string[] {
    const found: string[] = [];
    visit(this.#tree, (value) => {
      if (!isNode(value) || value.type !== 'CallExpression') return;
      const [title] = nodes(value['arguments']);
      if (title !== undefined && isText(title) && declaresTests(value['callee']))
        found.push(partsOf(title).join('${…}'));
    });
    return found;
  }

  /** Each text of the file, with `…` for what is computed in it. */
  get texts(): readonly string[] {
    const found: string[] = [];
    visit(this.#tree, (value) => {
      if (isNode(value) && isText(value)) found.push(partsOf(value).join('…'));
    });
    return found;
  }
}

/** The name of a declaration, a member or a parameter. */
export function nameOf(node: SyntaxNode): string {
  const name = [node['id'], node['key'], node['left'], node['parameter'], node].find(
    (one) => isNode(one) && typeof one['name'] === 'string',
  );
  if (isNode(name)) return String(name['name']);
  const inner = node['parameter'];
  return isNode(inner) ? nameOf(inner) : '';
}

export function nodes(value: unknown): readonly SyntaxNode[] {
  return Array.isArray(value) ? value.filter((one) => isNode(one)) : [];
}

function exportedBy(statement: SyntaxNode): readonly string[] {
  const { declaration } = statement as SyntaxNode & Record<string, unknown>;
  if (!isNode(declaration))
    return nodes(statement['specifiers']).map(({ exported }) => nameOf(exported as SyntaxNode));
  const declared = nodes(declaration['declarations']);
  return declared.length > 0 ? declared.map(nameOf) : [nameOf(declaration)];
}

function specifierOf({ source }: SyntaxNode): string | undefined {
  return isNode(source) ? String(source['value']) : undefined;
}

function oneLine(text: string): string {
  return text
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/\( | \)/g, (found) => found.trim())
    .replaceAll(',)', ')');
}

/** Whether a call of it declares a group or a test: `test`, `describe.each(table)`, `test.skipIf(condition)`. */
function declaresTests(callee: unknown): boolean {
  if (!isNode(callee)) return false;
  const { type, name } = callee;
  if (type === 'Identifier') return name === 'test' || name === 'describe' || name === 'it';
  return [callee['object'], callee['callee'], callee['tag']].some((one) => declaresTests(one));
}

function isText({ type, operator, value }: SyntaxNode): boolean {
  return (
    type === 'TemplateLiteral' ||
    (type === 'BinaryExpression' && operator === '+') ||
    (type === 'Literal' && typeof value === 'string')
  );
}

/** The fixed parts of a text in their order, those of the texts within it too. */
function partsOf(text: SyntaxNode): readonly string[] {
  const parts: { readonly start: number; readonly text: string }[] = [];
  visit(text, (node) => {
    if (!isNode(node)) return;
    const { type, start, value } = node;
    if (type === 'Literal' && typeof value === 'string') parts.push({ start, text: value });
    if (type === 'TemplateElement')
      parts.push({ start, text: (value as { readonly cooked: string }).cooked });
  });
  return parts.toSorted((one, other) => one.start - other.start).map((part) => part.text);
}
