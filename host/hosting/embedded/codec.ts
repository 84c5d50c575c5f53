// Codec: how values of one type are read from JSON text and written as it. It is made of a schema: of
// typebox, or of any library that keeps to Standard Schema.
import type { StaticDecode, TSchema } from 'typebox';
import { codecOfShape, ShapeProblem } from './shape-codec.ts';
import { type Shape, invalidDefinition } from './shape.ts';
import { shapeOfSchema } from './schema-reader.ts';
import { atOnce } from './at-once.ts';
import {
  type StandardResult,
  type StandardSchema,
  isStandardSchema,
  issuesText,
} from './standard-schema.ts';

/** What components describe their types with. */
export type Schema = TSchema | StandardSchema;

/** The type of a schema's values. */
export type ValueOf<Described> =
  Described extends StandardSchema<infer _Input, infer Output>
    ? Output
    : Described extends TSchema
      ? StaticDecode<Described>
      : never;

/** Levels of objects and lists of what callers send, and of what was stored. */
export const SENT_DEPTH_MAX = 100;
export const STORED_DEPTH_MAX = 200;

export interface Codec {
  readonly shape: Shape;
  /** `label`: what it is, for a problem with the whole of it. Throws CodecProblem. */
  decode(json: string, label: string, depthMax?: number): unknown;
  /** As `decode`, of what JSON.parse would give. */
  decodeValue(value: unknown, label: string, depthMax?: number): unknown;
  /** Throws CodecProblem. */
  encode(value: unknown, label: string): string;
}

/** What is wrong with a value, with its path, fit for whoever sent it. */
export class CodecProblem extends TypeError {
  constructor(message: string) {
    super(message);
    this.name = 'CodecProblem';
  }
}

/**
 * A schema of a library that has no `~standard.jsonSchema`, with its description: a schema of typebox, or
 * JSON Schema. It checks as before.
 */
export function described<Input, Output>(
  schema: StandardSchema<Input, Output>,
  jsonSchema: TSchema | object,
): StandardSchema<Input, Output> {
  return { '~standard': { ...schema['~standard'], jsonSchema: { input: () => jsonSchema } } };
}

/** `place`: what is said of a problem's place. Throws SVC_DEFINITION_INVALID. */
export function codecOf(schema: Schema, place: string): Codec {
  return isStandardSchema(schema) ? standardCodec(schema, place) : ownCodec(schema, place);
}

function ownCodec(schema: object, place: string): Codec {
  const shape = shapeOfSchema(schema, place, false);
  let codec;
  try {
    codec = codecOfShape(shape);
  } catch (error) {
    if (!(error instanceof ShapeProblem)) throw error;
    throw invalidDefinition(place, `a default does not fit: ${error.text('it')}`, 'Mend it.');
  }
  const { decode, encode } = codec;
  const decodeValue = (value: unknown, label: string, depthMax = SENT_DEPTH_MAX): unknown =>
    told(label, () => decode(value, depthMax));
  return {
    shape,
    decodeValue,
    decode: (json, label, depthMax) => decodeValue(parsed(json, label), label, depthMax),
    encode: (value, label) => told(label, () => JSON.stringify(encode(value, STORED_DEPTH_MAX))),
  };
}

function standardCodec(schema: StandardSchema, place: string): Codec {
  const { vendor, validate, jsonSchema } = schema['~standard'];
  if (jsonSchema === undefined)
    throw invalidDefinition(
      place,
      `the schema of '${vendor}' does not say its JSON Schema`,
      'Say it with described(schema, Type.Object({ … })).',
    );
  const shape = shapeOfSchema(jsonSchema.input({ target: 'draft-2020-12' }), place, true);
  const decodeValue = (value: unknown, label: string, depthMax = SENT_DEPTH_MAX): unknown => {
    // The library may recurse as deep as the value goes.
    if (isDeeper(value, depthMax)) throw new CodecProblem(`${label}: is nested too deep`);
    const result = atOnce(
      validate(value),
      `the schema of '${vendor}' for ${label} checks later`,
    ) as StandardResult<unknown>;
    if (result.issues === undefined) return result.value;
    throw new CodecProblem(issuesText(result.issues, label));
  };
  return {
    shape,
    decodeValue,
    decode: (json, label, depthMax) => decodeValue(parsed(json, label), label, depthMax),
    encode: (value, label) => {
      const text = JSON.stringify(value) as string | undefined;
      if (text === undefined) throw new CodecProblem(`${label}: has no JSON form`);
      // The schema says what is read; that nothing else is written, nobody but it can tell.
      try {
        decodeValue(JSON.parse(text), label, STORED_DEPTH_MAX);
      } catch (error) {
        if (!(error instanceof CodecProblem)) throw error;
        throw new CodecProblem(`${error.message} (its schema does not read what is written)`);
      }
      return text;
    },
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

function told<T>(label: string, convert: () => T): T {
  try {
    return convert();
  } catch (error) {
    if (!(error instanceof ShapeProblem)) throw error;
    throw new CodecProblem(error.text(label));
  }
}
