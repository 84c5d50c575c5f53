// Descriptor: writes the module's descriptor from the resolved program: the registered classes, with the resolved
// types of their handlers.
import {
  Class,
  ClassPrototype,
  Function as CompiledFunction,
  FunctionPrototype,
  type ClassDeclaration,
  type MethodDeclaration,
  type Program,
  type Range,
  type Type,
} from 'assemblyscript';
import {
  isQueryDefault,
  type ConsumerDescriptor,
  type EndpointDescriptor,
  type EntityDescriptor,
  type ModuleDescriptor,
  type RouteDescriptor,
  type ViewDescriptor,
} from '@svc/contract';
import type { Problem } from './build-error.ts';
import { configurationDescriptor } from './configuration-descriptor.ts';
import type { ConsumerClass } from './consumer-declaration.ts';
import type { Declarations } from './declarations.ts';
import type { EndpointClass, RouteMethod } from './endpoint-declaration.ts';
import type { EntityClass, EntityHandler } from './entity-declaration.ts';
import type { DeclaredLimit } from './limit-declaration.ts';
import { literalDefault } from './literal-default.ts';
import { PLAIN } from './route-answers.ts';
import { isValueArgument, type ValueArgument } from './route-arguments.ts';
import { isInQuery, isQueryRequired } from './route-values.ts';
import { SchemaBuilder, displayName } from './schema-of-type.ts';
import { SDK_PATH, problemAt } from './syntax.ts';
import type { ViewClass } from './view-declaration.ts';
import type { ViewDefinitions } from './view-definition.ts';
import { classOf } from './resolved-types.ts';

type Body = NonNullable<RouteDescriptor['reply']>;
type QueryParameters = NonNullable<RouteDescriptor['query']>;

export interface RegisteredEndpoint {
  readonly reference: Class;
  /** Index of the endpoint's first route among all routes. */
  readonly firstRoute: number;
}

export interface Registered {
  readonly descriptor: ModuleDescriptor;
  readonly endpoints: readonly RegisteredEndpoint[];
}

export function describe(
  program: Program,
  declarations: Declarations,
  definitions: ViewDefinitions,
  sdk: { readonly name: string; readonly version: string },
  problems: Problem[],
): Registered {
  const report = (range: Range, message: string): void => {
    problems.push(problemAt(range, message));
  };
  const schemas = new SchemaBuilder(program, declarations, report);
  const entities: EntityDescriptor[] = [];
  const endpoints: EndpointDescriptor[] = [];
  const views: ViewDescriptor[] = [];
  const consumers: ConsumerDescriptor[] = [];
  const registeredEndpoints: RegisteredEndpoint[] = [];
  let routes = 0;
  for (const reference of registeredClasses(program)) {
    const declaration = reference.prototype.declaration as ClassDeclaration;
    const entity = declarations.entities.get(declaration);
    const endpoint = declarations.endpoints.get(declaration);
    const view = declarations.views.get(declaration);
    const consumer = declarations.consumers.get(declaration);
    if (entity !== undefined) {
      entities.push(entityDescriptor(reference, entity, schemas, report));
    } else if (endpoint !== undefined) {
      registeredEndpoints.push({ reference, firstRoute: routes });
      routes += endpoint.routes.length;
      endpoints.push(endpointDescriptor(reference, endpoint, schemas, report));
    } else if (view !== undefined)
      views.push(viewDescriptor(reference, view, declarations, definitions, schemas));
    else if (consumer !== undefined) consumers.push(consumerDescriptor(consumer));
  }
  const configuration = configurationDescriptor(program, declarations, schemas);
  const descriptor = {
    protocol: '0.2.0',
    sdk,
    types: { ...schemas.types },
    entities,
    endpoints,
    ...(views.length === 0 ? {} : { views }),
    ...(consumers.length === 0 ? {} : { consumers }),
    ...(configuration === undefined ? {} : { configuration }),
  };
  return { descriptor, endpoints: registeredEndpoints };
}

/** Returns the classes that are registered, in the order of the calls of `register`. */
function registeredClasses(program: Program): Class[] {
  const prototype = program.elementsByName.get(`${SDK_PATH}registry/register`);
  if (!(prototype instanceof FunctionPrototype)) return [];
  const classes: Class[] = [];
  for (const instance of prototype.instances?.values() ?? []) {
    const reference = instance.typeArguments?.[0]?.getClass();
    if (reference !== undefined && reference !== null) classes.push(reference);
  }
  return classes;
}

type Report = (range: Range, message: string) => void;

function entityDescriptor(
  reference: Class,
  entity: EntityClass,
  schemas: SchemaBuilder,
  report: Report,
): EntityDescriptor {
  const [state, event] = reference.base?.typeArguments ?? [];
  const handlers = (kind: EntityHandler['kind']): EntityDescriptor['commands'] =>
    entity.handlers
      .filter((handler) => handler.kind === kind)
      .map((handler) => {
        const signature = signatureOf(reference, handler.method);
        const inputIndex = handler.arguments.indexOf('input');
        const returned = signature.returnType;
        const reply = sdkClass(returned, 'Effect') ?? sdkClass(returned, 'Result') ?? returned;
        return {
          name: handler.wireName,
          ...(inputIndex < 0
            ? {}
            : {
                input: schemas.schema(signature.parameterTypes[inputIndex]!, handler.input!.range),
              }),
          reply: schemas.schema(reply, handler.reply.range),
        };
      });
  return {
    component: entity.component,
    state: stored(state, entity.stateNode?.range, schemas, report),
    event: stored(event, entity.eventNode?.range, schemas, report),
    commands: handlers('command'),
    queries: handlers('query'),
    ...(repliesFromState(reference) ? { repliesFromState: true as const } : {}),
  };
}

function viewDescriptor(
  reference: Class,
  view: ViewClass,
  declarations: Declarations,
  definitions: ViewDefinitions,
  schemas: SchemaBuilder,
): ViewDescriptor {
  const queries = declarations.queries.filter((query) => query.view === view.id);
  const definition = view.version ?? definitions.get(view.declaration);
  return {
    id: view.id,
    sources: view.folds.map(({ component }) => component),
    row: schemas.schema(reference.base!.typeArguments![0]!, view.row!.range),
    ...(view.keys.length === 0 ? {} : { computesKeys: true as const }),
    ...(definition === undefined ? {} : { definition }),
    indexes: view.indexes.map(({ fields }) => [...fields]),
    queries: queries.map(({ declaration, name, where }) => {
      const parameters = classOf(reference.program, declaration)!;
      return { name, where, parameters: schemas.schema(parameters.type, declaration.name.range) };
    }),
  };
}

function consumerDescriptor({ id, start, sources }: ConsumerClass): ConsumerDescriptor {
  return { id, sources: sources.map(({ component }) => component), start };
}

/** Returns whether a command of the entity replies with a value that is computed from the state after the events. */
function repliesFromState(reference: Class): boolean {
  const [state, event] = reference.base?.typeArguments ?? [];
  const prototype = reference.program.elementsByName.get(`${SDK_PATH}effect/Change`);
  if (!(prototype instanceof ClassPrototype)) return false;
  return [...(prototype.instances?.values() ?? [])].some((change) => {
    const [changeState, changeEvent] = change.typeArguments ?? [];
    const later = change.getMember('__svc_later');
    if (changeState !== state || changeEvent !== event) return false;
    return later instanceof FunctionPrototype && (later.instances?.size ?? 0) > 0;
  });
}

function stored(
  type: Type | undefined,
  range: Range | undefined,
  schemas: SchemaBuilder,
  report: Report,
): EntityDescriptor['state'] {
  const reference = type?.getClass();
  const data =
    reference === undefined || reference === null ? undefined : schemas.dataOf(reference);
  if (type === undefined || range === undefined || data === undefined) {
    if (range !== undefined)
      report(range, `'${type ? displayName(type) : ''}' must be a @data class: it is stored`);
    return { manifest: 'none', schema: { type: 'null' } };
  }
  return { manifest: data.manifest, schema: schemas.schema(type, range) };
}

function endpointDescriptor(
  reference: Class,
  endpoint: EndpointClass,
  schemas: SchemaBuilder,
  report: Report,
): EndpointDescriptor {
  return {
    name: endpoint.name,
    prefix: endpoint.prefix,
    access: endpoint.access,
    ...(endpoint.bearer === undefined ? {} : { bearer: endpoint.bearer }),
    ...limitsMember(endpoint.limits),
    ...(endpoint.cors === undefined ? {} : { cors: endpoint.cors }),
    routes: endpoint.routes.map((route) => routeDescriptor(reference, route, schemas, report)),
  };
}

function limitsMember(limits: readonly DeclaredLimit[]): Pick<RouteDescriptor, 'limits'> {
  return limits.length === 0 ? {} : { limits: limits.map(({ rule }) => rule) };
}

function routeDescriptor(
  reference: Class,
  route: RouteMethod,
  schemas: SchemaBuilder,
  report: Report,
): RouteDescriptor {
  const signature = signatureOf(reference, route.method);
  const parameters: RouteDescriptor['parameters'] = [];
  let body: Body | undefined;
  const query: QueryParameters = [];
  for (const [index, argument] of route.arguments.entries()) {
    const type = signature.parameterTypes[index]!;
    if (argument.kind === 'parameter')
      parameters[argument.index] = {
        name: argument.name,
        schema: schemas.schema(type, argument.type.range),
      };
    else if (!isValueArgument(argument)) continue;
    else if (isInQuery(argument, type))
      query.push(queryParameter(argument, type, reference, schemas));
    else
      body = {
        ...bodyOf(type.nonNullableType, argument.type.range, schemas, type),
        ...(type.isNullableReference ? { optional: true } : {}),
      };
  }
  const returned = signature.returnType;
  const reply = replyBody(returned, route.method.signature.returnType.range, schemas, report);
  return {
    method: route.httpMethod,
    path: route.path,
    handler: route.method.name.text,
    parameters,
    ...(query.length === 0 ? {} : { query }),
    ...(body === undefined ? {} : { body }),
    ...(reply === undefined ? {} : { reply }),
    ...answersOf(route, reply),
    ...route.doc,
    ...(route.access === undefined ? {} : { access: route.access }),
    ...(route.bearer === undefined ? {} : { bearer: route.bearer }),
    ...limitsMember(route.limits),
    ...(route.cors === undefined ? {} : { cors: route.cors }),
  };
}

/**
 * Returns the descriptor of a query parameter. It contains the default only if the source spells the value out, and
 * the value is one of the parameter's type.
 */
function queryParameter(
  argument: ValueArgument,
  type: Type,
  endpoint: Class,
  schemas: SchemaBuilder,
): QueryParameters[number] {
  const { name, node } = argument;
  const schema = schemas.schema(type, argument.type.range);
  const fallback = node.initializer && literalDefault(node.initializer, type, endpoint);
  return {
    name,
    schema,
    required: isQueryRequired(argument, type),
    ...(isQueryDefault(fallback, schema, schemas.types) ? { default: fallback } : {}),
  };
}

/**
 * Returns the member `answers`: the statuses of a route. It is left out if they are not known, or are the default: 200,
 * or 204 without a reply.
 */
function answersOf(
  { answers: { declared, seen } }: RouteMethod,
  reply: Body | undefined,
): { readonly answers?: number[] } {
  if (declared !== undefined) return { answers: [...declared] };
  const plain = reply === undefined ? 204 : 200;
  const statuses = [...new Set(seen?.map((status) => (status === PLAIN ? plain : status)))];
  const isDefault = statuses.every((status) => status === plain);
  return isDefault ? {} : { answers: statuses.toSorted((a, b) => a - b) };
}

function bodyOf(type: Type, range: Range, schemas: SchemaBuilder, whole: Type = type): Body {
  const name = type.getClass()?.prototype.internalName;
  if (name === '~lib/string/String') return { kind: 'text' };
  if (name === '~lib/typedarray/Uint8Array') return { kind: 'bytes' };
  return { kind: 'json', schema: schemas.schema(whole, range) };
}

/** Returns the body of a handler's reply; undefined if it has none. */
export function replyBody(
  returned: Type,
  range: Range,
  schemas: SchemaBuilder,
  report: Report,
): Body | undefined {
  const value = sdkClass(returned, 'Result') ?? returned;
  const type = sdkClass(value, 'Response') ?? value;
  if (type.getClass()?.prototype.internalName === `${SDK_PATH}done/Done`) return undefined;
  if (type.toString() === 'void') {
    report(range, 'a handler returns a value: Done when there is nothing to say (204)');
    return undefined;
  }
  return bodyOf(type, range, schemas);
}

/** Returns `T` if the type is the SDK's class `name<T>`; undefined for any other type. */
function sdkClass(type: Type, name: 'Effect' | 'Result' | 'Response'): Type | undefined {
  const reference = type.getClass();
  const file = { Effect: 'effect', Result: 'result', Response: 'http' }[name];
  if (reference?.prototype.internalName !== `${SDK_PATH}${file}/${name}`) return undefined;
  return reference.typeArguments?.[0];
}

function signatureOf(reference: Class, method: MethodDeclaration): CompiledFunction['signature'] {
  const member = reference.getMember(method.name.text);
  if (member instanceof FunctionPrototype) {
    const resolved = reference.program.resolver.resolveFunction(member, null);
    if (resolved !== null) return resolved.signature;
  }
  throw new Error(`handler '${method.name.text}' does not resolve`);
}
