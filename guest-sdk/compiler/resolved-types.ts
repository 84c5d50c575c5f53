// ResolvedTypes: looks up the classes and types of declarations in the resolved program.
import { ClassPrototype, type Class, type Program, type Type, type TypeNode } from 'assemblyscript';
import { REPORT } from './syntax.ts';

export function classOf(
  program: Program,
  declaration: Class['prototype']['declaration'],
): Class | undefined {
  const prototype = program.elementsByDeclaration.get(declaration);
  if (!(prototype instanceof ClassPrototype)) return undefined;
  return program.resolver.resolveClass(prototype, null) ?? undefined;
}

/** Resolves a type that is written in a class. By default a failure becomes a message of the compiler. */
export function resolve(
  program: Program,
  node: TypeNode,
  reference: Class,
  mode = REPORT,
): Type | undefined {
  const types = reference.contextualTypeArguments;
  return program.resolver.resolveType(node, null, reference, types, mode) ?? undefined;
}
