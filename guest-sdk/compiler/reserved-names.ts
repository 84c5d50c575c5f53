// ReservedNames: names that an author's file must not declare: those of the code that the compiler writes, those of the
// entity's base class, and those with a special meaning for JavaScript programs that read JSON.
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
/** Members of EventSourcedEntity that an entity calls. */
const BASE_MEMBERS: ReadonlySet<string> = new Set([
  'persist',
  'persistAll',
  'deleteEntity',
  'setTimer',
  'cancelTimer',
  'reply',
  'refuse',
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
      if (decoratorOf(node, 'entity') !== undefined) problems.push(...baseMemberProblems(node));
    });
  return problems;
}

function baseMemberProblems(entity: ClassDeclaration): Problem[] {
  const problems: Problem[] = [];
  for (const member of entity.members) {
    const name = member.name.text;
    if (BASE_MEMBERS.has(name))
      problems.push(
        problemAt(
          member.name.range,
          `'${name}' is a member of every entity: EventSourcedEntity declares it`,
          'give this one another name; the wire name of a handler can stay',
        ),
      );
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
