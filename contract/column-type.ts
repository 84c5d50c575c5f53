// ColumnType: how the values of an indexed field of a view's row are compared. Only scalars have one: a list, a map, a
// record and a union have no order.
import type { TypeSchema } from './type-schema.ts';

/**
 * The order of a kind's values:
 *
 * - `text`: by Unicode code point. An enum's member is the text of its name.
 * - `boolean`: false before true.
 * - `integer`: signed integers of up to 64 bits, by number.
 * - `uint64`: by number; values from 2^63 on do not fit a signed 64-bit column.
 * - `number`: doubles and floats, by number; -0 equals 0.
 * - `decimal`: by number, whatever the scale: `12.5` equals `12.50`. `decimalOrder` gives the text to compare.
 * - `time`, `duration`: by their milliseconds, which fit 54 bits with the sign.
 */
export type ColumnKind =
  | 'text'
  | 'boolean'
  | 'integer'
  | 'uint64'
  | 'number'
  | 'decimal'
  | 'time'
  | 'duration';

/** Type of an indexed field. Null, and a field that is missing, comes before all values. */
export interface ColumnType {
  readonly kind: ColumnKind;
  readonly isNullable: boolean;
}

type Types = Readonly<Record<string, TypeSchema>>;

const REFERENCE_PREFIX = '#/types/';

/** A type without references and nullability; undefined if it refers to a type that is not there, or to itself alone. */
export function bareType(schema: TypeSchema, types: Types): BareType | undefined {
  const passed = new Set<string>();
  let type: TypeSchema = schema;
  let isNullable = false;
  for (;;) {
    if ('anyOf' in type) {
      isNullable = true;
      type = type.anyOf[0];
    } else if ('$ref' in type) {
      const name = type.$ref.slice(REFERENCE_PREFIX.length);
      if (passed.has(name) || !Object.hasOwn(types, name)) return undefined;
      passed.add(name);
      type = types[name]!;
    } else return { type, isNullable };
  }
}

export interface BareType {
  readonly type: Exclude<TypeSchema, { readonly $ref: string } | { readonly anyOf: unknown }>;
  readonly isNullable: boolean;
}

/** Returns the kind by which values of a scalar type are compared; undefined for types that no index can have. */
export function columnKindOf(type: BareType['type']): ColumnKind | undefined {
  if (!('type' in type)) return undefined;
  if (type.type === 'boolean') return 'boolean';
  if (type.type === 'number') return 'number';
  if (type.type === 'integer') return 'integer';
  if (type.type === 'string') {
    if (type.contentEncoding !== undefined) return undefined;
    if (type.format === 'date-time') return 'time';
    return type.format ?? 'text';
  }
  if (Array.isArray(type.type))
    return 'format' in type && type.format === 'uint64' ? 'uint64' : 'integer';
  return undefined;
}
