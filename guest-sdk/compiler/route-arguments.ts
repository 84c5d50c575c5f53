// RouteArguments: where each parameter of a route's handler comes from, by the syntax tree: the path, the query string, the body, or the
// runtime.
import {
  IdentifierExpression,
  PropertyAccessExpression,
  type MethodDeclaration,
  type ParameterNode,
  type TypeNode,
} from 'assemblyscript';
import type { Problem } from './build-error.ts';
import { hostileNameProblems } from './reserved-names.ts';
import { walk } from './syntax-walk.ts';
import { defaultProblems, optionalMarkProblems, problemAt, type SdkNames } from './syntax.ts';

export type HttpMethod = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

export type RouteArgument =
  | {
      readonly kind: 'parameter';
      readonly index: number;
      readonly name: string;
      readonly type: TypeNode;
    }
  | {
      /** `query-or-body`: the type decides (`isQueryType`), because the method of the route may have a body. */
      readonly kind: 'query' | 'body' | 'query-or-body';
      readonly name: string;
      readonly type: TypeNode;
      readonly node: ParameterNode;
    }
  | { readonly kind: 'request' }
  | { readonly kind: 'context' };

/** An argument that comes from the query string or the body. */
export type ValueArgument = Extract<RouteArgument, { readonly node: ParameterNode }>;

export function isValueArgument(argument: RouteArgument): argument is ValueArgument {
  return 'node' in argument;
}

const WITH_BODY: ReadonlySet<HttpMethod> = new Set(['POST', 'PUT', 'PATCH']);
/** A parameter with this name is the body, whatever its type. */
const BODY_NAME = 'body';

/**
 * Reads a parameter that is neither in the template nor of the SDK: it is the body if its name says so, else its type
 * decides.
 */
function valueArgument(
  parameter: ParameterNode,
  httpMethod: HttpMethod,
  problems: Problem[],
): ValueArgument {
  const name = parameter.name.text;
  const given = { name, type: parameter.type, node: parameter };
  const hasBody = WITH_BODY.has(httpMethod);
  if (name === BODY_NAME) {
    if (!hasBody)
      problems.push(
        problemAt(
          parameter.range,
          `'${name}' is the body of a request, and a ${httpMethod} has none`,
          'give it another name to take it from the query string',
        ),
      );
    return { kind: 'body', ...given };
  }
  problems.push(...hostileNameProblems(parameter, 'a query parameter', name));
  return { kind: hasBody ? 'query-or-body' : 'query', ...given };
}

/**
 * Reports a default that names another parameter: the default becomes a method of its own, in which that name would
 * mean something else or nothing.
 */
function borrowedDefaultProblems(
  { name, initializer }: ParameterNode,
  { signature }: MethodDeclaration,
): Problem[] {
  if (initializer === null) return [];
  const others = new Set(signature.parameters.map((parameter) => parameter.name.text));
  others.delete(name.text);
  const problems: Problem[] = [];
  walk(initializer, (node, parents) => {
    if (!(node instanceof IdentifierExpression) || !others.has(node.text)) return;
    const parent = parents.at(-1);
    if (parent instanceof PropertyAccessExpression && parent.property === node) return;
    problems.push(
      problemAt(
        node.range,
        `the default of '${name.text}' cannot be made of the parameter '${node.text}'`,
        'give it a value that stands for itself, and put the other one in its place in the handler',
      ),
    );
  });
  return problems;
}

function mayHaveDefault({ kind }: RouteArgument): boolean {
  return kind === 'query' || kind === 'query-or-body';
}

/** Reads the parameters of a handler. `template`: names of the path's parameters, in their order. */
export function readArguments(
  method: MethodDeclaration,
  httpMethod: HttpMethod,
  template: readonly string[],
  names: SdkNames,
  problems: Problem[],
): RouteArgument[] {
  const args: RouteArgument[] = [];
  for (const parameter of method.signature.parameters) {
    const name = parameter.name.text;
    const index = template.indexOf(name);
    const sdkType = names.of(parameter.type);
    const argument: RouteArgument =
      index >= 0
        ? { kind: 'parameter', index, name, type: parameter.type }
        : sdkType === 'Request'
          ? { kind: 'request' }
          : sdkType === 'Context'
            ? { kind: 'context' }
            : valueArgument(parameter, httpMethod, problems);
    args.push(argument);
    if (mayHaveDefault(argument))
      problems.push(
        ...optionalMarkProblems(parameter, method),
        ...borrowedDefaultProblems(parameter, method),
      );
    else problems.push(...defaultProblems(parameter, method));
  }
  for (const name of template)
    if (!args.some((argument) => argument.kind === 'parameter' && argument.name === name))
      problems.push(
        problemAt(
          method.name.range,
          `'${method.name.text}' does not take the path parameter {${name}}`,
          `add a parameter '${name}'`,
        ),
      );
  return args;
}
