// EmbeddedDescriptor: the module descriptor of TypeScript components.
import {
  type ConfigurationDescriptor,
  type ConsumerDescriptor,
  type ModuleDescriptor,
  type RouteDescriptor,
  type ScheduleDescriptor,
  type ViewDescriptor,
  PROTOCOL_VERSION,
  isQueryDefault,
  parseModuleDescriptor,
} from '@svc/contract';
import type { Security } from './check-definition.ts';
import type { Components } from './components.ts';
import type { ConfigurationDefinition } from './configuration-definition.ts';
import type { ConsumerDefinition } from './consumer-definition.ts';
import { DeferredCall } from './deferred-call.ts';
import { Due } from './due.ts';
import type { EntityDefinition, HandlerDefinition } from './entity-definition.ts';
import { type RouteBody, type RouteDefinition, isOptionalBody } from './route-definition.ts';
import type { Schedule } from './schedule.ts';
import { ShapeDescription } from './shape-description.ts';
import {
  type Field,
  type Shape,
  invalidDefinition,
  isFlag,
  isRequired,
  recordOf,
} from './shape.ts';
import type { ViewDefinition } from './view-definition.ts';

type QueryParameter = NonNullable<RouteDescriptor['query']>[number];

const SDK = { name: '@svc/host', version: '0.1.0' };

/**
 * Describes the components. Throws SVC_DEFINITION_INVALID if the descriptor breaks a rule, for example with an invalid
 * component name or a duplicate route.
 */
export function describeComponents({
  entities = [],
  endpoints = [],
  views = [],
  consumers = [],
  schedules = [],
  configuration,
}: Components): ModuleDescriptor {
  const types = new ShapeDescription();
  const descriptor: ModuleDescriptor = {
    protocol: PROTOCOL_VERSION,
    sdk: SDK,
    types: types.types,
    entities: entities.map((entity) => describeEntity(entity, types)),
    endpoints: endpoints.map(({ name, prefix, access, bearer, cors, routes }) => ({
      name,
      prefix,
      access,
      ...(bearer === undefined ? {} : { bearer }),
      ...(cors === undefined ? {} : { cors }),
      routes: Object.entries(routes).map(([handler, route]) =>
        describeRoute(handler, route, types),
      ),
    })),
    ...(views.length === 0 ? {} : { views: views.map((view) => describeView(view, types)) }),
    ...(consumers.length === 0 ? {} : { consumers: consumers.map(describeConsumer) }),
    ...(schedules.length === 0 ? {} : { schedules: schedules.map(describeSchedule) }),
    ...(configuration === undefined
      ? {}
      : { configuration: describeConfiguration(configuration, types) }),
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

function describeView(
  { id, version, row, sources, hasKeys, indexes, queries }: ViewDefinition,
  types: ShapeDescription,
): ViewDescriptor {
  return {
    id,
    sources: [...sources.keys()],
    row: types.of(row.shape, `${id}.row`),
    ...(hasKeys ? { computesKeys: true as const } : {}),
    definition: version,
    indexes: indexes.map((fields) => [...fields]),
    queries: queries.map(({ name, where, parameters }) => ({
      name,
      where,
      ...(parameters === undefined
        ? {}
        : { parameters: types.of(parameters.shape, `${id}.${name}`) }),
    })),
  };
}

function describeConfiguration(
  { codec: { shape }, secrets }: ConfigurationDefinition,
  types: ShapeDescription,
): ConfigurationDescriptor {
  const schema = types.of(shape, 'configuration');
  const fields = recordOf(shape)!.fields.filter(({ default: fallback, ...field }) =>
    isQueryDefault(fallback, types.of(field.shape, `configuration.${field.name}`), types.types),
  );
  const defaults = fields.map(({ name, default: fallback }) => [name, fallback]);
  return {
    schema,
    ...(defaults.length === 0 ? {} : { defaults: Object.fromEntries(defaults) as never }),
    ...(secrets.length === 0 ? {} : { secrets: [...secrets] }),
  };
}

function describeConsumer({ id, start, sources }: ConsumerDefinition): ConsumerDescriptor {
  return { id, sources: [...sources.keys()], start };
}

function describeSchedule({ id, due, call }: Schedule): ScheduleDescriptor {
  const location = `schedule '${id}'`;
  // A program in JavaScript may pass any value.
  if (!(due instanceof Due) || !(call instanceof DeferredCall))
    throw invalidDefinition(
      location,
      'it does not say when it is due, or what it sends',
      "Write { id, due: Due.cron('0 3 * * *'), call: callOf(report, 'daily').make() }.",
    );
  const { stored } = due;
  if (stored.kind !== 'every' && stored.kind !== 'cron')
    throw invalidDefinition(location, 'it is due only once', 'Write Due.every(…) or Due.cron(…).');
  const { target, command, input } = call.stored;
  return { id, target, command, ...(input === 'null' ? {} : { input }), due: stored };
}

function describeRoute(
  handler: string,
  route: RouteDefinition,
  types: ShapeDescription,
): ModuleDescriptor['endpoints'][number]['routes'][number] {
  const { method, path, parameters, query, body, reply, access, bearer } = route;
  const { answers, summary, description, cors, security, refusals } = route;
  const content = (part: RouteBody) =>
    part.codec !== undefined
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
    ...(refusals.length === 0 ? {} : { refusals: [...refusals] }),
    ...(security === undefined ? {} : { security: describedSecurity(security) }),
    ...(summary === undefined ? {} : { summary }),
    ...(description === undefined ? {} : { description }),
    ...(access === undefined ? {} : { access }),
    ...(bearer === undefined ? {} : { bearer }),
    ...(cors === undefined ? {} : { cors }),
  };
}

/** Describes a scheme; names of headers ignore case. */
function describedSecurity(security: Security): NonNullable<RouteDescriptor['security']> {
  if (security.scheme !== 'header') return { ...security };
  return { ...security, name: security.name.toLowerCase() };
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
    ...(isFlag(field.shape) ? { flag: true as const } : {}),
  };
}

/** Returns the fields of the query's schema; a schema that accepts any name declares none. */
function queryParameters(shape: Shape | undefined): readonly Field[] {
  return (shape && recordOf(shape)?.fields) ?? [];
}
