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

/** A type that is neither a reference nor nullable. */
export type BareType = Exclude<TypeSchema, { readonly $ref: string } | { readonly anyOf: unknown }>;
export type RecordType = Extract<TypeSchema, { readonly properties: unknown }>;
export type UnionType = Extract<TypeSchema, { readonly oneOf: unknown }>;
export type NamedTypes = Readonly<Record<string, TypeSchema>>;

/** A field that can be compared, or why it cannot. */
export type FieldColumn =
  | { readonly ok: true; readonly column: ColumnType; readonly type: BareType }
  /** `problem` continues a sentence that names the field: `is a list, …`. */
  | { readonly ok: false; readonly problem: string };

const REFERENCE_PREFIX = '#/types/';
/** Maximum number of references and nullable types around a type: a longer chain has no bare type. */
const STEPS_MAX = 64;

/**
 * Follows references and takes the type out of a nullable one. Returns undefined if a reference leads to no type, or
 * the chain is longer than 64 steps.
 */
export function bareType(
  schema: TypeSchema,
  types: NamedTypes,
): { readonly type: BareType; readonly isNullable: boolean } | undefined {
  let type = schema;
  let isNullable = false;
  for (let step = 0; step <= STEPS_MAX; step++)
    if ('anyOf' in type) {
      isNullable = true;
      type = type.anyOf[0];
    } else if ('$ref' in type) {
      const name = type.$ref.slice(REFERENCE_PREFIX.length);
      if (!Object.hasOwn(types, name)) return undefined;
      type = types[name]!;
    } else return { type, isNullable };
  return undefined;
}

/** Returns the record that the type is, directly or by reference; undefined if it is nullable or no record. */
export function recordOf(schema: TypeSchema, types: NamedTypes): RecordType | undefined {
  const bare = bareType(schema, types);
  return bare !== undefined && !bare.isNullable && 'properties' in bare.type
    ? bare.type
    : undefined;
}

/** Returns how the values of a record's field are compared. A field that may be missing is nullable. */
export function fieldColumn(
  { properties, required }: RecordType,
  name: string,
  types: NamedTypes,
): FieldColumn {
  if (!Object.hasOwn(properties, name)) return { ok: false, problem: 'is not a field' };
  const property = properties[name]!;
  if ('const' in property) return { ok: false, problem: 'has the same value in every record' };
  const bare = bareType(property, types);
  if (bare === undefined)
    return {
      ok: false,
      problem: `has a type that is not declared, or one behind more than ${STEPS_MAX} references`,
    };
  const kind = columnKindOf(bare.type);
  if (kind === undefined)
    return {
      ok: false,
      problem: `is ${bareTypeName(bare.type)}: only texts, booleans, numbers, times and durations are compared`,
    };
  const isNullable = bare.isNullable || !required.includes(name);
  return { ok: true, column: { kind, isNullable }, type: bare.type };
}

/** Returns the kind by which values of a type are compared; undefined for a type without an order. */
function columnKindOf(type: BareType): ColumnKind | undefined {
  if (!('type' in type)) return undefined;
  if (Array.isArray(type.type)) return isUint64(type) ? 'uint64' : 'integer';
  if (type.type === 'string') {
    if (type.contentEncoding !== undefined) return undefined;
    return type.format === 'date-time' ? 'time' : (type.format ?? 'text');
  }
  return type.type === 'boolean' || type.type === 'number' || type.type === 'integer'
    ? type.type
    : undefined;
}

function isUint64(type: BareType): boolean {
  return 'format' in type && type.format === 'uint64';
}

/** Returns whether two types have the same values. Types without an order are never the same. */
export function isSameScalar(one: BareType, other: BareType): boolean {
  if (one === other) return true;
  const kind = columnKindOf(one);
  if (kind === undefined || kind !== columnKindOf(other)) return false;
  if ('minimum' in one && 'minimum' in other)
    return one.minimum === other.minimum && one.maximum === other.maximum;
  if ('minimum' in one || 'minimum' in other) return false;
  if (kind === 'number') return 'format' in one && 'format' in other && one.format === other.format;
  return hasSameMembers(membersOf(one), membersOf(other));
}

function hasSameMembers(
  one: readonly string[] | undefined,
  other: readonly string[] | undefined,
): boolean {
  if (one === undefined || other === undefined) return one === other;
  return one.length === other.length && one.every((member, index) => member === other[index]);
}

/** Returns the members of an enum; undefined for any other type. */
function membersOf(type: BareType): readonly string[] | undefined {
  return 'type' in type && type.type === 'string' ? type.enum : undefined;
}

/** Returns whether the type is any text: a text that is no member of an enum and has no format. */
export function isPlainText(type: BareType): boolean {
  return columnKindOf(type) === 'text' && membersOf(type) === undefined;
}

/** Returns the type in words, with an article: `a text`, `an integer from 0 to 255`. */
export function bareTypeName(type: BareType): string {
  if ('oneOf' in type) return 'a union';
  if (Array.isArray(type.type)) return isUint64(type) ? 'a uint64' : 'an int64';
  switch (type.type) {
    case 'array':
      return 'a list';
    case 'object':
      return 'properties' in type ? 'a record' : 'a map';
    case 'integer':
      return `an integer from ${type.minimum} to ${type.maximum}`;
    case 'number':
      return `a ${type.format}`;
    case 'string':
      return textName(type);
    case 'boolean':
      return 'a boolean';
    case 'null':
    default:
      return 'null';
  }
}

/** Members of an enum that a message names. */
const MEMBERS_SHOWN = 3;

function textName(type: Extract<BareType, { readonly type: 'string' }>): string {
  if (type.contentEncoding !== undefined) return 'a sequence of bytes';
  if (type.enum !== undefined) {
    const shown = type.enum.slice(0, MEMBERS_SHOWN).map((member) => `'${member}'`);
    return `an enum of ${shown.join(', ')}${type.enum.length > MEMBERS_SHOWN ? ', …' : ''}`;
  }
  return `a ${type.format ?? 'text'}`;
}
