// Shape: what a value may be in JSON, in the closed set of forms that a descriptor can say. A schema is read
// into a shape once; values are decoded, encoded and described by their shape.
import { SvcError } from '@svc/kit/svc-error';

export type Shape = { readonly description?: string | undefined } & (
  | {
      readonly kind: 'text';
      readonly values?: ReadonlySet<string> | undefined;
      readonly form?: TextForm | undefined;
      /** In characters, as JSON Schema counts them. */
      readonly lengthMin?: number | undefined;
      readonly lengthMax?: number | undefined;
      readonly pattern?: RegExp | undefined;
    }
  | { readonly kind: 'flag' }
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
  /** By what the field `type` of each holds. */
  | { readonly kind: 'union'; readonly cases: ReadonlyMap<string, RecordShape> }
  /** A type that is known by name, so that it can hold itself. */
  | { readonly kind: 'reference'; readonly name: string; readonly target: () => Shape }
  /** The program has another form of it than JSON. */
  | {
      readonly kind: 'converted';
      readonly inner: Shape;
      readonly decode: (value: unknown) => unknown;
      readonly encode: (value: unknown) => unknown;
    }
);

/** A text that stands for something else. */
export type TextForm = 'date-time' | 'decimal' | 'duration' | 'base64';

export interface RecordShape {
  readonly kind: 'record';
  readonly description?: string | undefined;
  readonly fields: readonly Field[];
  /** A field that is not known is a problem; else it is skipped. */
  readonly isClosed: boolean;
  /** What the field `type` holds, of a case of a union. */
  readonly tag?: string | undefined;
}

export interface Field {
  readonly name: string;
  readonly shape: Shape;
  /** Other names that are read as this field; it is written under its own. */
  readonly aliases: readonly string[];
  /** It may be missing, and then has the default, if there is one. */
  readonly isOptional: boolean;
  readonly hasDefault: boolean;
  /** As in JSON. */
  readonly default?: unknown;
}

/** Whether a record without the field is refused. */
export function isRequired({ isOptional, shape }: Field): boolean {
  return !isOptional && shape.kind !== 'nullable';
}

/** The shape itself where it is known by a name. */
export function targetOf(shape: Shape): Shape {
  return shape.kind === 'reference' ? shape.target() : shape;
}

export interface NumberRange {
  readonly min?: number | undefined;
  readonly above?: number | undefined;
  readonly max?: number | undefined;
  readonly below?: number | undefined;
}

/** A component, an endpoint or a type that cannot be as it was written. `remedy`: what to do. */
export function invalidDefinition(place: string, problem: string, remedy: string): SvcError {
  return new SvcError('SVC_DEFINITION_INVALID', `${place}: ${problem}. ${remedy}`);
}
