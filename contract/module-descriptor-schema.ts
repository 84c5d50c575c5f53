// The schema of a module descriptor, the description that a module carries. It is published as JSON Schema
// (generated/module-descriptor.schema.json), and descriptors are checked against that file: programs import only
// types from here, so that only `npm run generate` loads the schema library.
import { Type, type Static } from 'typebox';
import { endpointRuleShapes, Limits, Reason } from './endpoint-rule-schema.ts';
import {
  ANSWERS_MAX,
  DEFAULT_ITEMS_MAX,
  DEFAULT_LENGTH_MAX,
  DESCRIPTION_LENGTH_MAX,
  QUERY_PARAMETERS_MAX,
  SUMMARY_LENGTH_MAX,
} from './route-limits.ts';
import { EVERY_MS_MIN } from './timer-limits.ts';
import { typeSchemaShapes } from './type-schema.ts';
import {
  CONSUMERS_MAX,
  EVERY_MS_MAX,
  INDEXES_MAX,
  INDEX_FIELDS_MAX,
  SCHEDULES_MAX,
  SCHEDULE_INPUT_BYTES_MAX,
  VIEWS_MAX,
  VIEW_QUERIES_MAX,
  VIEW_QUERY_LENGTH_MAX,
} from './view-limits.ts';

const closed = { additionalProperties: false } as const;
/** Names of components, commands and queries: they are stored or appear in addresses. */
const WireName = Type.String({ pattern: '^[A-Za-z][A-Za-z0-9._-]{0,99}$' });
const ManifestName = Type.String({ pattern: '^[A-Za-z][A-Za-z0-9._<>, -]{0,199}$' });
const ParameterName = Type.String({ pattern: '^[A-Za-z_][A-Za-z0-9_]{0,99}$' });
/**
 * Query parameter names. With the embedded hosting they may have more characters than an identifier: `page-size`,
 * `filter[name]`.
 */
const QueryName = Type.String({ pattern: '^[^\\u0000-\\u001f\\u007f-\\u009f]{1,100}$' });
/** Text that people choose, without control characters. */
const Version = Type.String({ pattern: '^[^\\u0000-\\u001f\\u007f-\\u009f]{1,100}$' });
const EntityId = Type.String({ pattern: '^[^\\u0000-\\u001f\\u007f-\\u009f]{1,256}$' });
/** Ids of components whose events a view or a consumer is given. */
const Sources = Type.Array(WireName, { minItems: 1, maxItems: 1000 });
const Path = Type.String({ pattern: "^(/[A-Za-z0-9_.~!$&'()*+,;=:@{}%-]*)*$", maxLength: 1000 });

const shapes = {
  ...typeSchemaShapes,
  ...endpointRuleShapes,
  Handler: Type.Object(
    {
      name: WireName,
      /** Absent: the handler takes no input. */
      input: Type.Optional(Type.Ref('TypeSchema')),
      reply: Type.Ref('TypeSchema'),
    },
    closed,
  ),
  StoredType: Type.Object({ manifest: ManifestName, schema: Type.Ref('TypeSchema') }, closed),
  Entity: Type.Object(
    {
      component: WireName,
      state: Type.Ref('StoredType'),
      event: Type.Ref('StoredType'),
      commands: Type.Array(Type.Ref('Handler'), { maxItems: 1000 }),
      queries: Type.Array(Type.Ref('Handler'), { maxItems: 1000 }),
      /**
       * A command may leave the text of its reply empty. In that case the runtime asks for the reply after it has
       * applied the events, by a query that has the command's name and the input `null`.
       */
      repliesFromState: Type.Optional(Type.Literal(true)),
    },
    closed,
  ),
  Body: Type.Object(
    {
      /** Format of the bytes: JSON of `schema`, text, or raw bytes. */
      kind: Type.Union([Type.Literal('json'), Type.Literal('text'), Type.Literal('bytes')]),
      /** With `bytes`, in a request: the type of the JSON that the handler reads from the bytes by itself. */
      schema: Type.Optional(Type.Ref('TypeSchema')),
      /** True: a request may omit this body. Absent: only a text or bytes body may be empty. */
      optional: Type.Optional(Type.Literal(true)),
    },
    closed,
  ),
  /** The JSON form of a scalar: a 64-bit integer beyond 2^53 - 1 in magnitude is a text of digits. */
  Scalar: Type.Union([
    Type.Boolean(),
    Type.Number(),
    Type.String({ maxLength: DEFAULT_LENGTH_MAX }),
  ]),
  QueryParameter: Type.Object(
    {
      name: QueryName,
      /** A scalar, a list of scalars (one for each occurrence of the name), or a nullable one of these. */
      schema: Type.Ref('TypeSchema'),
      required: Type.Boolean(),
      /**
       * The value that the handler is given in place of a parameter that is left out. Absent: null, an empty list, or
       * a value that the module computes.
       */
      default: Type.Optional(
        Type.Union([
          Type.Ref('Scalar'),
          Type.Array(Type.Ref('Scalar'), { maxItems: DEFAULT_ITEMS_MAX }),
        ]),
      ),
      /** True: a boolean that is also `true` where the name has no value, or an empty one. */
      flag: Type.Optional(Type.Literal(true)),
    },
    closed,
  ),
  Route: Type.Object(
    {
      method: Type.Union([
        Type.Literal('GET'),
        Type.Literal('POST'),
        Type.Literal('PUT'),
        Type.Literal('PATCH'),
        Type.Literal('DELETE'),
      ]),
      /** Relative to the endpoint's prefix, with `{name}` parameters that are whole segments. */
      path: Path,
      /** Name of the handler in the source, for display. */
      handler: Type.String({ pattern: '^[A-Za-z_$][A-Za-z0-9_$]{0,99}$' }),
      /** Parameters of the path, in the order of the template. */
      parameters: Type.Array(
        Type.Object({ name: ParameterName, schema: Type.Ref('TypeSchema') }, closed),
        { maxItems: 32 },
      ),
      /** Absent: the route declares none. Query parameters that a handler reads by itself are not listed. */
      query: Type.Optional(
        Type.Array(Type.Ref('QueryParameter'), { minItems: 1, maxItems: QUERY_PARAMETERS_MAX }),
      ),
      body: Type.Optional(Type.Ref('Body')),
      /** Absent: no content (204). */
      reply: Type.Optional(Type.Ref('Body')),
      /** Statuses of the handler's own responses; absent: 200, or 204 without a reply. */
      answers: Type.Optional(
        Type.Array(Type.Integer({ minimum: 200, maximum: 599 }), {
          minItems: 1,
          maxItems: ANSWERS_MAX,
        }),
      ),
      /** Reasons for which the handler or its checks refuse, by status. */
      refusals: Type.Optional(
        Type.Array(
          Type.Object(
            { status: Type.Integer({ minimum: 400, maximum: 599 }), reason: Reason },
            closed,
          ),
          { minItems: 1, maxItems: ANSWERS_MAX },
        ),
      ),
      /** Absent: callers need not show who they are, or the module does not say how. */
      security: Type.Optional(Type.Ref('Security')),
      /** Summary of the route in one line, for people. */
      summary: Type.Optional(Type.String({ minLength: 1, maxLength: SUMMARY_LENGTH_MAX })),
      /** Description of the route without its summary, for people. */
      description: Type.Optional(Type.String({ minLength: 1, maxLength: DESCRIPTION_LENGTH_MAX })),
      /** Overrides the access rule of the endpoint. */
      access: Type.Optional(Type.Ref('AccessRule')),
      /** Overrides the bearer rule of the endpoint. */
      bearer: Type.Optional(Type.Ref('BearerRule')),
      /** Limits of the route, besides those of the endpoint. */
      limits: Type.Optional(Limits),
      /** Overrides the CORS of the endpoint. Only a route that the internet may call has one. */
      cors: Type.Optional(Type.Ref('Cors')),
    },
    closed,
  ),
  Endpoint: Type.Object(
    {
      name: Type.String({ pattern: '^[A-Za-z_$][A-Za-z0-9_$]{0,99}$' }),
      prefix: Path,
      access: Type.Ref('AccessRule'),
      /** Absent: callers of its routes need no token, unless the route has a rule of its own. */
      bearer: Type.Optional(Type.Ref('BearerRule')),
      /** Limits that count the requests of all routes of the endpoint together; by route, those of each route. */
      limits: Type.Optional(Limits),
      /** CORS of the routes that the internet may call; absent: pages of other origins cannot read their answers. */
      cors: Type.Optional(Type.Ref('Cors')),
      routes: Type.Array(Type.Ref('Route'), { maxItems: 1000 }),
    },
    closed,
  ),
  ViewQuery: Type.Object(
    {
      name: WireName,
      /** Conditions and order, as contract/view-query.ts parses them. An empty text stands for all rows. */
      where: Type.String({ maxLength: VIEW_QUERY_LENGTH_MAX }),
      /** A record of scalars; absent: the query has no parameters. */
      parameters: Type.Optional(Type.Ref('TypeSchema')),
    },
    closed,
  ),
  View: Type.Object(
    {
      id: WireName,
      sources: Sources,
      /** Type of a row: a record. */
      row: Type.Ref('TypeSchema'),
      /**
       * True: the module computes the keys of the rows that an event changes. Absent: the key is the id of the event's
       * entity, and the row is removed when the entity is deleted.
       */
      computesKeys: Type.Optional(Type.Literal(true)),
      /**
       * Version or hash of the code that folds events into rows: when it changes, the rows are folded anew. Absent: the
       * fingerprint of the module stands for it.
       */
      definition: Type.Optional(Version),
      /** Names of fields, for each index. The row's key follows them. */
      indexes: Type.Array(
        Type.Array(Type.String({ maxLength: 200 }), { minItems: 1, maxItems: INDEX_FIELDS_MAX }),
        { maxItems: INDEXES_MAX },
      ),
      queries: Type.Array(Type.Ref('ViewQuery'), { maxItems: VIEW_QUERIES_MAX }),
    },
    closed,
  ),
  Consumer: Type.Object(
    {
      id: WireName,
      sources: Sources,
      /** The first events that the consumer is given: those of the whole journal, or those after its first start. */
      start: Type.Union([Type.Literal('beginning'), Type.Literal('now')]),
    },
    closed,
  ),
  Recurrence: Type.Union([
    Type.Object(
      {
        kind: Type.Literal('every'),
        everyMs: Type.Integer({ minimum: EVERY_MS_MIN, maximum: EVERY_MS_MAX }),
      },
      closed,
    ),
    Type.Object(
      {
        kind: Type.Literal('cron'),
        /** Five fields or an `@` word, as contract/cron-expression.ts accepts them. */
        expression: Type.String({ maxLength: 100 }),
        /** Name of an IANA time zone; an empty text stands for UTC. */
        zone: Type.String({ maxLength: 100 }),
      },
      closed,
    ),
  ]),
  /** A command that the runtime sends again and again. */
  Schedule: Type.Object(
    {
      id: WireName,
      target: Type.Object({ component: WireName, id: EntityId }, closed),
      command: WireName,
      /** JSON text of the command's input; absent: `null`. */
      input: Type.Optional(Type.String({ maxLength: SCHEDULE_INPUT_BYTES_MAX })),
      due: Type.Ref('Recurrence'),
    },
    closed,
  ),
  /** The values that an operator gives to the module. */
  Configuration: Type.Object(
    {
      /** A record with a property for each value. */
      schema: Type.Ref('TypeSchema'),
      /** Defaults that the source spells out. A value that may be left out and has none is computed by the module. */
      defaults: Type.Optional(
        Type.Record(
          ParameterName,
          Type.Union([
            Type.Ref('Scalar'),
            Type.Array(Type.Ref('Scalar'), { maxItems: DEFAULT_ITEMS_MAX }),
          ]),
        ),
      ),
      /** Names of the values that nothing prints. */
      secrets: Type.Optional(Type.Array(ParameterName, { minItems: 1, maxItems: 200 })),
    },
    closed,
  ),
  ModuleDescriptor: Type.Object(
    {
      /** The WIT package version the module was built for. */
      protocol: Type.String({ pattern: '^[0-9]{1,5}\\.[0-9]{1,5}\\.[0-9]{1,5}$' }),
      sdk: Type.Object(
        {
          name: Type.String({ pattern: '^[A-Za-z0-9@/._-]{1,100}$' }),
          version: Type.String({ pattern: '^[A-Za-z0-9.+-]{1,50}$' }),
        },
        closed,
      ),
      /** Named types, for `$ref: "#/types/NAME"`. */
      types: Type.Record(
        Type.String({ pattern: '^[A-Za-z_$][A-Za-z0-9_$.<>, -]{0,199}$' }),
        Type.Ref('TypeSchema'),
      ),
      entities: Type.Array(Type.Ref('Entity'), { maxItems: 1000 }),
      endpoints: Type.Array(Type.Ref('Endpoint'), { maxItems: 1000 }),
      /** Absent: the module has none, as for `consumers` and `schedules`. */
      views: Type.Optional(Type.Array(Type.Ref('View'), { minItems: 1, maxItems: VIEWS_MAX })),
      consumers: Type.Optional(
        Type.Array(Type.Ref('Consumer'), { minItems: 1, maxItems: CONSUMERS_MAX }),
      ),
      schedules: Type.Optional(
        Type.Array(Type.Ref('Schedule'), { minItems: 1, maxItems: SCHEDULES_MAX }),
      ),
      /** Absent: the module reads no configuration. */
      configuration: Type.Optional(Type.Ref('Configuration')),
    },
    closed,
  ),
};

const module = Type.Module(shapes);
export const ModuleDescriptor = module.ModuleDescriptor;
export type ModuleDescriptor = Static<typeof ModuleDescriptor>;
export type AccessRule = Static<typeof module.AccessRule>;
export type BearerRule = Static<typeof module.BearerRule>;
export type BearerRequirement = Static<typeof module.Requirement>;
export type LimitRule = Static<typeof module.LimitRule>;
export type CorsDescriptor = Static<typeof module.Cors>;
export type SecurityDescriptor = Static<typeof module.Security>;
export type EntityDescriptor = ModuleDescriptor['entities'][number];
export type EndpointDescriptor = ModuleDescriptor['endpoints'][number];
export type RouteDescriptor = EndpointDescriptor['routes'][number];
export type ViewDescriptor = NonNullable<ModuleDescriptor['views']>[number];
export type ConsumerDescriptor = NonNullable<ModuleDescriptor['consumers']>[number];
export type ScheduleDescriptor = NonNullable<ModuleDescriptor['schedules']>[number];
export type ConfigurationDescriptor = NonNullable<ModuleDescriptor['configuration']>;
