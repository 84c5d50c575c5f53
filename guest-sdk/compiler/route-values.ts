// RouteValues: decides by the type of a handler's argument whether it comes from the query string or the body, and
// reports types that it cannot have there. `HttpCall.argument` of the SDK applies the same rule when the module is
// compiled.
import type { Range, Type } from 'assemblyscript';
import { QUERY_PARAMETERS_MAX } from '@svc/contract';
import type { RouteMethod } from './endpoint-declaration.ts';
import { isValueArgument, type ValueArgument } from './route-arguments.ts';
import { displayName } from './schema-of-type.ts';
import { SDK_PATH, textOf } from './syntax.ts';

/** Classes whose values are a single text. */
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

/** Returns whether values of a type can be read from one text of a path or a query string. */
export function isScalarType(type: Type): boolean {
  return type.isValue || TEXTS.has(type.getClass()?.prototype.internalName ?? '');
}

/** Returns whether a query parameter can have the type: a scalar or a list of scalars, nullable or not. */
export function isQueryType(type: Type): boolean {
  return isScalarType(type.nonNullableType) || isScalarList(type);
}

/** Returns whether the argument comes from the query string; otherwise it is the body. */
export function isInQuery({ kind }: ValueArgument, type: Type): boolean {
  return kind === 'query' || (kind === 'query-or-body' && isQueryType(type));
}

/** Returns whether a request without the parameter is refused. */
export function isQueryRequired(argument: ValueArgument, type: Type): boolean {
  return !isScalarList(type) && hasNoDefault(argument, type);
}

/** Reports the problems. `typeOf` returns undefined for a type that does not resolve, which has its own message. */
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
      if (argument.kind === 'query-or-body' && isScalarList(type) && hasNoDefault(argument, type))
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

/** Returns whether there is no value for an absent parameter: neither a default nor null. */
function hasNoDefault({ node }: ValueArgument, type: Type): boolean {
  return node.initializer === null && !type.isNullableReference;
}

function isScalarList(type: Type): boolean {
  const reference = type.getClass();
  if (reference?.prototype.internalName !== LIST) return false;
  const item = reference.typeArguments?.[0];
  return item !== undefined && !item.isNullableReference && isScalarType(item);
}
