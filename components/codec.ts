// Codec: reads values of one type from JSON text, and writes them as JSON text. A codec is created from a schema
// of typebox, or of any library that implements Standard Schema.
import type { StaticDecode, TSchema } from 'typebox';
import { codecOfShape } from './shape-codec.ts';
import { ShapeProblem } from './shape-problem.ts';
import { type Shape, invalidDefinition, isPlainShape } from './shape.ts';
import { shapeOfSchema } from './schema-reader.ts';
import { atOnce } from './at-once.ts';
import {
  type StandardResult,
  type StandardSchema,
  isStandardSchema,
  issuesText,
} from './standard-schema.ts';

/** Schemas that components describe their types with. */
export type Schema = TSchema | StandardSchema;

/** The type of a schema's values. */
export type ValueOf<Described> =
  Described extends StandardSchema<infer _Input, infer Output>
    ? Output
    : Described extends TSchema
      ? StaticDecode<Described>
      : never;

/** Maximum nesting of objects and lists in values that callers send. */
export const SENT_DEPTH_MAX = 100;
/** Maximum nesting of objects and lists in stored values. */
export const STORED_DEPTH_MAX = 200;

export interface Codec {
  readonly shape: Shape;
  /**
   * Decodes JSON text. `label`: names the whole value in a problem. `depthMax`: maximum nesting, SENT_DEPTH_MAX if
   * absent. Throws CodecProblem if the value does not fit, and another Error if the schema's own code is async.
   */
  decode(json: string, label: string, depthMax?: number): unknown;
  /** Like `decode`, for a value as JSON.parse returns it. */
  decodeValue(value: unknown, label: string, depthMax?: number): unknown;
  /** Encodes a value as JSON text. Throws like `decode`. */
  encode(value: unknown, label: string): string;
  /** Like `encode`, in the form of JSON.parse. The result shares nothing with the value. */
  encodeValue(value: unknown, label: string): unknown;
  /** Decodes what `encodeValue` has returned, which nobody else may use any more. Throws like `decode`. */
  decodeEncoded(value: unknown, label: string): unknown;
}

/** Problem of a value, with its path, worded for the sender. */
export class CodecProblem extends TypeError {
  constructor(message: string) {
    super(message);
    this.name = 'CodecProblem';
  }
}

/**
 * Returns the schema with a description, which is a schema of typebox or JSON Schema: for a library that has no
 * `~standard.jsonSchema`. The library's own checks stay the same.
 */
export function described<Input, Output>(
  schema: StandardSchema<Input, Output>,
  jsonSchema: TSchema | object,
): StandardSchema<Input, Output> {
  return { '~standard': { ...schema['~standard'], jsonSchema: { input: () => jsonSchema } } };
}

/** Creates the codec of a schema. `location`: names the schema in a problem. Throws SVC_DEFINITION_INVALID. */
export function codecOf(schema: Schema, location: string): Codec {
  return isStandardSchema(schema) ? standardCodec(schema, location) : ownCodec(schema, location);
}

function ownCodec(schema: object, location: string): Codec {
  const shape = shapeOfSchema(schema, location, false);
  let codec;
  try {
    codec = codecOfShape(shape);
  } catch (error) {
    if (!(error instanceof ShapeProblem)) throw error;
    throw invalidDefinition(
      location,
      `a default does not fit: ${error.text('it')}`,
      'Change the default.',
    );
  }
  const { decode, encode } = codec;
  const decodeValue = (value: unknown, label: string, depthMax = SENT_DEPTH_MAX): unknown =>
    labelled(label, () => decode(value, depthMax));
  const encodeValue = (value: unknown, label: string): unknown =>
    labelled(label, () => encode(value, STORED_DEPTH_MAX));
  const isPlain = isPlainShape(shape);
  return {
    shape,
    decodeValue,
    encodeValue,
    decodeEncoded: (value, label) =>
      isPlain ? value : decodeValue(value, label, STORED_DEPTH_MAX),
    decode: (json, label, depthMax) => decodeValue(parsed(json, label), label, depthMax),
    encode: (value, label) => JSON.stringify(encodeValue(value, label)),
  };
}

function standardCodec(schema: StandardSchema, location: string): Codec {
  const { vendor, validate, jsonSchema } = schema['~standard'];
  if (jsonSchema === undefined)
    throw invalidDefinition(
      location,
      `the schema of '${vendor}' does not say its JSON Schema`,
      'Say it with described(schema, Type.Object({ … })).',
    );
  const shape = shapeOfSchema(jsonSchema.input({ target: 'draft-2020-12' }), location, true);
  const decodeValue = (value: unknown, label: string, depthMax = SENT_DEPTH_MAX): unknown => {
    // The library may recurse as deep as the value is nested.
    if (isDeeper(value, depthMax)) throw new CodecProblem(`${label}: is nested too deep`);
    const result = atOnce(
      validate(value),
      `the schema of '${vendor}' for ${label} checks later`,
    ) as StandardResult<unknown>;
    if (result.issues === undefined) return result.value;
    throw new CodecProblem(issuesText(result.issues, label));
  };
  const encode = (value: unknown, label: string): string => {
    const text = JSON.stringify(value) as string | undefined;
    if (text === undefined) throw new CodecProblem(`${label}: has no JSON form`);
    // The library checks only values that it reads. Decoding the text shows that the schema accepts what is written.
    try {
      decodeValue(JSON.parse(text), label, STORED_DEPTH_MAX);
    } catch (error) {
      if (!(error instanceof CodecProblem)) throw error;
      throw new CodecProblem(`${error.message} (its schema does not read what is written)`);
    }
    return text;
  };
  return {
    shape,
    decodeValue,
    decode: (json, label, depthMax) => decodeValue(parsed(json, label), label, depthMax),
    encode,
    encodeValue: (value, label) => JSON.parse(encode(value, label)),
    decodeEncoded: (value, label) => decodeValue(value, label, STORED_DEPTH_MAX),
  };
}

function isDeeper(value: unknown, depth: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (depth <= 0) return true;
  return Object.values(value).some((one) => isDeeper(one, depth - 1));
}

function parsed(json: string, label: string): unknown {
  try {
    return JSON.parse(json);
  } catch (error) {
    throw new CodecProblem(`${label}: is not JSON: ${(error as Error).message}`);
  }
}

function labelled<T>(label: string, convert: () => T): T {
  try {
    return convert();
  } catch (error) {
    if (!(error instanceof ShapeProblem)) throw error;
    throw new CodecProblem(error.text(label));
  }
}
