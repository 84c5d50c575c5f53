// Shape: the JSON form of a value, in the closed set of forms that a descriptor can express. A schema is read
// into a shape once; values are decoded, encoded and described by their shape.
import { SvcError } from '@svc/kit/svc-error';

export type Shape = { readonly description?: string | undefined } & (
  | {
      readonly kind: 'text';
      readonly values?: ReadonlySet<string> | undefined;
      readonly form?: TextForm | undefined;
      /** Minimum length in characters (code points), as JSON Schema counts them; `lengthMax` likewise. */
      readonly lengthMin?: number | undefined;
      readonly lengthMax?: number | undefined;
      readonly pattern?: RegExp | undefined;
    }
  /** `isFlag`: in a query, the name alone is true. */
  | { readonly kind: 'boolean'; readonly isFlag?: boolean | undefined }
  | { readonly kind: 'integer'; readonly min: number; readonly max: number }
  /** A number in JSON up to 2^53 - 1 in magnitude, a text of digits beyond. */
  | { readonly kind: 'big-integer'; readonly min: bigint; readonly max: bigint }
  | { readonly kind: 'number'; readonly range: NumberRange }
  | { readonly kind: 'null' }
  | {
      readonly kind: 'list';
      readonly items: Shape;
      readonly itemsMin?: number | undefined;
      readonly itemsMax?: number | undefined;
    }
  | { readonly kind: 'map'; readonly values: Shape }
  | RecordShape
  | { readonly kind: 'nullable'; readonly inner: Shape }
  /** Cases by the value of the field `type`. */
  | { readonly kind: 'union'; readonly cases: ReadonlyMap<string, RecordShape> }
  /** A named type, which may contain itself. */
  | { readonly kind: 'reference'; readonly name: string; readonly target: () => Shape }
  /** A value that the program holds in another form than JSON. */
  | {
      readonly kind: 'converted';
      readonly inner: Shape;
      readonly decode: (value: unknown) => unknown;
      readonly encode: (value: unknown) => unknown;
    }
);

/** Format of a text. */
export type TextForm = 'date-time' | 'decimal' | 'duration' | 'base64';

export interface RecordShape {
  readonly kind: 'record';
  readonly description?: string | undefined;
  readonly fields: readonly Field[];
  /** True: an unknown field is a problem; false: it is skipped. */
  readonly isClosed: boolean;
  /** Value of the field `type` in a case of a union. */
  readonly tag?: string | undefined;
}

export interface Field {
  readonly name: string;
  readonly shape: Shape;
  /** Other names that are read as this field; it is written under its own name. */
  readonly aliases: readonly string[];
  /** True: the field may be missing, and then has the default, if there is one. */
  readonly isOptional: boolean;
  readonly hasDefault: boolean;
  /** Default in its JSON form. */
  readonly default?: unknown;
}

/** Returns whether a record without the field is refused. */
export function isRequired({ isOptional, shape }: Field): boolean {
  return !isOptional && shape.kind !== 'nullable';
}

/** Resolves a reference to its shape; returns any other shape unchanged. */
export function targetOf(shape: Shape): Shape {
  return shape.kind === 'reference' ? shape.target() : shape;
}

/** Returns the record that a value is read into, behind references, null and codecs; undefined for any other shape. */
export function recordOf(shape: Shape): RecordShape | undefined {
  switch (shape.kind) {
    case 'record':
      return shape;
    case 'reference':
      return recordOf(shape.target());
    case 'nullable':
    case 'converted':
      return recordOf(shape.inner);
    case 'text':
    case 'boolean':
    case 'integer':
    case 'big-integer':
    case 'number':
    case 'null':
    case 'list':
    case 'map':
    case 'union':
      return undefined;
  }
}

/**
 * Returns whether the values of a shape are their own JSON form: what encoding them returns is what decoding that would return. The
 * answer for a named type, which may contain itself, is no.
 */
export function isPlainShape(shape: Shape): boolean {
  switch (shape.kind) {
    case 'text':
    case 'boolean':
    case 'integer':
    case 'number':
    case 'null':
      return true;
    case 'list':
      return isPlainShape(shape.items);
    case 'map':
      return isPlainShape(shape.values);
    case 'nullable':
      return isPlainShape(shape.inner);
    case 'record':
      return shape.fields.every((field) => !field.hasDefault && isPlainShape(field.shape));
    case 'union':
      return [...shape.cases.values()].every(isPlainShape);
    case 'big-integer':
    case 'converted':
    case 'reference':
      return false;
  }
}

/** Returns whether the name of a query parameter is true without a value. */
export function isFlag(shape: Shape): boolean {
  return shape.kind === 'boolean' && shape.isFlag === true;
}

export interface NumberRange {
  readonly min?: number | undefined;
  /** Exclusive minimum. */
  readonly above?: number | undefined;
  readonly max?: number | undefined;
  /** Exclusive maximum. */
  readonly below?: number | undefined;
}

/** Creates the error for an invalid component, endpoint or type. `remedy`: what to do. */
export function invalidDefinition(location: string, problem: string, remedy: string): SvcError {
  return new SvcError('SVC_DEFINITION_INVALID', `${location}: ${problem}. ${remedy}`);
}
