// The part of OpenAPI 3.1 that svc writes, as a schema: closed, so that a document that says anything else is none.
// Written by the specification (https://spec.openapis.org/oas/v3.1.0), apart from what writes the documents.
import { Type, type TProperties, type TSchema } from 'typebox';

const closed = { additionalProperties: false } as const;
const Text = Type.String();
const only = (properties: TProperties) => Type.Object(properties, closed);
const optional = Type.Optional;
const matching = (pattern: string, value: TSchema) =>
  Type.Record(Type.String({ pattern }), value, closed);
/** A map whose keys are those of components. */
const components = (value: TSchema) => matching('^[A-Za-z0-9._-]+$', value);
const described = { title: optional(Text), description: optional(Text) };
const schema = Type.Ref('Schema');

const Scalar = Type.Union([Type.Boolean(), Type.Number(), Text]);
const Default = Type.Union([Scalar, Type.Array(Scalar)]);

/** The forms of a type in JSON Schema 2020-12. `more`: further keywords that each may have. */
const forms = (more: TProperties) => [
  only({
    ...described,
    ...more,
    $ref: Type.String({ pattern: '^#/components/schemas/[A-Za-z0-9._-]+$' }),
  }),
  only({
    ...described,
    ...more,
    type: Type.Literal('string'),
    format: optional(
      Type.Union([Type.Literal('date-time'), Type.Literal('decimal'), Type.Literal('duration')]),
    ),
    contentEncoding: optional(Type.Literal('base64')),
    enum: optional(Type.Array(Text, { minItems: 1 })),
  }),
  only({
    ...described,
    ...more,
    type: Type.Union([Type.Literal('boolean'), Type.Literal('null')]),
  }),
  only({
    ...described,
    ...more,
    type: Type.Literal('integer'),
    minimum: optional(Type.Integer()),
    maximum: optional(Type.Integer()),
  }),
  only({
    ...described,
    ...more,
    type: Type.Tuple([Type.Literal('integer'), Type.Literal('string')]),
    format: Type.Union([Type.Literal('int64'), Type.Literal('uint64')]),
  }),
  only({
    ...described,
    ...more,
    type: Type.Literal('number'),
    format: Type.Union([Type.Literal('float'), Type.Literal('double')]),
  }),
  only({ ...described, ...more, type: Type.Literal('array'), items: schema }),
  only({ ...described, ...more, type: Type.Literal('object'), additionalProperties: schema }),
  only({
    ...described,
    ...more,
    type: Type.Literal('object'),
    properties: Type.Record(
      Text,
      Type.Union([schema, only({ const: Text }), only({ description: Text })]),
    ),
    required: Type.Array(Text, { uniqueItems: true }),
    'x-svc-aliases': optional(Type.Record(Text, Type.Array(Text, { minItems: 1 }))),
  }),
  only({ ...described, ...more, anyOf: Type.Array(schema, { minItems: 2 }) }),
  only({
    ...described,
    ...more,
    oneOf: Type.Array(schema, { minItems: 1 }),
    discriminator: only({
      propertyName: Text,
      mapping: Type.Record(
        Text,
        Type.String({ pattern: '^#/components/schemas/[A-Za-z0-9._-]+$' }),
      ),
    }),
  }),
];

/** By name, with references of the form `{ $ref: 'NAME' }`. */
export const openApiShapes = {
  Schema: Type.Union(forms({})),
  /** The schema of a query parameter, which alone has a default. */
  QuerySchema: Type.Union(forms({ default: optional(Default) })),
  Content: matching(
    '^(application/json|text/plain|application/octet-stream)$',
    only({ schema: optional(schema) }),
  ),
  Response: Type.Union([
    only({ $ref: Type.String({ pattern: '^#/components/responses/[A-Za-z0-9._-]+$' }) }),
    only({
      description: Text,
      headers: optional(
        Type.Record(
          Text,
          only({
            description: Text,
            schema: only({
              type: Type.Union([Type.Literal('string'), Type.Literal('integer')]),
              minimum: optional(Type.Integer()),
            }),
          }),
        ),
      ),
      content: optional(Type.Ref('Content')),
    }),
  ]),
  SecurityScheme: Type.Union([
    only({
      type: Type.Literal('http'),
      scheme: Type.Union([Type.Literal('bearer'), Type.Literal('basic')]),
      bearerFormat: optional(Type.Literal('JWT')),
      description: optional(Text),
    }),
    only({
      type: Type.Literal('apiKey'),
      in: Type.Literal('header'),
      name: Text,
      description: optional(Text),
    }),
  ]),
  Parameter: Type.Union([
    // Whatever stands in a path is required.
    only({ name: Text, in: Type.Literal('path'), required: Type.Literal(true), schema }),
    only({
      name: Text,
      in: Type.Literal('query'),
      required: Type.Boolean(),
      allowEmptyValue: optional(Type.Literal(true)),
      schema: Type.Ref('QuerySchema'),
    }),
    only({
      name: Text,
      in: Type.Literal('header'),
      required: Type.Boolean(),
      description: optional(Text),
      schema,
    }),
  ]),
  Operation: only({
    operationId: Type.String({ minLength: 1 }),
    tags: Type.Array(Text),
    summary: Type.String({ minLength: 1 }),
    description: optional(Type.String({ minLength: 1 })),
    parameters: optional(Type.Array(Type.Ref('Parameter'))),
    requestBody: optional(only({ required: Type.Boolean(), content: Type.Ref('Content') })),
    responses: matching('^([1-5][0-9]{2}|default)$', Type.Ref('Response')),
    security: optional(Type.Array(Type.Record(Text, Type.Array(Text)))),
    'x-svc-access': Type.Object({ allow: Text, services: optional(Type.Array(Text)) }, closed),
    'x-svc-bearer': optional(
      Type.Object({
        roles: optional(Type.Object({ match: Text, names: Type.Array(Text) }, closed)),
        scopes: optional(Type.Object({ match: Text, names: Type.Array(Text) }, closed)),
      }),
    ),
    'x-svc-limits': optional(
      Type.Array(Type.Object({ count: Type.Integer(), per: Text, by: Text }, closed)),
    ),
    'x-svc-cors': optional(
      Type.Object(
        {
          origins: optional(Type.Array(Text)),
          headers: optional(Type.Array(Text)),
          exposedHeaders: optional(Type.Array(Text)),
          credentials: optional(Type.Boolean()),
        },
        closed,
      ),
    ),
  }),
  Path: only(
    Object.fromEntries(
      ['get', 'post', 'put', 'patch', 'delete'].map((method) => [
        method,
        optional(Type.Ref('Operation')),
      ]),
    ),
  ),
  Document: only({
    openapi: Type.String({ pattern: '^3\\.1\\.[0-9]+$' }),
    info: only({ title: Text, version: Text }),
    servers: optional(Type.Array(only({ url: Text }))),
    paths: matching('^/', Type.Ref('Path')),
    components: only({
      schemas: components(schema),
      responses: components(Type.Ref('Response')),
      securitySchemes: optional(components(Type.Ref('SecurityScheme'))),
    }),
  }),
};
