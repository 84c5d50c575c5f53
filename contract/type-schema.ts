// TypeSchema: the closed subset of JSON Schema (2020-12) in which a module describes its types. It has types, ranges,
// required fields, items, maps and tagged unions. It has nothing that has to be executed or fetched: no patterns, no
// foreign references, no conditions.
import { Type, type Static } from 'typebox';

const closed = { additionalProperties: false } as const;
/** Name of an object's field: any text of 1 to 200 characters without control characters. */
const FieldName = Type.String({ pattern: '^[^\\u0000-\\u001f\\u007f-\\u009f]{1,200}$' });
const Description = Type.Optional(Type.String({ maxLength: 2000 }));

const shapes = {
  Text: Type.Object(
    {
      type: Type.Literal('string'),
      format: Type.Optional(
        Type.Union([
          Type.Literal('date-time'),
          /** An exact number as text: `12.50`. */
          Type.Literal('decimal'),
          /** ISO 8601, from days to milliseconds: `PT1H30M`. */
          Type.Literal('duration'),
        ]),
      ),
      /** The text stands for bytes. */
      contentEncoding: Type.Optional(Type.Literal('base64')),
      enum: Type.Optional(
        Type.Array(Type.String({ maxLength: 200 }), { minItems: 1, maxItems: 1000 }),
      ),
      description: Description,
    },
    closed,
  ),
  Flag: Type.Object({ type: Type.Literal('boolean'), description: Description }, closed),
  /** Integers of at most 53 bits. */
  Integer: Type.Object(
    {
      type: Type.Literal('integer'),
      minimum: Type.Integer(),
      maximum: Type.Integer(),
      description: Description,
    },
    closed,
  ),
  /** 64-bit integers: a JSON number up to 2^53 - 1 in magnitude, a JSON string beyond. */
  BigInteger: Type.Object(
    {
      type: Type.Tuple([Type.Literal('integer'), Type.Literal('string')]),
      format: Type.Union([Type.Literal('int64'), Type.Literal('uint64')]),
      description: Description,
    },
    closed,
  ),
  Number: Type.Object(
    {
      type: Type.Literal('number'),
      format: Type.Union([Type.Literal('float'), Type.Literal('double')]),
      description: Description,
    },
    closed,
  ),
  Null: Type.Object({ type: Type.Literal('null'), description: Description }, closed),
  List: Type.Object(
    { type: Type.Literal('array'), items: Type.Ref('TypeSchema'), description: Description },
    closed,
  ),
  Map: Type.Object(
    {
      type: Type.Literal('object'),
      additionalProperties: Type.Ref('TypeSchema'),
      description: Description,
    },
    closed,
  ),
  Record: Type.Object(
    {
      type: Type.Literal('object'),
      properties: Type.Record(FieldName, Type.Ref('Property')),
      required: Type.Array(Type.String({ maxLength: 200 }), { maxItems: 1000 }),
      /**
       * Further names under which a property is read; it is written under its own name. JSON Schema has no such
       * keyword: programs that do not know the keyword see only the property's own name.
       */
      aliases: Type.Optional(
        Type.Record(FieldName, Type.Array(FieldName, { minItems: 1, maxItems: 100 })),
      ),
      description: Description,
    },
    closed,
  ),
  /** The tag of a union's case. */
  Tag: Type.Object({ const: Type.String({ maxLength: 200 }) }, closed),
  Property: Type.Union([Type.Ref('Tag'), Type.Ref('TypeSchema')]),
  Nullable: Type.Object(
    {
      anyOf: Type.Tuple([Type.Ref('TypeSchema'), Type.Ref('Null')]),
      description: Description,
    },
    closed,
  ),
  /** A sum type: an object whose `type` field names the case. */
  TaggedUnion: Type.Object(
    {
      oneOf: Type.Array(Type.Ref('Reference'), { minItems: 1, maxItems: 1000 }),
      discriminator: Type.Object({ propertyName: Type.Literal('type') }, closed),
      description: Description,
    },
    closed,
  ),
  /** A type of the same descriptor. */
  Reference: Type.Object(
    { $ref: Type.String({ pattern: '^#/types/[^/]{1,200}$' }), description: Description },
    closed,
  ),
  TypeSchema: Type.Union([
    Type.Ref('Text'),
    Type.Ref('Flag'),
    Type.Ref('Integer'),
    Type.Ref('BigInteger'),
    Type.Ref('Number'),
    Type.Ref('Null'),
    Type.Ref('List'),
    Type.Ref('Map'),
    Type.Ref('Record'),
    Type.Ref('Nullable'),
    Type.Ref('TaggedUnion'),
    Type.Ref('Reference'),
  ]),
};

/** For schemas that refer to a type schema: spread it into `Type.Module` and use `Type.Ref('TypeSchema')`. */
export const typeSchemaShapes = shapes;
export const TypeSchema = Type.Module(shapes).TypeSchema;
export type TypeSchema = Static<typeof TypeSchema>;
