// ReservedNames: names that an author's file must not declare: those of the code that the compiler writes, those of the
// base classes of components, and those with a special meaning for JavaScript programs that read JSON.
import {
  ClassDeclaration,
  DeclarationStatement,
  EnumDeclaration,
  FieldDeclaration,
  MethodDeclaration,
  type DecoratorNode,
  type Node,
  type Source,
} from 'assemblyscript';
import type { Problem } from './build-error.ts';
import { STATIC, decoratorName, decoratorOf, has, problemAt, stringArguments } from './syntax.ts';
import { walk } from './syntax-walk.ts';

const WRITTEN_PREFIX = '__svc_';
/** Names that have a special meaning as members of a JavaScript object. */
const HOSTILE: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype']);
/** Role of a class → its base class, and the members of the base that the author's methods call. */
const BASES: ReadonlyMap<string, readonly [base: string, members: readonly string[]]> = new Map([
  [
    'entity',
    [
      'EventSourcedEntity',
      ['persist', 'persistAll', 'deleteEntity', 'setTimer', 'cancelTimer', 'reply', 'refuse'],
    ],
  ],
  ['view', ['View', ['put', 'remove', 'keep']]],
  ['consumer', ['Consumer', ['done', 'retry', 'skip', 'refuse']]],
]);
/** Decorators whose argument is stored, used for routing or printed. */
const NAMING_DECORATORS: ReadonlySet<string> = new Set([
  'data',
  'variant',
  'alias',
  'entity',
  'command',
  'query',
  'view',
  'find',
  'consumer',
]);

export function hostileNameProblems(node: Node, what: string, name: string): Problem[] {
  if (!HOSTILE.has(name)) return [];
  const message = `${what} cannot be named '${name}': to programs in JavaScript that is no plain name`;
  return [problemAt(node.range, message, 'give it another name')];
}

export function reservedNameProblems(source: Source): Problem[] {
  const problems: Problem[] = [];
  const reportHostile = (node: Node, what: string, name: string): void => {
    problems.push(...hostileNameProblems(node, what, name));
  };
  const checkDecorator = (decorator: DecoratorNode): void => {
    const role = decoratorName(decorator);
    if (NAMING_DECORATORS.has(role))
      for (const name of stringArguments(decorator) ?? [])
        reportHostile(decorator, `what @${role} names`, name);
  };
  for (const statement of source.statements)
    walk(statement, (node) => {
      if (!(node instanceof DeclarationStatement)) return;
      if (node.name.text.startsWith(WRITTEN_PREFIX))
        problems.push(
          problemAt(
            node.name.range,
            `the name '${node.name.text}' is reserved: the compiler's own begin with '${WRITTEN_PREFIX}'`,
            'give it another name',
          ),
        );
      for (const decorator of node.decorators ?? []) checkDecorator(decorator);
      if (node instanceof EnumDeclaration && decoratorOf(node, 'data') !== undefined) {
        reportHostile(node.name, 'a @data enum', node.name.text);
        for (const value of node.values)
          reportHostile(value.name, 'a member of a @data enum', value.name.text);
      }
      if (!(node instanceof ClassDeclaration)) return;
      if (decoratorOf(node, 'data') !== undefined || decoratorOf(node, 'variant') !== undefined) {
        reportHostile(node.name, 'a @data class', node.name.text);
        for (const member of node.members)
          if (member instanceof FieldDeclaration && !has(member, STATIC))
            reportHostile(member.name, 'a stored field', member.name.text);
      }
      problems.push(...baseMemberProblems(node));
    });
  return problems;
}

function baseMemberProblems(declaration: ClassDeclaration): Problem[] {
  const problems: Problem[] = [];
  for (const [role, [base, reserved]] of BASES) {
    if (decoratorOf(declaration, role) === undefined) continue;
    for (const { name } of declaration.members)
      if (reserved.includes(name.text))
        problems.push(
          problemAt(
            name.range,
            `'${name.text}' is a member of every ${role}: ${base} declares it`,
            role === 'entity'
              ? 'give this one another name; the wire name of a handler can stay'
              : 'give this one another name',
          ),
        );
  }
  if (decoratorOf(declaration, 'entity') !== undefined)
    problems.push(...foldedNameProblems(declaration));
  return problems;
}

/** Reports handlers with the names of the methods that every entity has. */
function foldedNameProblems(entity: ClassDeclaration): Problem[] {
  const problems: Problem[] = [];
  for (const member of entity.members) {
    const name = member.name.text;
    const isHandler =
      member instanceof MethodDeclaration &&
      (decoratorOf(member, 'command') !== undefined || decoratorOf(member, 'query') !== undefined);
    if (isHandler && (name === 'empty' || name === 'apply'))
      problems.push(
        problemAt(
          member.name.range,
          `'${name}' cannot be a handler: the runtime calls it to ${name === 'empty' ? 'begin a state' : 'fold events'}`,
          'give the handler another name; its wire name can stay',
        ),
      );
  }
  return problems;
}
