// Where the values of a route's handler come from, once their types are known: path, query string or body; and what
// is wrong with them there. `HttpCall.argument` of the SDK decides by the same rule while the module is compiled.
import type { Range, Type } from 'assemblyscript';
import { QUERY_PARAMETERS_MAX } from '@svc/contract';
import { isValueArgument, type RouteMethod, type ValueArgument } from './endpoint-declaration.ts';
import { displayName } from './schema-of-type.ts';
import { SDK_PATH, textOf } from './syntax.ts';

/** Classes whose values are one text. */
const TEXTS: ReadonlySet<string> = new Set([
  '~lib/string/String',
  '~lib/date/Date',
  `${SDK_PATH}decimal/Decimal`,
  `${SDK_PATH}duration/Duration`,
]);
const LIST = '~lib/array/Array';
export const SCALARS =
  'a string, a bool, an integer, a float, a Date, a Decimal, a Duration or a @data enum';

type Report = (range: Range, message: string, help?: string) => void;

/** What one text of a path or a query string can be read as. */
export function isScalarType(type: Type): boolean {
  return type.isValue || TEXTS.has(type.getClass()?.prototype.internalName ?? '');
}

/** What a name of the query string can be read as: a scalar or a list of scalars, which may be null. */
export function isQueryType(type: Type): boolean {
  return isScalarType(type.nonNullableType) || isScalarList(type);
}

/** Whether it comes from the query string; else from the body. */
export function isInQuery({ kind }: ValueArgument, type: Type): boolean {
  return kind === 'query' || (kind === 'query-or-body' && isQueryType(type));
}

/** Whether a request without it is refused. */
export function isQueryRequired(argument: ValueArgument, type: Type): boolean {
  return !isScalarList(type) && isGiven(argument, type);
}

/** `typeOf`: undefined where a type does not resolve, which has its own message. */
export function routeValueProblems(
  { httpMethod, method, arguments: args }: RouteMethod,
  typeOf: (argument: ValueArgument) => Type | undefined,
  report: Report,
): void {
  const values = args.filter(isValueArgument).flatMap((argument) => {
    const type = typeOf(argument);
    return type === undefined ? [] : [{ argument, type, isInQuery: isInQuery(argument, type) }];
  });
  const inQuery = values.filter((value) => value.isInQuery);
  const [body, ...more] = values.filter((value) => !value.isInQuery);
  for (const { argument, type } of inQuery)
    if (!isQueryType(type))
      report(
        argument.type.range,
        `query parameter '${argument.name}' must be ${SCALARS}, or a list of them, not '${displayName(type)}'`,
        `a ${httpMethod} has no body: ${insteadOf(type)}`,
      );
  for (const { argument } of more)
    report(
      argument.node.range,
      `'${argument.name}' is bound to nothing: the template has no {${argument.name}}, and the body is taken by another parameter`,
      `add {${argument.name}} to the path, or put '${argument.name}' into the class of the body`,
    );
  if (body !== undefined && body.argument.node.initializer !== null)
    report(
      body.argument.node.range,
      `the body '${body.argument.name}' cannot have a default: the runtime gives it`,
      `write '${displayName(body.type.nonNullableType)} | null', which is null when the request has no body`,
    );
  if (body === undefined)
    for (const { argument, type } of inQuery)
      if (argument.kind === 'query-or-body' && isScalarList(type) && isGiven(argument, type))
        report(
          argument.node.range,
          `'${argument.name}' could be the body or a query parameter`,
          `name it 'body' if it is the body; a query parameter has a default here: ${argument.name}: ${textOf(argument.type)} = []`,
        );
  const tooMany = inQuery[QUERY_PARAMETERS_MAX];
  if (tooMany !== undefined)
    report(
      tooMany.argument.node.range,
      `'${method.name.text}' has more than ${QUERY_PARAMETERS_MAX} query parameters`,
      'take the rest from a parameter of type Request',
    );
}

function insteadOf(type: Type): string {
  const isUsers = type.getClass()?.prototype.internalName.startsWith('~lib/') === false;
  return isUsers
    ? `take the fields of '${displayName(type)}' one by one`
    : 'take a list of scalars, or read the query string of a parameter of type Request';
}

/** Neither a default nor null says that it may be left out. */
function isGiven({ node }: ValueArgument, type: Type): boolean {
  return node.initializer === null && !type.isNullableReference;
}

function isScalarList(type: Type): boolean {
  const reference = type.getClass();
  if (reference?.prototype.internalName !== LIST) return false;
  const item = reference.typeArguments?.[0];
  return item !== undefined && !item.isNullableReference && isScalarType(item);
}
