// ServiceCalls: mistakes in requests to other services, as far as the source shows them: a text that is no name of a service, a
// path without a slash, and `ServiceClient` in an entity or a view, which is a fault at run time.
import {
  CallExpression,
  ClassDeclaration,
  NewExpression,
  PropertyAccessExpression,
  StringLiteralExpression,
  type Expression,
  type Node,
  type Source,
} from 'assemblyscript';
import { isServiceReference } from '@svc/client';
import type { Problem } from './build-error.ts';
import { decoratorOf, problemAt, sdkNames, textOf, type SdkNames } from './syntax.ts';
import { walk } from './syntax-walk.ts';

const CLIENT = 'ServiceClient';
/** Methods whose first parameter is a path. */
const WITH_PATH: ReadonlySet<string> = new Set(['get', 'post', 'put', 'patch', 'delete']);

export function serviceCallProblems(source: Source): Problem[] {
  const names = sdkNames(source);
  const problems: Problem[] = [];
  for (const statement of source.statements)
    walk(statement, (node, parents) => {
      if (node instanceof CallExpression) problems.push(...pathProblems(node, names));
      if (!isClient(node, names)) return;
      const owner = parents.find(isWithoutCalls);
      if (owner !== undefined) problems.push(handlerOnlyProblem(node, owner));
      else problems.push(...nameProblems(node));
    });
  return problems;
}

/** Returns whether the node is `new ServiceClient(…)`. */
function isClient(node: Node, names: SdkNames): node is NewExpression {
  if (!(node instanceof NewExpression)) return false;
  const { identifier, next } = node.typeName;
  return next === null
    ? names.ofLocal(identifier.text) === CLIENT
    : names.isNamespace(identifier.text) && next.identifier.text === CLIENT;
}

/** Returns whether the node is a class that cannot call services. */
function isWithoutCalls(node: Node): node is ClassDeclaration {
  if (!(node instanceof ClassDeclaration)) return false;
  return decoratorOf(node, 'entity') !== undefined || decoratorOf(node, 'view') !== undefined;
}

function handlerOnlyProblem(node: Node, owner: ClassDeclaration): Problem {
  const isEntity = decoratorOf(owner, 'entity') !== undefined;
  return problemAt(
    node.range,
    `${isEntity ? 'entity' : 'view'} '${owner.name.text}' cannot call other services: only endpoints and consumers can`,
    isEntity
      ? 'call in the endpoint, and give the entity what it needs of the response as its input'
      : 'fold what the events say; a consumer of the same events can call',
  );
}

function nameProblems({ args }: NewExpression): Problem[] {
  const [name] = args;
  if (!(name instanceof StringLiteralExpression) || isServiceReference(name.value)) return [];
  return [
    problemAt(
      name.range,
      `${textOf(name)} is no name of a service`,
      'write the service, "billing", or service and project, "ledger.finance", in lower case; the path belongs to the request',
    ),
  ];
}

/** Reports the path of a request that is made with the client at once: `new ServiceClient("billing").get<T>("invoices")`. */
function pathProblems({ expression: called, args }: CallExpression, names: SdkNames): Problem[] {
  if (!(called instanceof PropertyAccessExpression) || !isClient(called.expression, names))
    return [];
  const method = called.property.text;
  const path: Expression | undefined = WITH_PATH.has(method)
    ? args[0]
    : method === 'request'
      ? args[1]
      : undefined;
  if (!(path instanceof StringLiteralExpression) || path.value.startsWith('/')) return [];
  return [
    problemAt(path.range, 'the path of a request begins with a slash', `write "/${path.value}"`),
  ];
}
