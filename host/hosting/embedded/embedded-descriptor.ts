// EmbeddedDescriptor: the module descriptor of TypeScript components.
import {
  type ModuleDescriptor,
  type RouteDescriptor,
  PROTOCOL_VERSION,
  isQueryDefault,
  parseModuleDescriptor,
} from '@svc/contract';
import type { EndpointDefinition } from './endpoint-definition.ts';
import type { EntityDefinition, HandlerDefinition } from './entity-definition.ts';
import { type RouteBody, type RouteDefinition, isOptionalBody } from './route-definition.ts';
import { ShapeDescription } from './shape-description.ts';
import { type Field, type Shape, invalidDefinition, isRequired, recordOf } from './shape.ts';

type QueryParameter = NonNullable<RouteDescriptor['query']>[number];

const SDK = { name: '@svc/host', version: '0.1.0' };

/**
 * Describes the components. Throws SVC_DEFINITION_INVALID if the descriptor breaks a rule, for example with an invalid
 * component name or a duplicate route.
 */
export function describeComponents(
  entities: readonly EntityDefinition[],
  endpoints: readonly EndpointDefinition[],
): ModuleDescriptor {
  const types = new ShapeDescription();
  const descriptor: ModuleDescriptor = {
    protocol: PROTOCOL_VERSION,
    sdk: SDK,
    types: types.types,
    entities: entities.map((entity) => describeEntity(entity, types)),
    endpoints: endpoints.map(({ name, prefix, access, cors, routes }) => ({
      name,
      prefix,
      access,
      ...(cors === undefined ? {} : { cors }),
      routes: Object.entries(routes).map(([handler, route]) =>
        describeRoute(handler, route, types),
      ),
    })),
  };
  // The descriptor is parsed from its text like a module's, so the same rules apply.
  const result = parseModuleDescriptor(JSON.stringify(descriptor));
  if (result.ok) return result.descriptor;
  throw invalidDefinition('the components', result.problems.join('; '), 'Change what is named.');
}

function describeEntity(
  { component, state, event, handlers }: EntityDefinition,
  types: ShapeDescription,
): ModuleDescriptor['entities'][number] {
  const described = (kind: HandlerDefinition['kind']) =>
    handlers
      .filter((handler) => handler.kind === kind)
      .map(({ name, input, reply }) => ({
        name,
        ...(input === undefined ? {} : { input: types.of(input.shape, `${name}.input`) }),
        reply:
          reply === undefined ? { type: 'null' as const } : types.of(reply.shape, `${name}.reply`),
      }));
  return {
    component,
    state: { manifest: state.manifest, schema: types.of(state.codec.shape, state.manifest) },
    event: { manifest: event.manifest, schema: types.of(event.codec.shape, event.manifest) },
    commands: described('command'),
    queries: described('query'),
  };
}

function describeRoute(
  handler: string,
  route: RouteDefinition,
  types: ShapeDescription,
): ModuleDescriptor['endpoints'][number]['routes'][number] {
  const { method, path, parameters, query, body, reply, access } = route;
  const { answers, summary, description, cors } = route;
  const content = (part: RouteBody) =>
    part.kind === 'json'
      ? { kind: part.kind, schema: types.of(part.codec.shape, handler) }
      : { kind: part.kind };
  const inQuery = queryParameters(query?.shape);
  return {
    method,
    path,
    handler,
    parameters: parameters.map(({ name, codec }) => ({
      name,
      schema: types.of(codec.shape, name),
    })),
    ...(inQuery.length === 0
      ? {}
      : {
          query: inQuery.map((field) => queryParameter(field, handler, types)),
        }),
    ...(body === undefined
      ? {}
      : { body: { ...content(body), ...(isOptionalBody(body) ? { optional: true } : {}) } }),
    ...(reply === undefined ? {} : { reply: content(reply) }),
    ...(answers === undefined ? {} : { answers: [...answers] }),
    ...(summary === undefined ? {} : { summary }),
    ...(description === undefined ? {} : { description }),
    ...(access === undefined ? {} : { access }),
    ...(cors === undefined ? {} : { cors }),
  };
}

/** Describes a query parameter. Leaves out a default that the descriptor cannot express, such as a long text. */
function queryParameter(field: Field, handler: string, types: ShapeDescription): QueryParameter {
  const schema = types.of(field.shape, `${handler}.${field.name}`);
  const isDescribed = isQueryDefault(field.default, schema, types.types);
  return {
    name: field.name,
    schema,
    required: isRequired(field),
    ...(isDescribed ? { default: field.default } : {}),
  };
}

/** Returns the fields of the query's schema; a schema that accepts any name declares none. */
function queryParameters(shape: Shape | undefined): readonly Field[] {
  return (shape && recordOf(shape)?.fields) ?? [];
}
