// Inject: adds written code, which is code that the compiler writes, to the syntax tree: members to a class, statements
// to a file. Marks in the written code name the author's declaration that each part was written for.
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

/** Source of written code → the author's file that it belongs to. */
const written = new WeakMap<Source, Source>();
const MARK = /\/\*@(\d+):(\d+)\*\//g;

/** Returns a mark for written code: the code after it, up to the next mark, belongs to a node of the author's file. */
export function madeFor({ range }: Node): string {
  return `/*@${range.start}:${range.end}*/`;
}

/** Returns the author's declaration that a part of written code belongs to; undefined if no mark precedes the part. */
export function originOf({ source, start }: Range): Range | undefined {
  const beside = written.get(source);
  const mark = [...source.text.slice(0, start).matchAll(MARK)].at(-1);
  if (beside === undefined || mark === undefined) return undefined;
  const origin = new Range(Number(mark[1]), Number(mark[2]));
  origin.source = beside;
  return origin;
}

/** Returns whether the source was written by the compiler; its lines and columns mean nothing to the author. */
export function isWritten(source: Source): boolean {
  return written.has(source);
}

/** Adds members to a class, where type parameters of the class and names of its file are valid. */
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

/** Makes a written method return an expression of the author's, which keeps its location. */
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
  // The source gets the name of the author's file, by which the compiler looks up names.
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
