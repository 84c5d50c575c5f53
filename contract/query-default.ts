// QueryDefault: the value of a query parameter that a request leaves out, in its JSON form. A default is a value of the
// parameter's type: a descriptor with any other default is refused, and programs that write descriptors leave out a
// default that does not fit.
import type { ModuleDescriptor, RouteDescriptor } from './module-descriptor-schema.ts';
import { DEFAULT_ITEMS_MAX, DEFAULT_LENGTH_MAX } from './route-limits.ts';
import { dateTimeOf, durationOf, isBase64, isDecimal } from './text-form.ts';
import type { TypeSchema } from './type-schema.ts';

export type QueryDefault = NonNullable<NonNullable<RouteDescriptor['query']>[number]['default']>;

type Types = ModuleDescriptor['types'];
type Text = Extract<TypeSchema, { readonly type: 'string' }>;

const REFERENCE_PREFIX = '#/types/';
const INT64_MIN = -(2n ** 63n);
const INT64_MAX = 2n ** 63n - 1n;
const UINT64_MAX = 2n ** 64n - 1n;
const FLOAT_MAX = 3.4028234663852886e38;

/**
 * Returns whether the value can be the default of a query parameter whose type is `schema`. Null cannot be: without a
 * default, a nullable parameter that is left out is null.
 */
export function isQueryDefault(
  value: unknown,
  schema: TypeSchema,
  types: Types,
): value is QueryDefault {
  const type = resolved('anyOf' in schema ? schema.anyOf[0] : schema, types);
  if (type === undefined) return false;
  if (!('items' in type)) return isScalar(value, type);
  const item = resolved(type.items, types);
  return (
    Array.isArray(value) &&
    value.length <= DEFAULT_ITEMS_MAX &&
    item !== undefined &&
    value.every((one) => isScalar(one, item))
  );
}

/** Follows references to a type that is not a reference; returns undefined if there is no such type. */
function resolved(schema: TypeSchema, types: Types): TypeSchema | undefined {
  const passed = new Set<string>();
  let type: TypeSchema | undefined = schema;
  while (type !== undefined && '$ref' in type) {
    const name: string = type.$ref.slice(REFERENCE_PREFIX.length);
    if (passed.has(name) || !Object.hasOwn(types, name)) return undefined;
    passed.add(name);
    type = types[name];
  }
  return type;
}

function isScalar(value: unknown, type: TypeSchema): boolean {
  if (!('type' in type)) return false;
  if (type.type === 'boolean') return typeof value === 'boolean';
  if (type.type === 'string') return isText(value, type);
  if ('minimum' in type)
    return (
      Number.isSafeInteger(value) &&
      (value as number) >= type.minimum &&
      (value as number) <= type.maximum
    );
  if (type.type === 'number') {
    const most = type.format === 'float' ? FLOAT_MAX : Number.MAX_VALUE;
    return typeof value === 'number' && Math.abs(value) <= most;
  }
  return 'format' in type && isBigInteger(value, type.format);
}

function isBigInteger(value: unknown, format: 'int64' | 'uint64'): boolean {
  const isNumber = Number.isSafeInteger(value);
  const isDigits = typeof value === 'string' && /^(?:0|-?[1-9]\d{0,19})$/.test(value);
  if (!isNumber && !isDigits) return false;
  const exact = BigInt(value as number | string);
  const [least, most] = format === 'uint64' ? [0n, UINT64_MAX] : [INT64_MIN, INT64_MAX];
  return exact >= least && exact <= most;
}

function isText(value: unknown, type: Text): boolean {
  if (typeof value !== 'string' || value.length > DEFAULT_LENGTH_MAX || !value.isWellFormed())
    return false;
  if (type.enum !== undefined && !type.enum.includes(value)) return false;
  if (type.contentEncoding === 'base64' && !isBase64(value)) return false;
  if (type.format === 'date-time') return dateTimeOf(value) !== undefined;
  if (type.format === 'decimal') return isDecimal(value);
  return type.format === undefined || durationOf(value) !== undefined;
}
