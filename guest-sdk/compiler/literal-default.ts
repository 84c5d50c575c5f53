// LiteralDefault: the JSON form of a default that the source spells out: a literal, a member of a data enum, or a list
// of these. The value of any other initialiser is known only when the module runs.
import {
  ArrayLiteralExpression,
  FalseExpression,
  FloatLiteralExpression,
  IdentifierExpression,
  IntegerLiteralExpression,
  ParenthesizedExpression,
  PropertyAccessExpression,
  StringLiteralExpression,
  TrueExpression,
  Type,
  UnaryPrefixExpression,
  type Element,
  type Expression,
} from 'assemblyscript';
import { EnumType } from './data-enum.ts';
import { textOf } from './syntax.ts';

/**
 * Returns the JSON form; undefined if the source does not spell the value out, and for null or an empty list, which
 * are the values of an absent parameter without a default. The returned value may be outside of the type's range, as
 * after an overflow. `scope`: the element in which the initialiser's names are looked up.
 */
export function literalDefault(initializer: Expression, type: Type, scope: Element): unknown {
  const expression = inner(initializer);
  if (!(expression instanceof ArrayLiteralExpression)) return scalar(expression, type, scope);
  const item = type.getClass()?.typeArguments?.[0];
  if (item === undefined || expression.elementExpressions.length === 0) return undefined;
  const values = expression.elementExpressions.map((one) => scalar(inner(one), item, scope));
  return values.includes(undefined) ? undefined : values;
}

function inner(expression: Expression): Expression {
  return expression instanceof ParenthesizedExpression ? inner(expression.expression) : expression;
}

function scalar(expression: Expression, type: Type, scope: Element): unknown {
  if (type instanceof EnumType) return memberName(expression, type, scope);
  if (expression instanceof StringLiteralExpression) return expression.value;
  if (expression instanceof TrueExpression) return true;
  if (expression instanceof FalseExpression) return false;
  if (!(expression instanceof UnaryPrefixExpression)) return number(expression, type, '');
  return textOf(expression).startsWith('-')
    ? number(inner(expression.operand), type, '-')
    : undefined;
}

function memberName(expression: Expression, type: EnumType, scope: Element): string | undefined {
  if (!(expression instanceof PropertyAccessExpression)) return undefined;
  const { expression: object, property } = expression;
  const isMember =
    object instanceof IdentifierExpression && scope.lookup(object.text) === type.element;
  return isMember ? property.text : undefined;
}

/** Returns the value of a number; an integer beyond 2^53 - 1 in magnitude as text, which is exact. */
function number(literal: Expression, type: Type, sign: '' | '-'): number | string | undefined {
  const text = textOf(literal).replaceAll('_', '');
  if (literal instanceof FloatLiteralExpression) return Number(sign + text);
  if (!(literal instanceof IntegerLiteralExpression)) return undefined;
  const magnitude = BigInt(text);
  const value = sign === '' ? magnitude : -magnitude;
  return type.isFloatValue || Number.isSafeInteger(Number(value)) ? Number(value) : `${value}`;
}
