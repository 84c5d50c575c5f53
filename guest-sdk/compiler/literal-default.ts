// LiteralDefault: the JSON form of a default that is written out: a literal, a member of a data enum, or a list of them. What
// any other initialiser gives is known to the running module alone.
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
 * Returns undefined where the value is not written out, is null, or is an empty list: a parameter without a default
 * becomes that by itself. The value may still lie outside of the type, as that of an overflow does. `scope`: the element
 * whose names the initialiser sees.
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

/** Returns an integer beyond 2^53 - 1 in magnitude as its digits, which are exact. */
function number(literal: Expression, type: Type, sign: '' | '-'): number | string | undefined {
  const text = textOf(literal).replaceAll('_', '');
  if (literal instanceof FloatLiteralExpression) return Number(sign + text);
  if (!(literal instanceof IntegerLiteralExpression)) return undefined;
  const magnitude = BigInt(text);
  const value = sign === '' ? magnitude : -magnitude;
  return type.isFloatValue || Number.isSafeInteger(Number(value)) ? Number(value) : `${value}`;
}
