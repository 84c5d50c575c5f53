// TimerCalls: mistakes in calls that set and cancel timers, as far as the source shows them: a missing name, a time that
// no timer can have, a wrong cron expression or time zone, and `Timers` in an entity or a view, which is a fault at run time.
import {
  BinaryExpression,
  CallExpression,
  ClassDeclaration,
  IdentifierExpression,
  IntegerLiteralExpression,
  ParenthesizedExpression,
  PropertyAccessExpression,
  StringLiteralExpression,
  ThisExpression,
  UnaryPrefixExpression,
  type Expression,
  type Node,
  type Source,
} from 'assemblyscript';
import { EVERY_MS_MIN, cronProblem, timeZoneProblem } from '@svc/contract';
import type { Problem } from './build-error.ts';
import { decoratorOf, problemAt, sdkNames, textOf, type SdkNames } from './syntax.ts';
import { walk } from './syntax-walk.ts';

/** Maximum number of characters of a wrong text that a message shows. */
const SHOWN_MAX = 60;
const BUILDERS: ReadonlySet<string> = new Set(['thenSetTimer', 'thenCancelTimer']);
/** Members of EventSourcedEntity, called on `this`. */
const OWN_BUILDERS: ReadonlySet<string> = new Set(['setTimer', 'cancelTimer']);

export function timerCallProblems(source: Source): Problem[] {
  const names = sdkNames(source);
  const problems: Problem[] = [];
  for (const statement of source.statements)
    walk(statement, (node, parents) => {
      const owner = parents.find(isWithoutTimers);
      if (owner !== undefined) problems.push(...handlerOnlyProblems(node, owner, names));
      if (!(node instanceof CallExpression)) return;
      const { expression: called } = node;
      if (!(called instanceof PropertyAccessExpression)) return;
      const member = called.property.text;
      const target = sdkName(called.expression, names);
      const isOwnBuilder =
        owner !== undefined &&
        isEntity(owner) &&
        called.expression instanceof ThisExpression &&
        OWN_BUILDERS.has(member);
      if (BUILDERS.has(member) || isOwnBuilder || target === 'Timers')
        problems.push(...nameProblems(node));
      if (target === 'Due') problems.push(...dueProblems(member, node));
    });
  return problems;
}

function isEntity(declaration: ClassDeclaration): boolean {
  return decoratorOf(declaration, 'entity') !== undefined;
}

/** Returns whether the node is a class that cannot use `Timers`. */
function isWithoutTimers(node: Node): node is ClassDeclaration {
  if (!(node instanceof ClassDeclaration)) return false;
  return isEntity(node) || decoratorOf(node, 'view') !== undefined;
}

/** Returns the SDK's name of an expression: `Due`, or `svc.Due` with a namespace import. */
function sdkName(expression: Expression, names: SdkNames): string | undefined {
  if (expression instanceof IdentifierExpression) return names.ofLocal(expression.text);
  if (!(expression instanceof PropertyAccessExpression)) return undefined;
  const { expression: namespace, property } = expression;
  return namespace instanceof IdentifierExpression && names.isNamespace(namespace.text)
    ? property.text
    : undefined;
}

function handlerOnlyProblems(node: Node, owner: ClassDeclaration, names: SdkNames): Problem[] {
  if (!(node instanceof PropertyAccessExpression)) return [];
  if (sdkName(node.expression, names) !== 'Timers') return [];
  return [
    problemAt(
      node.range,
      `${isEntity(owner) ? 'entity' : 'view'} '${owner.name.text}' cannot use Timers: only endpoints and consumers can`,
      isEntity(owner)
        ? 'a command changes the timers of its entity with its effect: this.persist(event).thenSetTimer("expire", due, call).thenReply(value)'
        : 'a view folds events alone: set the timer in a consumer of the same events',
    ),
  ];
}

function nameProblems({ args }: CallExpression): Problem[] {
  const [name] = args;
  if (!(name instanceof StringLiteralExpression) || name.value !== '') return [];
  return [
    problemAt(
      name.range,
      'a timer needs a name',
      'name it by what it is for, "expire": setting a timer replaces the one of the same name',
    ),
  ];
}

function dueProblems(member: string, { args }: CallExpression): Problem[] {
  const [first, zone] = args;
  if (first === undefined) return [];
  switch (member) {
    case 'after':
      return [...delayProblems(first), ...timeProblems(member, first)];
    case 'every':
      return [...everyProblems(first), ...timeProblems(member, first)];
    case 'cron':
      return [...cronProblems(first), ...(zone === undefined ? [] : zoneProblems(zone))];
    default:
      return [];
  }
}

function delayProblems(expression: Expression): Problem[] {
  const ms = numberOf(expression);
  if (ms === undefined || ms >= 0) return [];
  return [
    problemAt(
      expression.range,
      `a timer cannot be due ${-ms} ms before it is set`,
      'Due.after takes the milliseconds from now on; Due.after(0) is due immediately',
    ),
  ];
}

function everyProblems(expression: Expression): Problem[] {
  const ms = numberOf(expression);
  if (ms === undefined || ms >= EVERY_MS_MIN) return [];
  return [
    problemAt(
      expression.range,
      `a timer cannot recur every ${ms} ms: the shortest period is ${EVERY_MS_MIN} ms`,
      'Due.every takes milliseconds: Due.every(60_000) is once a minute',
    ),
  ];
}

/** Reports a time in place of a delay: `Date.now() + 900_000`, `context.nowMs + 900_000`. */
function timeProblems(member: string, expression: Expression): Problem[] {
  if (!isTime(expression)) return [];
  return [
    problemAt(
      expression.range,
      `Due.${member} takes a number of milliseconds, and this is a time`,
      member === 'after'
        ? 'write Due.after(900_000), which counts from now on, or Due.at(date)'
        : 'write the period: Due.every(60_000) is once a minute',
    ),
  ];
}

/** Returns whether the expression is the current time, perhaps plus something. */
function isTime(expression: Expression): boolean {
  const inner = unwrapped(expression);
  if (inner instanceof BinaryExpression)
    return operatorOf(inner) === '+' && (isTime(inner.left) || isTime(inner.right));
  return /^(?:Date\.now\(\)|\w+\.nowMs)$/.test(textOf(inner));
}

function cronProblems(expression: Expression): Problem[] {
  return textProblems(
    expression,
    cronProblem,
    (text, wrong) => `the cron expression '${text}' ${wrong}`,
  );
}

function zoneProblems(expression: Expression): Problem[] {
  return textProblems(
    expression,
    timeZoneProblem,
    (text, wrong) => `the time zone '${text}' ${wrong}`,
  );
}

/**
 * Checks a string literal. `problemOf`: returns what is wrong with a text, as `is wrong: what to write instead`.
 * `message`: creates the message.
 */
function textProblems(
  literal: Expression,
  problemOf: (text: string) => string | undefined,
  message: (text: string, wrong: string) => string,
): Problem[] {
  if (!(literal instanceof StringLiteralExpression)) return [];
  const { value, range } = literal;
  const problem = problemOf(value);
  if (problem === undefined) return [];
  const [wrong = '', ...help] = problem.split(': ');
  const text = value.length > SHOWN_MAX ? `${value.slice(0, SHOWN_MAX)}…` : value;
  return [problemAt(range, message(text, wrong), help.join(': '))];
}

/** Returns the value of a literal, or of a product of literals; undefined for any other expression. */
function numberOf(expression: Expression): number | undefined {
  const inner = unwrapped(expression);
  if (inner instanceof IntegerLiteralExpression) return Number(textOf(inner).replaceAll('_', ''));
  if (inner instanceof UnaryPrefixExpression && textOf(inner).startsWith('-'))
    return negated(numberOf(inner.operand));
  if (!(inner instanceof BinaryExpression) || operatorOf(inner) !== '*') return undefined;
  const left = numberOf(inner.left);
  const right = numberOf(inner.right);
  return left === undefined || right === undefined ? undefined : left * right;
}

function negated(value: number | undefined): number | undefined {
  return value === undefined ? undefined : -value;
}

/** Returns the text between the operands. */
function operatorOf({ left, right }: BinaryExpression): string {
  return left.range.source.text.slice(left.range.end, right.range.start).replaceAll(/[\s()]/g, '');
}

function unwrapped(expression: Expression): Expression {
  return expression instanceof ParenthesizedExpression
    ? unwrapped(expression.expression)
    : expression;
}
