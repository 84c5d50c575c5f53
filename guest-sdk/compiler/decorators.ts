// Decorators: finds decorators that have no effect where they are. AssemblyScript ignores unknown decorators, so a
// typing error would silently change what is stored or served.
import {
  ClassDeclaration,
  DeclarationStatement,
  EnumDeclaration,
  ExportDefaultStatement,
  FieldDeclaration,
  InterfaceDeclaration,
  MethodDeclaration,
  NamespaceDeclaration,
  type DecoratorNode,
  type Source,
  type Statement,
} from 'assemblyscript';
import type { Problem } from './build-error.ts';
import { decoratorName, problemAt } from './syntax.ts';

const ROLES = ['data', 'variant', 'configuration', 'entity', 'endpoint', 'view', 'consumer'];
/** Roles of classes whose methods have decorators. */
const COMPONENTS = ['entity', 'endpoint', 'view', 'consumer'];
/** AssemblyScript's own decorators; those that import something fail the build like imports do. */
const LANGUAGE: ReadonlySet<string> = new Set([
  'external',
  'final',
  'global',
  'inline',
  'lazy',
  'operator',
  'unmanaged',
  'unsafe',
]);
const METHOD_OF_ENTITY = 'a method of an @entity class';
const METHOD_OF_ENDPOINT = 'a method of an @endpoint class';
const METHOD_OF_VIEW = 'a method of a @view class';
const METHOD_OF_CONSUMER = 'a method of a @consumer class';
/** Decorators of the SDK → what they may precede. */
const TARGETS: ReadonlyMap<string, string> = new Map([
  ...ROLES.map((name) => [name, 'a class'] as const),
  ['data', 'a class or an enum'],
  ['access', 'an @endpoint class or one of its routes'],
  ['bearer', 'an @endpoint class or one of its routes'],
  ['limit', 'an @endpoint class or one of its routes'],
  ['alias', 'a field of a @data or @variant class'],
  ['cors', 'an @endpoint class or one of its routes'],
  ['answers', 'a route of an @endpoint class'],
  ['optional', 'a field of a @data or @variant class'],
  ['secret', 'a field of a @configuration class'],
  ...['command', 'query'].map((name) => [name, METHOD_OF_ENTITY] as const),
  ...['get', 'post', 'put', 'patch', 'del'].map((name) => [name, METHOD_OF_ENDPOINT] as const),
  ['index', 'a @view class'],
  ['find', 'a @data class'],
  ...['from', 'keys'].map((name) => [name, METHOD_OF_VIEW] as const),
  ['on', METHOD_OF_CONSUMER],
]);
/**
 * Decorators that may occur once, because a second one would be ignored. Those of roles and routes are checked where
 * they are read.
 */
const ONCE: ReadonlySet<string> = new Set([
  'access',
  'bearer',
  'alias',
  'cors',
  'answers',
  'optional',
  'secret',
  'command',
  'query',
  'find',
  'from',
  'keys',
  'on',
]);

/**
 * Returns the decorator that a class with handlers lacks, as the author could write it; undefined for other classes.
 */
export function missingRole(declaration: ClassDeclaration): string | undefined {
  const roles = new Set((declaration.decorators ?? []).map((one) => decoratorName(one)));
  if (ROLES.some((role) => roles.has(role))) return undefined;
  const handlers = new Set(
    declaration.members
      .filter((member) => member instanceof MethodDeclaration)
      .flatMap(({ decorators }) => decorators ?? [])
      .map((one) => TARGETS.get(decoratorName(one))),
  );
  const name = declaration.name.text.toLowerCase();
  if (handlers.has(METHOD_OF_ENTITY)) return `@entity("${name}")`;
  if (handlers.has(METHOD_OF_ENDPOINT)) return `@endpoint("/${name}") @access("internet")`;
  if (handlers.has(METHOD_OF_VIEW)) return `@view("${name}")`;
  if (handlers.has(METHOD_OF_CONSUMER)) return `@consumer("${name}", Start.beginning)`;
  return undefined;
}

export function decoratorProblems(source: Source): Problem[] {
  const problems: Problem[] = [];
  const checkRepeated = (decorators: readonly DecoratorNode[] | null): void => {
    const seen = new Set<string>();
    for (const decorator of decorators ?? []) {
      const name = decoratorName(decorator);
      if (ONCE.has(name) && seen.has(name))
        problems.push(problemAt(decorator.range, `@${name} stands here twice: keep one`));
      seen.add(name);
    }
  };
  const checkNested = (statements: readonly Statement[]): void => {
    for (const statement of statements) {
      if (!(statement instanceof DeclarationStatement)) continue;
      for (const decorator of statement.decorators ?? [])
        if (TARGETS.has(decoratorName(decorator)))
          problems.push(
            problemAt(
              decorator.range,
              `@${decoratorName(decorator)} means nothing in a namespace`,
              'move the declaration to the top level of a file',
            ),
          );
      if (statement instanceof NamespaceDeclaration) checkNested(statement.members);
    }
  };
  const check = (decorators: readonly DecoratorNode[] | null, allowed: readonly string[]): void => {
    for (const decorator of decorators ?? []) {
      const name = decoratorName(decorator);
      // `@operator.binary(…)` has no simple name.
      if (name === '' || LANGUAGE.has(name) || allowed.includes(name)) continue;
      const target = TARGETS.get(name);
      const message =
        target === undefined
          ? `@${name} is not known; there are ${[...TARGETS.keys()].map((one) => `@${one}`).join(', ')}`
          : `@${name} means nothing here: it stands before ${target}`;
      problems.push(problemAt(decorator.range, message));
    }
  };
  for (const statement of source.statements) {
    if (statement instanceof ExportDefaultStatement) problems.push(...defaultProblems(statement));
    if (!(statement instanceof DeclarationStatement)) continue;
    if (statement instanceof NamespaceDeclaration) checkNested(statement.members);
    if (!(statement instanceof ClassDeclaration) || statement instanceof InterfaceDeclaration) {
      check(statement.decorators, statement instanceof EnumDeclaration ? ['data'] : []);
      continue;
    }
    const names = new Set((statement.decorators ?? []).map((one) => decoratorName(one)));
    const isData = names.has('data') || names.has('variant');
    const isService = COMPONENTS.some((role) => names.has(role));
    check(statement.decorators, [...ROLES, ...besideRole(names)]);
    checkRepeated(statement.decorators);
    const missing = isData || isService ? undefined : missingRole(statement);
    if (missing !== undefined) {
      const message = `class '${statement.name.text}' has handlers, and does not say what it is`;
      problems.push(problemAt(statement.name.range, message, `write ${missing} before it`));
      continue;
    }
    for (const member of statement.members) {
      checkRepeated(member.decorators);
      // The methods of components are checked with their decorators as handlers.
      if (isService && member instanceof MethodDeclaration) continue;
      const isField = member instanceof FieldDeclaration;
      const ofField = isData ? ['alias', 'optional'] : names.has('configuration') ? ['secret'] : [];
      check(member.decorators, isField ? ofField : []);
    }
  }
  return problems;
}

/** Returns the decorators that a class may have beside those of its roles. */
function besideRole(roles: ReadonlySet<string>): readonly string[] {
  return [
    ...(roles.has('endpoint') ? ['access', 'bearer', 'limit', 'cors'] : []),
    ...(roles.has('view') ? ['index'] : []),
    ...(roles.has('data') ? ['find'] : []),
  ];
}

/** Reports a decorator of a declaration that is exported as default, because such a declaration is not read. */
function defaultProblems({ declaration }: ExportDefaultStatement): Problem[] {
  const { name, decorators } = declaration;
  const role = (decorators ?? []).map(decoratorName).find((one) => ROLES.includes(one));
  if (role === undefined) return [];
  const message = `@${role} means nothing before a declaration that is exported as default`;
  return [
    problemAt(name.range, message, 'write export without default, and import it by its name'),
  ];
}
