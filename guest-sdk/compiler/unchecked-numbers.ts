// UncheckedNumbers: warns of functions that convert any text to a number: parseInt("12 books") is 12, and text that
// is not a number becomes 0 when the result is cast to an integer.
import {
  CallExpression,
  IdentifierExpression,
  PropertyAccessExpression,
  type Expression,
  type Source,
} from 'assemblyscript';
import type { Problem } from './build-error.ts';
import { declaredNames } from './declared-names.ts';
import { problemAt } from './syntax.ts';
import { walk } from './syntax-walk.ts';

const FUNCTIONS: ReadonlySet<string> = new Set(['parseInt', 'parseFloat']);
const NUMBER_TYPE = /^(?:Number|[IU](?:8|16|32|64)|F(?:32|64))$/;

export function uncheckedNumberWarnings(source: Source): Problem[] {
  const own = new Set(declaredNames(source));
  const warnings: Problem[] = [];
  for (const statement of source.statements)
    walk(statement, (node) => {
      if (!(node instanceof CallExpression)) return;
      const name = calledFunction(node.expression);
      if (name === undefined || own.has(name)) return;
      const problem = problemAt(
        node.range,
        `'${name}' takes the number that a text begins with, and NaN where there is none, which is 0 as an integer`,
        'parseI32(text), parseI64(text) and parseF64(text) of @svc/guest-sdk give a Result, which refuses such a text',
      );
      warnings.push({ ...problem, severity: 'warning' });
    });
  return warnings;
}

/** Returns `parseInt` for `parseInt(…)`, `Number.parseInt(…)` and `I32.parseInt(…)`. */
function calledFunction(called: Expression): string | undefined {
  if (called instanceof IdentifierExpression)
    return FUNCTIONS.has(called.text) ? called.text : undefined;
  if (!(called instanceof PropertyAccessExpression)) return undefined;
  const { expression, property } = called;
  const isOfNumber =
    expression instanceof IdentifierExpression && NUMBER_TYPE.test(expression.text);
  return isOfNumber && FUNCTIONS.has(property.text) ? property.text : undefined;
}
