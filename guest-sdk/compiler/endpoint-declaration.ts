// EndpointDeclaration: reads an @endpoint class from the syntax tree.
import { MethodDeclaration, type ClassDeclaration, type DecoratorNode } from 'assemblyscript';
import { isServiceReference } from '@svc/client';
import type { AccessRule, BearerRule, CorsDescriptor } from '@svc/contract';
import { readBearer } from './bearer-declaration.ts';
import type { Problem } from './build-error.ts';
import { readCors } from './cors-declaration.ts';
import { docCommentOf, type DocComment } from './doc-comment.ts';
import { type DeclaredLimit, readLimits, subjectlessLimit } from './limit-declaration.ts';
import { hostileNameProblems } from './reserved-names.ts';
import { type HttpMethod, readArguments, type RouteArgument } from './route-arguments.ts';
import { readRouteAnswers, type RouteAnswers } from './route-answers.ts';
import {
  constructorProblem,
  decoratorName,
  decoratorOf,
  handlerProblems,
  problemAt,
  stringArgument,
  stringArguments,
  type SdkNames,
} from './syntax.ts';

export interface RouteMethod {
  readonly httpMethod: HttpMethod;
  /** Path relative to the endpoint's prefix. */
  readonly path: string;
  readonly method: MethodDeclaration;
  readonly arguments: readonly RouteArgument[];
  readonly access: AccessRule | undefined;
  readonly bearer: BearerRule | undefined;
  readonly limits: readonly DeclaredLimit[];
  readonly cors: CorsDescriptor | undefined;
  readonly answers: RouteAnswers;
  readonly doc: DocComment;
}

export interface EndpointClass {
  readonly declaration: ClassDeclaration;
  readonly name: string;
  readonly prefix: string;
  readonly access: AccessRule;
  readonly bearer: BearerRule | undefined;
  readonly limits: readonly DeclaredLimit[];
  readonly cors: CorsDescriptor | undefined;
  readonly routes: readonly RouteMethod[];
}

const METHODS: ReadonlyMap<string, HttpMethod> = new Map([
  ['get', 'GET'],
  ['post', 'POST'],
  ['put', 'PUT'],
  ['patch', 'PATCH'],
  ['del', 'DELETE'],
]);
/** Decorators that a route may have besides that of its method. */
const ROUTE_DECORATORS: ReadonlySet<string> = new Set([
  'access',
  'answers',
  'bearer',
  'cors',
  'inline',
  'limit',
]);
const PATH = /^(\/(([A-Za-z0-9_.~!$&'()*+,;=:@-]|%[0-9A-Fa-f]{2})*|\{[A-Za-z_][A-Za-z0-9_]*\}))*$/;
const INTERNET: AccessRule = { allow: 'internet' };
const ACCESS_HELP =
  'say who may call: @access("internet"), @access("services"), @access("services", "orders", "billing.finance"), @access("local") or @access("nobody")';

export function readEndpoint(
  declaration: ClassDeclaration,
  role: DecoratorNode,
  names: SdkNames,
  problems: Problem[],
): EndpointClass {
  const name = declaration.name.text;
  const badConstructor = constructorProblem(declaration);
  if (badConstructor !== undefined) problems.push(badConstructor);
  const prefix = stringArgument(role);
  if (prefix === undefined || !PATH.test(prefix) || (prefix.endsWith('/') && prefix !== ''))
    problems.push(
      problemAt(
        role.range,
        '@endpoint needs the prefix of its routes',
        '@endpoint("/carts"), beginning with a slash and not ending with one, or @endpoint("")',
      ),
    );
  if ((declaration.typeParameters?.length ?? 0) > 0)
    problems.push(
      problemAt(declaration.name.range, `endpoint '${name}' cannot have type parameters`),
    );
  const accessNode = decoratorOf(declaration, 'access');
  if (accessNode === undefined)
    problems.push(
      problemAt(declaration.name.range, `endpoint '${name}' has no access rule`, ACCESS_HELP),
    );
  const access = accessNode === undefined ? undefined : readAccess(accessNode, problems);
  const routes: RouteMethod[] = [];
  for (const member of declaration.members) {
    if (!(member instanceof MethodDeclaration)) continue;
    const route = readRoute(member, prefix ?? '', names, problems);
    if (route !== undefined) routes.push(route);
  }
  // An invalid decorator has its own message.
  if (declaration.members.every((member) => (member.decorators ?? []).length === 0))
    problems.push(
      problemAt(
        declaration.name.range,
        `endpoint '${name}' has no route: nothing can reach it`,
        'add one: @get("/{id}") get(id: string): string { return id; }',
      ),
    );
  const rule = access ?? { allow: 'nobody' };
  const corsNode = decoratorOf(declaration, 'cors');
  const cors = corsNode === undefined ? undefined : readCors(corsNode, problems);
  if (corsNode !== undefined && access !== undefined) {
    const isOpen = routes.some((route) => (route.access ?? rule).allow === 'internet');
    if (!isOpen) problems.push(uselessCors(corsNode, `no route of endpoint '${name}' is`));
  }
  for (const route of routes) {
    const node = decoratorOf(route.method, 'cors');
    if (node === undefined || (route.access ?? access ?? INTERNET).allow === 'internet') continue;
    problems.push(uselessCors(node, `'${route.method.name.text}' is not`));
  }
  const bearer = bearerOf(declaration, problems);
  const limits = readLimits(declaration, problems);
  // A @bearer that cannot be read has its own message.
  if (decoratorOf(declaration, 'bearer') === undefined) {
    const open = routes.filter(({ method }) => decoratorOf(method, 'bearer') === undefined);
    problems.push(...subjectlessLimit(limits, open[0]?.method.name.text));
    for (const route of open)
      problems.push(...subjectlessLimit(route.limits, route.method.name.text));
  }
  return { declaration, name, prefix: prefix ?? '', access: rule, bearer, limits, cors, routes };
}

/**
 * Reports a @cors that has no effect: a page of another origin is a caller from the internet, never a service or the
 * own machine.
 */
function uselessCors(node: DecoratorNode, which: string): Problem {
  return problemAt(
    node.range,
    `@cors has no effect: ${which} open to the internet`,
    'take @cors away, or say @access("internet")',
  );
}

/** Returns whether every percent-encoding of the path decodes to text. */
function isUtf8(path: string): boolean {
  try {
    decodeURIComponent(path);
    return true;
  } catch {
    return false;
  }
}

function readAccess(node: DecoratorNode, problems: Problem[]): AccessRule | undefined {
  const [allow, ...services] = stringArguments(node) ?? [];
  if (allow === 'services') {
    const bad = services.find((service) => !isServiceReference(service));
    if (bad === undefined) return services.length === 0 ? { allow } : { allow, services };
    problems.push(
      problemAt(node.range, `'${bad}' is not a service`, 'write "service" or "service.project"'),
    );
    return undefined;
  }
  if ((allow === 'internet' || allow === 'local' || allow === 'nobody') && services.length === 0)
    return { allow };
  problems.push(problemAt(node.range, 'this access rule is not known', ACCESS_HELP));
  return undefined;
}

function bearerOf(
  declaration: Parameters<typeof decoratorOf>[0],
  problems: Problem[],
): BearerRule | undefined {
  const node = decoratorOf(declaration, 'bearer');
  return node && readBearer(node, problems);
}

function readRoute(
  method: MethodDeclaration,
  prefix: string,
  names: SdkNames,
  problems: Problem[],
): RouteMethod | undefined {
  let found: { readonly httpMethod: HttpMethod; readonly node: DecoratorNode } | undefined;
  for (const decorator of method.decorators ?? []) {
    const name = decoratorName(decorator);
    if (ROUTE_DECORATORS.has(name)) continue;
    const httpMethod = METHODS.get(name);
    if (httpMethod === undefined)
      problems.push(
        problemAt(
          decorator.range,
          `a method of an endpoint has one of @get, @post, @put, @patch, @del (DELETE), and @access, @bearer, @limit, @cors and @answers; not @${name}`,
        ),
      );
    else if (found !== undefined)
      problems.push(problemAt(decorator.range, 'a handler has one route', 'write a second method'));
    else found = { httpMethod, node: decorator };
  }
  if (found === undefined) {
    problems.push(...routelessProblems(method));
    return undefined;
  }
  const { httpMethod, node } = found;
  problems.push(...handlerProblems(method));
  const path = (node.args?.length ?? 0) === 0 ? '' : stringArgument(node);
  if (path === undefined || !PATH.test(path)) {
    problems.push(
      problemAt(
        node.range,
        `@${decoratorName(node)} needs a path that begins with a slash, with {name} for whole segments`,
        `@${decoratorName(node)}("/{id}/items"), of ASCII letters, digits and -._~!$&'()*+,;=:@, everything else percent-encoded (é is %C3%A9)`,
      ),
    );
    return undefined;
  }
  const template = readTemplate(node, prefix + path, problems);
  const accessNode = decoratorOf(method, 'access');
  const corsNode = decoratorOf(method, 'cors');
  return {
    httpMethod,
    path,
    method,
    arguments: readArguments(method, httpMethod, template, names, problems),
    access: accessNode === undefined ? undefined : readAccess(accessNode, problems),
    bearer: bearerOf(method, problems),
    limits: readLimits(method, problems),
    cors: corsNode === undefined ? undefined : readCors(corsNode, problems),
    answers: readRouteAnswers(method, decoratorOf(method, 'answers'), names, problems),
    doc: docCommentOf(method),
  };
}

/** Returns the names of the template's parameters, in the order of the template. */
function readTemplate(node: DecoratorNode, path: string, problems: Problem[]): readonly string[] {
  if (!isUtf8(path))
    problems.push(
      problemAt(
        node.range,
        'the path has a percent-encoding that is not UTF-8',
        'encode each character as UTF-8: é is %C3%A9',
      ),
    );
  const template = [...path.matchAll(/\{([^/{}]*)\}/g)].map((match) => match[1]!);
  for (const [index, name] of template.entries())
    if (template.indexOf(name) !== index)
      problems.push(
        problemAt(
          node.range,
          `the template has the parameter {${name}} twice`,
          'give each its own name; the prefix of the endpoint counts',
        ),
      );
    else problems.push(...hostileNameProblems(node, 'a path parameter', name));
  return template;
}

/** Reports route decorators of a method without a route: the method is no handler, so they would have no effect. */
function routelessProblems({ name, decorators }: MethodDeclaration): Problem[] {
  return (decorators ?? [])
    .filter((decorator) => ROUTE_DECORATORS.has(decoratorName(decorator)))
    .filter((decorator) => decoratorName(decorator) !== 'inline')
    .map((decorator) =>
      problemAt(
        decorator.range,
        `@${decoratorName(decorator)} means nothing here: '${name.text}' has no route`,
        `give it one, @get("/path") or @post, @put, @patch, @del; or take @${decoratorName(decorator)} away`,
      ),
    );
}
