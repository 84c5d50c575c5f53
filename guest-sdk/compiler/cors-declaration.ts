// CorsDeclaration: the @cors decorator of an endpoint or a route: `@cors` alone, or with an object that narrows what
// the operator allows.
import {
  ArrayLiteralExpression,
  FalseExpression,
  ObjectLiteralExpression,
  StringLiteralExpression,
  TrueExpression,
  type DecoratorNode,
  type Expression,
} from 'assemblyscript';
import { type CorsDescriptor, originProblem } from '@svc/contract';
import type { Problem } from './build-error.ts';
import { problemAt } from './syntax.ts';

const HELP =
  '@cors alone, or with some of these: @cors({ origins: ["https://shop.example.com"], headers: ["content-type"], exposedHeaders: ["etag"], credentials: false })';
const HEADER_NAME = /^[a-z0-9!#$%&'*+.^_`|~-]{1,100}$/;
const ENTRIES_MAX = 100;

/** Reads the arguments of `@cors`. Returns undefined if it has added a problem. */
export function readCors(node: DecoratorNode, problems: Problem[]): CorsDescriptor | undefined {
  const [options, ...others] = node.args ?? [];
  if (options === undefined) return {};
  if (!(options instanceof ObjectLiteralExpression) || others.length > 0) {
    problems.push(problemAt(node.range, '@cors takes one object, or nothing', HELP));
    return undefined;
  }
  const count = problems.length;
  const cors: Record<string, unknown> = {};
  for (const [index, { text: name, range }] of options.names.entries()) {
    const value = options.values[index]!;
    if (name in cors) problems.push(problemAt(range, `@cors has '${name}' twice`, 'keep one'));
    else if (name === 'credentials') cors[name] = booleanOf(value, problems);
    else if (name === 'origins') cors[name] = originsOf(value, problems);
    else if (name === 'headers' || name === 'exposedHeaders')
      cors[name] = headersOf(name, value, problems);
    else problems.push(problemAt(range, `@cors has no option '${name}'`, HELP));
  }
  return problems.length === count ? cors : undefined;
}

function booleanOf(value: Expression, problems: Problem[]): boolean {
  const isTrue = value instanceof TrueExpression;
  if (!isTrue && !(value instanceof FalseExpression))
    problems.push(problemAt(value.range, "'credentials' of @cors is true or false", HELP));
  return isTrue;
}

function originsOf(value: Expression, problems: Problem[]): string[] {
  const texts = textsOf('origins', value, problems);
  if (texts?.length === 0)
    problems.push(
      problemAt(
        value.range,
        "'origins' of @cors is empty",
        'leave it out to allow all that the operator allows',
      ),
    );
  return (texts ?? []).map(({ value: origin, range }) => {
    const problem = origin === '*' ? 'is every origin: leave origins out' : originProblem(origin);
    if (problem !== undefined) {
      const [what = '', todo] = problem.split(': ');
      problems.push(problemAt(range, `the origin '${origin}' ${what}`, todo));
    }
    return origin;
  });
}

function headersOf(option: string, value: Expression, problems: Problem[]): string[] {
  return (textsOf(option, value, problems) ?? []).map(({ value: header, range }) => {
    const name = header.toLowerCase();
    if (!HEADER_NAME.test(name) || name === '*')
      problems.push(
        problemAt(range, `'${header}' is not the name of a header`, 'write one such as "x-tenant"'),
      );
    return name;
  });
}

function textsOf(
  option: string,
  value: Expression,
  problems: Problem[],
): StringLiteralExpression[] | undefined {
  const entries = value instanceof ArrayLiteralExpression ? value.elementExpressions : [value];
  const texts = entries.filter((entry) => entry instanceof StringLiteralExpression);
  const isList = value instanceof ArrayLiteralExpression && texts.length === entries.length;
  if (isList && texts.length <= ENTRIES_MAX) return texts;
  problems.push(
    problemAt(value.range, `'${option}' of @cors is a list of up to ${ENTRIES_MAX} texts`, HELP),
  );
  return undefined;
}
