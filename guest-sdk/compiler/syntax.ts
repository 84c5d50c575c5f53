// Syntax: helpers for the AssemblyScript syntax tree: locations, decorators, names, text.
import {
  ClassDeclaration,
  IdentifierExpression,
  ImportStatement,
  MethodDeclaration,
  NamedTypeNode,
  PropertyAccessExpression,
  StringLiteralExpression,
  type DecoratorNode,
  type Expression,
  type Node,
  type ParameterNode,
  type Program,
  type Range,
  type Source,
  type TypeNode,
} from 'assemblyscript';
import * as assemblyscript from 'assemblyscript';
import type { Problem } from './build-error.ts';

export const SDK_PACKAGE = '@svc/guest-sdk';
type ResolveReportMode = NonNullable<Parameters<Program['resolver']['resolveType']>[4]>;
/** Path under which the compiler finds the SDK's files. */
export const SDK_PATH = `~lib/${SDK_PACKAGE}/`;

// The types declare the flags as a const enum; at run time they are an object.
const { CommonFlags, ParameterKind, ReportMode } = assemblyscript as unknown as {
  readonly CommonFlags: Readonly<Record<string, number>>;
  readonly ParameterKind: Readonly<Record<'Optional' | 'Rest', ParameterNode['parameterKind']>>;
  readonly ReportMode: Readonly<Record<'Report' | 'Swallow', ResolveReportMode>>;
};
const OPTIONAL_PARAMETER = ParameterKind.Optional;
/** Mode of resolving a name: the failure is reported at its location, once. */
export const REPORT = ReportMode.Report;
/** Mode of resolving a name: the failure is not reported. */
export const SWALLOW = ReportMode.Swallow;

function flag(name: string): number {
  const value = CommonFlags[name];
  if (value === undefined) throw new Error(`this AssemblyScript has no flag ${name}`);
  return value;
}
export const STATIC = flag('Static');
export const READONLY = flag('Readonly');
export const ABSTRACT = flag('Abstract');
export const EXPORT = flag('Export');
export const PRIVATE = flag('Private');
/** Flag of a function whose body has been compiled. */
export const COMPILED = flag('Compiled');
const GET = flag('Get');
const SET = flag('Set');

export function has(node: { readonly flags: number }, wanted: number): boolean {
  return (node.flags & wanted) !== 0;
}

/** Creates a problem. `message`: what is wrong; `help`: what to do. */
export function problemAt(range: Range, message: string, help?: string): Problem {
  const { source, start, end } = range;
  const line = source.lineAt(start);
  const column = source.columnAt();
  const lineStart = start - (column - 1);
  const newline = source.text.indexOf('\n', start);
  const lineEnd = newline < 0 ? source.text.length : newline;
  return {
    file: source.normalizedPath,
    line,
    column,
    sourceLine: source.text.slice(lineStart, lineEnd).trimEnd(),
    length: Math.max(1, Math.min(end, lineEnd) - start),
    message,
    ...(help === undefined ? {} : { help }),
  };
}

/** Returns whether the author has left the type out; the parser then creates a type with an empty name. */
export function isTypeOmitted(type: TypeNode): boolean {
  return type instanceof NamedTypeNode && type.name.identifier.text === '';
}

export function textOf(node: Node): string {
  return node.range.source.text.slice(node.range.start, node.range.end);
}

/** Returns the text as a string literal of AssemblyScript. */
export function quote(text: string): string {
  return JSON.stringify(text);
}

export function decoratorName(decorator: DecoratorNode): string {
  return decorator.name instanceof IdentifierExpression ? decorator.name.text : '';
}

export function decoratorOf(
  node: { readonly decorators: readonly DecoratorNode[] | null },
  name: string,
): DecoratorNode | undefined {
  return node.decorators?.find((decorator) => decoratorName(decorator) === name);
}

/** Returns all decorators of the name, in their order. */
export function decoratorsOf(
  node: { readonly decorators: readonly DecoratorNode[] | null },
  name: string,
): readonly DecoratorNode[] {
  return (node.decorators ?? []).filter((decorator) => decoratorName(decorator) === name);
}

/** Returns the two words of an expression such as `Role.any`; undefined for any other. */
export function dottedName(expression: Expression): string | undefined {
  if (!(expression instanceof PropertyAccessExpression)) return undefined;
  const { expression: object, property } = expression;
  return object instanceof IdentifierExpression ? `${object.text}.${property.text}` : undefined;
}

/** Returns the decorator's arguments if all of them are plain strings; otherwise undefined. */
export function stringArguments(decorator: DecoratorNode): string[] | undefined {
  const values: string[] = [];
  for (const argument of decorator.args ?? []) {
    if (!(argument instanceof StringLiteralExpression)) return undefined;
    values.push(argument.value);
  }
  return values;
}

/** Returns the decorator's only argument if it is a plain string; otherwise undefined. */
export function stringArgument(decorator: DecoratorNode): string | undefined {
  const values = stringArguments(decorator);
  return values?.length === 1 ? values[0] : undefined;
}

export function classesOf(source: Source): ClassDeclaration[] {
  return source.statements.filter((statement) => statement instanceof ClassDeclaration);
}

/** Returns the method with this name that the class itself declares. */
export function methodOf(
  declaration: ClassDeclaration,
  name: string,
): MethodDeclaration | undefined {
  return declaration.members.find(
    (member): member is MethodDeclaration =>
      member instanceof MethodDeclaration && member.name.text === name,
  );
}

/** Meaning of the names in one file that come from the SDK. */
export interface SdkNames {
  /** Returns the SDK's name of a type, whatever the file calls it; undefined if the type is not the SDK's. */
  of(type: TypeNode): string | undefined;
  /** Returns the SDK's name of an imported name; undefined if the name is not imported from the SDK. */
  ofLocal(name: string): string | undefined;
  /** Returns whether the file imports the whole SDK under this name. */
  isNamespace(name: string): boolean;
}

export function sdkNames(source: Source): SdkNames {
  const imported = new Map<string, string>();
  const namespaces = new Set<string>();
  for (const statement of source.statements) {
    if (!(statement instanceof ImportStatement) || statement.path.value !== SDK_PACKAGE) continue;
    for (const declaration of statement.declarations ?? [])
      imported.set(declaration.name.text, declaration.foreignName.text);
    if (statement.namespaceName !== null) namespaces.add(statement.namespaceName.text);
  }
  return {
    of(type) {
      if (!(type instanceof NamedTypeNode)) return undefined;
      const first = type.name.identifier.text;
      if (type.name.next === null) return imported.get(first);
      return namespaces.has(first) ? type.name.next.identifier.text : undefined;
    },
    ofLocal: (name) => imported.get(name),
    isNamespace: (name) => namespaces.has(name),
  };
}

/** Checks the constructor, because `register` creates one object of the class, without arguments. */
export function constructorProblem(declaration: ClassDeclaration): Problem | undefined {
  for (const member of declaration.members)
    if (member instanceof MethodDeclaration && member.name.text === 'constructor') {
      const needed = member.signature.parameters.find(
        (parameter) => parameter.initializer === null,
      );
      if (needed !== undefined)
        return problemAt(
          needed.range,
          `the runtime makes the one object of '${declaration.name.text}' itself: its constructor cannot have parameters`,
        );
    }
  return undefined;
}

/**
 * Checks that the runtime can call a handler: as a method of the only object of its class, with an argument for each
 * parameter, which has a declared type.
 */
export function handlerProblems(method: MethodDeclaration): Problem[] {
  const name = method.name.text;
  const problems: Problem[] = [];
  if (has(method, STATIC))
    problems.push(
      problemAt(method.name.range, `handler '${name}' cannot be static: remove the word`),
    );
  if (name === 'constructor')
    problems.push(
      problemAt(
        method.name.range,
        'a constructor cannot be a handler: the runtime creates the object itself',
        'write a method of another name',
      ),
    );
  if (has(method, GET) || has(method, SET))
    problems.push(
      problemAt(
        method.name.range,
        `handler '${name}' cannot be a getter or a setter: the runtime calls it`,
        `write a method: ${name}(): string { … }`,
      ),
    );
  if ((method.typeParameters?.length ?? 0) > 0)
    problems.push(
      problemAt(
        method.name.range,
        `handler '${name}' cannot have type parameters: write the types`,
      ),
    );
  for (const parameter of method.signature.parameters) {
    const parameterName = parameter.name.text;
    if (parameter.parameterKind === ParameterKind.Rest)
      problems.push(
        problemAt(
          parameter.range,
          `'${name}' cannot take the rest of its parameters: each one comes from a place of its own`,
          `take a list: ${parameterName}: ${textOf(parameter.type)}`,
        ),
      );
    if (isTypeOmitted(parameter.type))
      problems.push(
        problemAt(
          parameter.range,
          `parameter '${parameterName}' of '${name}' has no type`,
          `write it: ${parameterName}: string`,
        ),
      );
  }
  return problems;
}

/** Reports a default of a parameter that the runtime always sets. */
export function defaultProblems(parameter: ParameterNode, method: MethodDeclaration): Problem[] {
  if (parameter.initializer === null && parameter.parameterKind !== OPTIONAL_PARAMETER) return [];
  return [
    problemAt(
      parameter.range,
      `parameter '${parameter.name.text}' of '${method.name.text}' cannot have a default: the runtime gives each one`,
      'remove it; what may be left out is an @optional field of a @data class',
    ),
  ];
}

/** Reports the mark of an optional parameter: `limit?: u32` would not say which value an absent parameter has. */
export function optionalMarkProblems(
  parameter: ParameterNode,
  method: MethodDeclaration,
): Problem[] {
  const isMarked = parameter.parameterKind === OPTIONAL_PARAMETER && parameter.initializer === null;
  if (!isMarked) return [];
  const name = parameter.name.text;
  return [
    problemAt(
      parameter.range,
      `parameter '${name}' of '${method.name.text}' may be left out, and does not say what its value is then`,
      'write a default instead of the question mark, as in limit: u32 = 20, or a type that may be null: string | null',
    ),
  ];
}

/** Returns a type argument of `Name<T>`, by default the first; undefined if the type has none. */
export function typeArgument(type: TypeNode, index = 0): TypeNode | undefined {
  return type instanceof NamedTypeNode ? (type.typeArguments?.[index] ?? undefined) : undefined;
}
