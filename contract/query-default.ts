// QueryDefault: the value of a query parameter that a request leaves out, in its JSON form. A default is a value of the
// parameter's type: a descriptor with any other default is refused, and programs that write descriptors leave out a
// default that does not fit.
import type { ModuleDescriptor, RouteDescriptor } from './module-descriptor-schema.ts';
import { DEFAULT_ITEMS_MAX, DEFAULT_LENGTH_MAX } from './route-limits.ts';
import { isScalarValue } from './scalar-value.ts';
import type { TypeSchema } from './type-schema.ts';

export type QueryDefault = NonNullable<NonNullable<RouteDescriptor['query']>[number]['default']>;

type Types = ModuleDescriptor['types'];

const REFERENCE_PREFIX = '#/types/';

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
  if (!('items' in type)) return isDefault(value, type);
  const item = resolved(type.items, types);
  return (
    Array.isArray(value) &&
    value.length <= DEFAULT_ITEMS_MAX &&
    item !== undefined &&
    value.every((one) => isDefault(one, item))
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

function isDefault(value: unknown, type: TypeSchema): boolean {
  const isTooLong = typeof value === 'string' && value.length > DEFAULT_LENGTH_MAX;
  return !isTooLong && isScalarValue(value, type);
}
