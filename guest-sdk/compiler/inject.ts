// Puts written code into the syntax tree: members into a class, statements into a file. Written code says by marks
// which of the author's declarations each part of it was made for.
import {
  BlockStatement,
  ClassDeclaration,
  IdentifierExpression,
  NamedTypeNode,
  Parser,
  Range,
  ReturnStatement,
  TypeName,
  type Expression,
  type Node,
  type Source,
  type Statement,
} from 'assemblyscript';
import { ABSTRACT, has, methodOf, textOf } from './syntax.ts';

/** Written code → the author's file that it stands beside. */
const written = new WeakMap<Source, Source>();
const MARK = /\/\*@(\d+):(\d+)\*\//g;

/** Stands in written code before what is made for a node of the author's file, until the next mark. */
export function madeFor({ range }: Node): string {
  return `/*@${range.start}:${range.end}*/`;
}

/** What the author wrote that a part of written code was made for; undefined where no mark precedes the part. */
export function originOf({ source, start }: Range): Range | undefined {
  const beside = written.get(source);
  const mark = [...source.text.slice(0, start).matchAll(MARK)].at(-1);
  if (beside === undefined || mark === undefined) return undefined;
  const origin = new Range(Number(mark[1]), Number(mark[2]));
  origin.source = beside;
  return origin;
}

/** Lines and columns of such a source are not the user's. */
export function isWritten(source: Source): boolean {
  return written.has(source);
}

/** Members see what the class sees: its type parameters, and the names of its file. */
export function injectMembers(declaration: ClassDeclaration, members: string): void {
  const parameters = declaration.typeParameters ?? [];
  const generic =
    parameters.length === 0 ? '' : `<${parameters.map((node) => textOf(node)).join(', ')}>`;
  const abstract = has(declaration, ABSTRACT) ? 'abstract ' : '';
  const [parsed] = parse(
    declaration.range.source,
    `${abstract}class ${declaration.name.text}${generic} {\n${members}\n}`,
  );
  if (!(parsed instanceof ClassDeclaration)) throw new Error('written members are not a class');
  declaration.members.push(...parsed.members);
}

/** Has a written method return an expression of the user's, which keeps its place there. */
export function returnExpression(
  declaration: ClassDeclaration,
  methodName: string,
  expression: Expression,
): void {
  const body = methodOf(declaration, methodName)?.body;
  const returned = body instanceof BlockStatement ? body.statements[0] : undefined;
  if (!(returned instanceof ReturnStatement))
    throw new Error(`written method '${methodName}' returns nothing`);
  returned.value = expression;
}

export function injectStatements(source: Source, text: string): void {
  source.statements.push(...parse(source, text));
}

export function injectInterface(declaration: ClassDeclaration, name: string): void {
  const range = declaration.name.range;
  const identifier = new IdentifierExpression(name, false, range);
  const type = new NamedTypeNode(new TypeName(identifier, null, range), null, false, range);
  declaration.implementsTypes = [...(declaration.implementsTypes ?? []), type];
}

function parse(beside: Source, text: string): Statement[] {
  // Under the name of the user's file: the compiler looks its names up by that.
  const parser = new Parser();
  parser.parseFile(text, beside.normalizedPath, false);
  const [problem] = parser.diagnostics;
  if (problem !== undefined)
    throw new Error(`written code does not parse: ${problem.message}\n${text}`);
  const [source] = parser.sources;
  if (source === undefined) throw new Error('written code has no source');
  written.set(source, beside);
  return source.statements;
}
